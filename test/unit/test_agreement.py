"""`lamina bench` says WRONG where outputs are too far off, also where a saturated last op hides it."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from lamina.cli import command as cli
from lamina.measure import timing
from lamina.measure.agreement import TOLERANCE, agreement
from lamina.measure.timing import largest_difference

WRONG = Path(__file__).parents[1] / "opt_tool" / "inputs" / "wrong_numbers.py"
pytest.importorskip("onnxruntime")


def product(folder: Path, *last: tuple[str, dict[str, Any]], scale: float = 1.0, dtype: Any = np.float32) -> Path:
    """Ops `last` on x w; x is [2, 16], the file is written into the folder."""
    weight = (scale * np.random.default_rng(0).standard_normal((16, 6))).astype(dtype)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t0"])]
    nodes += [helper.make_node(op, [f"t{n}"], [f"t{n + 1}"], **attrs) for n, (op, attrs) in enumerate(last)]
    kind = TensorProto.INT64 if last and last[-1][0] == "ArgMax" else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    ports = [
        helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [2, 16]),
        helper.make_tensor_value_info(f"t{len(last)}", kind, None),
    ]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [numpy_helper.from_array(weight, "w")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "net.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def bench(path: Path, *words: str, wrong: bool = True) -> tuple[int, dict[str, Any], str]:
    """The status, the figures and the text of two runs."""
    argv = ["bench", str(path), "--repeats", "1", *words]
    argv += ["--load", str(WRONG), "-p", "wrong-products"] if wrong else []
    out, figures = io.StringIO(), io.StringIO()
    status = cli.run(argv, out, io.StringIO())
    assert cli.run([*argv, "--json"], figures, io.StringIO()) == status
    return status, json.loads(figures.getvalue()), out.getvalue()


SOFTMAX = ("Softmax", {"axis": 1})


def test_a_right_model_is_not_wrong(tmp_path: Path) -> None:
    status, found, out = bench(product(tmp_path, SOFTMAX, scale=100), wrong=False)
    assert (status, found["wrong"]) == (0, {}) and "WRONG" not in out
    assert found["before"]["t0"] < TOLERANCE and "before       " in out


def test_outputs_beyond_the_tolerance_are_wrong(tmp_path: Path) -> None:
    path = product(tmp_path)
    status, found, out = bench(path)
    assert status == 1 and 0.009 < found["wrong"]["t0"] < 0.011
    assert "WRONG        't0' is off by 1.0e-02 of its largest value, 0.0001 is allowed\n" in out
    assert f"`lamina debug compare {path}` finds the step\n" in out
    assert bench(path, "--tolerance", "0.1")[0] == 0


def test_sums_that_saturate_are_not_ours_to_answer_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As products of bytes do in onnxruntime where there is no VNNI; its exact ones are asked for where results differ.
    session_of = timing.onnxruntime_session

    def saturating(model: Any, threads: int, exact: bool = False) -> Any:
        session = session_of(model, threads, exact)
        run = session.run
        session.run = run if exact else lambda *given: [0.9 * y for y in run(*given)]
        return session

    monkeypatch.setattr(timing, "onnxruntime_session", saturating)
    path = product(tmp_path)
    status, found, out = bench(path, wrong=False)
    assert (status, found["wrong"]) == (0, {}) and "its exact ones agree" in out and "WRONG" not in out
    assert bench(path)[0] == 1


@pytest.mark.parametrize("last", [(SOFTMAX,), (SOFTMAX, ("Flatten", {})), (("Tanh", {}),), (("Sigmoid", {}),)])
def test_a_saturated_last_op_hides_nothing(tmp_path: Path, last: Any) -> None:
    status, found, out = bench(product(tmp_path, *last, scale=1e4))
    assert status == 1 and found["difference"] <= TOLERANCE and list(found["wrong"]) == ["t0"]
    assert "before       1.0e-02 of the largest value of 't0', which goes into the last op\nWRONG        't0'" in out


def test_a_softmax_that_is_not_saturated_is_compared_itself(tmp_path: Path) -> None:
    status, found, _ = bench(product(tmp_path, SOFTMAX, scale=0.01), "--tolerance", "0.01")
    assert status == 0 and found["before"] == {}


def test_coarse_numbers_may_be_further_off(tmp_path: Path) -> None:
    status, found, _ = bench(product(tmp_path, dtype=np.float16), wrong=False)
    assert status == 0 and found["allowed"] == 1e-2


def test_a_model_that_onnxruntime_refuses_is_timed_alone(tmp_path: Path) -> None:
    path = product(tmp_path)
    import onnx

    model = onnx.load(path)
    model.graph.node.append(helper.make_node("BitwiseNot", ["i"], ["j"]))
    model.opset_import[0].version = 18
    model.graph.node.insert(0, helper.make_node("Cast", ["x"], ["h"], to=TensorProto.BFLOAT16))
    model.graph.node.append(helper.make_node("Erf", ["h"], ["k"]))
    model.graph.node.insert(0, helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT32))
    model.graph.output.append(helper.make_tensor_value_info("k", TensorProto.BFLOAT16, [2, 16]))
    path.write_bytes(model.SerializeToString())
    out = io.StringIO()
    status = cli.run(["bench", str(path), "--repeats", "1"], out, io.StringIO())
    assert status == 0 and "(onnxruntime refuses the model: " in out.getvalue()


# -- without a program ---------------------------------------------------------------------------------------------


def chosen(path: Path, found: Any, expected: Any, inner: Any, wanted: Any) -> Any:
    import onnx

    return agreement({"t1": found}, {"t1": expected}, onnx.load(path), lambda _: ({"t0": inner}, {"t0": wanted}))


def test_a_choice_between_equals_is_excused(tmp_path: Path) -> None:
    """An argmax that differs is wrong where what it chooses from differs."""
    path = product(tmp_path, ("ArgMax", {"axis": 1}))
    one, two = np.array([[1]]), np.array([[2]])
    near = np.array([[0.0, 1.0, 1.0 + 1e-6]]), np.array([[0.0, 1.0 + 1e-6, 1.0]])
    assert chosen(path, two, one, *near).wrong == {}
    far = chosen(path, two, one, np.array([[0.0, 1.0, 2.0]]), np.array([[0.0, 1.0, 0.5]]))
    assert set(far.wrong) == {"t0", "t1"} and far.wrong["t1"] == np.inf
    assert chosen(path, one, one, None, None).before == {}


def test_infinities_and_nans_in_the_same_places_are_no_difference() -> None:
    a = np.array([1.0, -np.inf, np.nan, 2.0])
    assert largest_difference(a, a) == 0 and largest_difference(a[1:3], a[1:3]) == 0
    assert largest_difference(a + np.array([0.5, 0, 0, 0]), a) == 0.25
    for wrong in (np.array([1.0, np.inf, np.nan, 2.0]), np.array([1.0, -np.inf, 0.0, 2.0]), np.nan * a, a[:3]):
        assert largest_difference(wrong, a) == np.inf
