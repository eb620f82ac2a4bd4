"""ONNX models for the machine: values decide shapes, branches and trips. Against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
import pytest
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.driver.pipelines import Pipeline
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.onnx import ImportedModel, load_onnx
from lamina.frontends.onnx.extents import DRAWS, Extent, Number, fit, fresh_draws
from lamina.ir.verification import verify_module
from lamina.vm.vm import ReferenceKernels, VirtualMachine

pytestmark = pytest.mark.slow

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node
X = np.array([[3, 0, -1], [0, 2, 0], [5, 5, 0], [0, -4, 1]], np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "value-dependent-cache"))


def ports(given: Mapping[str, Any]) -> list[Any]:
    """`{"x": (FLOAT, [4])}` as ports."""
    return [helper.make_tensor_value_info(name, code, shape) for name, (code, shape) in given.items()]


def graph(
    nodes: Sequence[Any],
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> GraphProto:
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in (constants or {}).items()]
    return helper.make_graph(list(nodes), "g", ports(inputs), ports(outputs), tensors)


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> ModelProto:
    made = graph(nodes, inputs, outputs, constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def imported(source: ModelProto) -> ImportedModel:
    """The model as imported, verified as text is."""
    result = load_onnx(source)
    verify_module(result.module)
    return result


def agrees(source: ModelProto, *feeds: Mapping[str, Any]) -> str:
    """Run a model on numpy's oracles and compare with onnxruntime, also in shapes and types; its text."""
    session: Any = onnxruntime.InferenceSession(source.SerializeToString(), providers=["CPUExecutionProvider"])
    result = imported(source)
    machine = VirtualMachine(result.module, ReferenceKernels(result.store))
    for feed in feeds:
        given = {n: np.asarray(v) for n, v in feed.items()}
        expected: Any = session.run(None, given)
        found = machine.run([given[p.name] for p in result.inputs])
        for e, f in zip(expected, found, strict=True):
            assert e.shape == f.shape and e.dtype == f.dtype
            np.testing.assert_allclose(f, e, 1e-5, 1e-6)
    return str(result.module)


def open_rows(*nodes: Any) -> list[Any]:
    """Nodes after such that make `v`, the elements of x [4, 3] that are not 0, and `r`, the rows that begin so."""
    return [
        node("NonZero", ["x"], ["places"]),
        node("Transpose", ["places"], ["where"]),
        node("GatherND", ["x", "where"], ["v"]),
        node("Gather", ["x", "zero"], ["first"], axis=1),
        node("Cast", ["first"], ["begins"], to=BOOL),
        node("Compress", ["x", "begins"], ["r"], axis=0),
        *nodes,
    ]


def last_operator(nodes: Any) -> str:
    return str(nodes[-1].op_type)


ZERO: dict[str, Any] = {"zero": np.array(0)}
IN: dict[str, Any] = {"x": (FLOAT, [4, 3])}
FEEDS = ({"x": X}, {"x": np.abs(X).T.reshape(4, 3)}, {"x": np.eye(4, 3, dtype=np.float32)})


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ([node("Relu", ["v"], ["y"])], {}),
        ([node("Softmax", ["r"], ["y"], axis=0)], {}),
        ([node("MatMul", ["r", "w"], ["y"])], {"w": np.ones((3, 5), np.float32)}),
        ([node("Gemm", ["r", "w"], ["y"], transA=1, transB=1)], {"w": np.ones((2, 0), np.float32)}),
        ([node("Concat", ["r", "x", "r"], ["y"], axis=0)], {}),
        ([node("ReduceMean", ["v"], ["y"], keepdims=1)], {}),
        ([node("Flatten", ["r"], ["f"]), node("Reshape", ["f", "s"], ["y"])], {"s": [-1]}),
        ([node("Shape", ["r"], ["s"]), node("ReduceProd", ["s"], ["y"], keepdims=0)], {}),
        ([node("Slice", ["v", "a", "b"], ["y"])], {"a": [-3], "b": [100]}),
        ([node("Slice", ["v", "a", "b", "o", "t"], ["y"])], {"a": [-1], "b": [-(2**63)], "o": [0], "t": [-1]}),
        ([node("Shape", ["v"], ["n"]), node("Expand", ["one", "n"], ["y"])], {"one": np.ones(1, np.float32)}),
        ([node("Shape", ["v"], ["n"]), node("ConstantOfShape", ["n"], ["y"])], {}),
        ([node("Size", ["v"], ["n"]), node("Range", ["zero", "n", "step"], ["y"])], {"step": np.array(2)}),
        ([node("Pad", ["r", "p"], ["y"])], {"p": [1, 0, 2, 1]}),
        ([node("Tile", ["v", "t"], ["y"])], {"t": [3]}),
        ([node("Unsqueeze", ["v", "a"], ["u"]), node("Squeeze", ["u", "a"], ["y"])], {"a": [0]}),
        ([node("Trilu", ["r"], ["y"], upper=0)], {}),
        ([node("ArgMax", ["r"], ["y"], axis=0)], {}),
        (
            [node("Cast", ["v"], ["p"], to=INT), node("OneHot", ["p", "d", "h"], ["y"])],
            {"d": np.array(4), "h": np.array([0, 1], np.float32)},
        ),
        ([node("Split", ["r"], ["y", "z"], axis=1, num_outputs=2)], {}),
        ([node("Where", ["begins", "first", "g"], ["w"]), node("Add", ["w", "w"], ["y"])], {"g": np.float32(7)}),
    ],
    ids=lambda v: last_operator(v) if isinstance(v, list) else "",  # type: ignore[no-any-return]
)  # fmt: skip
def test_what_follows_takes_extents_that_values_decide(nodes: list[Any], constants: dict[str, Any]) -> None:
    if nodes[0].op_type == "Gemm":
        nodes = [node("Gemm", ["r", "r"], ["y"], transA=1)]
        constants = {}
    made = model(open_rows(*nodes), IN, {"y": (0, None)}, {**ZERO, **constants})
    made.graph.output[0].ClearField("type")
    agrees(made, *FEEDS)


def test_the_text_has_question_marks_and_expressions_of_extents() -> None:
    nodes = open_rows(
        node("Shape", ["v"], ["n"]),
        node("Concat", ["n", "two"], ["s"], axis=0),
        node("Expand", ["one", "s"], ["y"]),
        node("Reshape", ["y", "flat"], ["z"]),
    )
    constants = {**ZERO, "two": [2], "flat": [-1], "one": np.ones(1, np.float32)}
    text = agrees(model(nodes, IN, {"z": (FLOAT, [None])}, constants), *FEEDS)
    assert "relay.argwhere %x : (tensor<4x3xf32>) -> tensor<?x2xi32>" in text
    assert 'relay.shape_of %v {dtype = "int64"} : (tensor<?xf32>) -> tensor<1xi64>' in text
    assert "%y = relay.dyn.full" in text
    assert "%z = relay.reshape %y {newshape = [-1]}" in text


UNIQUE = {"y": (FLOAT, None), "first": (INT, None), "inverse": (INT, None), "counts": (INT, None)}


@pytest.mark.parametrize("attrs", [{}, {"sorted": 0}, {"axis": 0}, {"axis": 1}, {"axis": -1}])
def test_unique_elements_and_slices(attrs: dict[str, Any]) -> None:
    made = model([node("Unique", ["x"], list(UNIQUE), **attrs)], IN, UNIQUE)
    doubled = np.concatenate([X[:2], X[:2]])
    agrees(made, {"x": X}, {"x": doubled}, {"x": np.zeros((4, 3), np.float32)})


@pytest.mark.parametrize("centre", [0, 1])
def test_boxes_are_chosen_while_the_model_runs(centre: int) -> None:
    random = np.random.default_rng(centre)
    inputs: dict[str, Any] = {"boxes": (FLOAT, [2, 6, 4]), "scores": (FLOAT, [2, 3, 6]), "most": (INT, [1])}
    limits = {"iou": np.array([0.3], np.float32), "least": np.array([0.4], np.float32)}
    names = ["boxes", "scores", "most", "iou", "least"]
    made = model(
        [
            node("NonMaxSuppression", names, ["chosen"], center_point_box=centre),
            node("Gather", ["chosen", "two"], ["box"], axis=1),
        ],
        inputs,
        {"chosen": (INT, [None, 3]), "box": (INT, [None])},
        {**limits, "two": np.array(2)},
    )
    corner = random.uniform(0, 1, (2, 6, 2))
    boxes = np.concatenate([corner, corner + random.uniform(0.1, 0.5, (2, 6, 2))], 2).astype(np.float32)
    scores = random.uniform(0, 1, (2, 3, 6)).astype(np.float32)
    agrees(made, *({"boxes": boxes, "scores": scores, "most": [most]} for most in (0, 1, 4)))


def test_shapes_bounds_and_counts_that_are_inputs() -> None:
    nodes = [
        node("Reshape", ["x", "shape"], ["a"]),
        node("Slice", ["x", "begin", "end", "axis"], ["b"]),
        node("TopK", ["x", "count"], ["c", "d"], axis=0),
        node("Range", ["begin0", "end0", "step"], ["e"]),
        node("ConstantOfShape", ["shape"], ["f"]),
        node("Expand", ["x", "wide"], ["g"]),
    ]
    inputs: dict[str, Any] = {**IN, "shape": (INT, [2]), "begin": (INT, [1]), "end": (INT, [1]), "count": (INT, [1]),
              "begin0": (INT, []), "end0": (INT, []), "step": (INT, []), "wide": (INT, [3])}  # fmt: skip
    outputs: dict[str, Any] = {n: (INT if n in "de" else FLOAT, None) for n in "abcdefg"}
    made = model(nodes, inputs, outputs, {"axis": [1]})
    for k, n in enumerate("abcdefg"):
        made.graph.output[k].type.tensor_type.elem_type = outputs[n][0]
    feed = {"x": X, "shape": [2, -1], "begin": [1], "end": [3], "count": [2], "begin0": 3, "end0": -4, "step": -2,
            "wide": [2, 1, 3]}  # fmt: skip
    other = feed | {"shape": [0, 3], "begin": [-1], "end": [2**40], "count": [0], "step": 1, "wide": [1, 4, 1]}
    with pytest.raises(Exception, match="shape"):
        agrees(made, feed | {"shape": [2, -1]}, other)  # ConstantOfShape of -1
    nodes[4] = node("ConstantOfShape", ["wide"], ["f"])
    agrees(model(nodes, inputs, outputs, {"axis": [1]}), feed, other)


# -- control flow ----------------------------------------------------------------------------------

TRUE = {"true": np.array(True)}


def halving() -> ModelProto:
    """Halves x while the greatest element is above the limit: the last, and the sums on the way."""
    body = graph(
        [
            node("Mul", ["s", "half"], ["s2"]),
            node("ReduceMax", ["s2"], ["top"], keepdims=0),
            node("Greater", ["top", "limit"], ["more"]),
            node("ReduceSum", ["s2", "axes"], ["sums"], keepdims=0),
        ],
        {"i": (INT, []), "c": (BOOL, []), "s": (FLOAT, [4, 3])},
        {"more": (BOOL, []), "s2": (FLOAT, [4, 3]), "sums": (FLOAT, [4])},
        {"axes": [1]},
    )
    inputs: dict[str, Any] = {**IN, "n": (INT, []), "limit": (FLOAT, [])}
    outputs: dict[str, Any] = {"y": (FLOAT, [4, 3]), "rows": (FLOAT, [None, 4])}
    return model([node("Loop", ["n", "", "x"], ["y", "rows"], body=body)], inputs, outputs, {"half": np.float32(0.5)})


def test_a_loop_whose_trips_are_known_at_run_time_is_a_function_that_calls_itself() -> None:
    feeds = [{"x": X, "n": n, "limit": np.float32(limit)} for n, limit in ((5, 0.0), (50, 0.1), (0, 0.0), (1, 9.0))]
    text = agrees(halving(), *feeds)
    assert "%loop = relay.fn captures(%n_1 = %n : tensor<i64>" in text and "self %self (%i: tensor<i64>" in text
    assert "relay.append %rows0" in text and "relay.call %self(" in text


def test_a_carried_tensor_may_grow() -> None:
    body = graph(
        [node("Concat", ["s", "s"], ["s2"], axis=0), node("Identity", ["c"], ["c2"]), node("Size", ["s2"], ["size"])],
        {"i": (INT, []), "c": (BOOL, []), "s": (FLOAT, None)},
        {"c2": (BOOL, []), "s2": (FLOAT, None), "size": (INT, [])},
    )
    outputs: dict[str, Any] = {"y": (FLOAT, [None, 3]), "sizes": (INT, [None])}
    loop = node("Loop", ["n", "true", "x"], ["y", "sizes"], body=body)
    made = model([loop], {**IN, "n": (INT, [])}, outputs, TRUE)
    text = agrees(made, {"x": X, "n": 3}, {"x": X, "n": 0})
    assert "%x0: tensor<?x3xf32>" in text


def test_a_loop_of_more_trips_than_are_put_in_place() -> None:
    body = graph(
        [node("Add", ["s", "x"], ["s2"]), node("Identity", ["c"], ["c2"])],
        {"i": (INT, []), "c": (BOOL, []), "s": (FLOAT, [4, 3])},
        {"c2": (BOOL, []), "s2": (FLOAT, [4, 3])},
    )
    made = model(
        [node("Loop", ["n", "true", "x"], ["y"], body=body)], IN, {"y": (FLOAT, [4, 3])}, {**TRUE, "n": np.array(1025)}
    )
    agrees(made, {"x": X})


def test_loops_in_loops_see_what_is_around_them() -> None:
    inner = graph(
        [node("Add", ["t", "x"], ["t2"]), node("Identity", ["d"], ["d2"])],
        {"j": (INT, []), "d": (BOOL, []), "t": (FLOAT, [4, 3])},
        {"d2": (BOOL, []), "t2": (FLOAT, [4, 3])},
    )
    body = graph(
        [node("Loop", ["i", "true", "s"], ["s2"], body=inner), node("Identity", ["c"], ["c2"])],
        {"i": (INT, []), "c": (BOOL, []), "s": (FLOAT, [4, 3])},
        {"c2": (BOOL, []), "s2": (FLOAT, [4, 3]), "row": (FLOAT, [4, 3])},
    )
    body.node.append(node("Neg", ["s2"], ["row"]))
    outputs: dict[str, Any] = {"y": (FLOAT, [4, 3]), "rows": (FLOAT, [None, 4, 3])}
    made = model([node("Loop", ["n", "true", "x"], ["y", "rows"], body=body)], {**IN, "n": (INT, [])}, outputs, TRUE)
    agrees(made, {"x": X, "n": 4}, {"x": X, "n": 1})


def test_branches_may_give_other_extents() -> None:
    then = graph([node("Add", ["x", "x"], ["a"])], {}, {"a": (FLOAT, [4, 3])})
    other = graph([node("Concat", ["x", "x"], ["b"], axis=0)], {}, {"b": (FLOAT, [8, 3])})
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "none"], ["c"]),
        node("If", ["c"], ["y"], then_branch=then, else_branch=other),
        node("Neg", ["y"], ["z"]),
        node("Shape", ["z"], ["s"]),
    ]
    outputs: dict[str, Any] = {"z": (FLOAT, [None, 3]), "s": (INT, [2])}
    text = agrees(model(nodes, IN, outputs, {"none": np.float32(0)}), {"x": X}, {"x": -X})
    assert "relay.if %c -> tensor<?x3xf32>" in text


def test_branches_of_other_ranks_are_refused() -> None:
    then = graph([node("Add", ["x", "x"], ["a"])], {}, {"a": (FLOAT, None)})
    other = graph([node("ReduceSum", ["x"], ["b"], keepdims=0)], {}, {"b": (FLOAT, None)})
    nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
    with pytest.raises(UnsupportedError, match="one branch gives .*the rank and the type of a result must be known"):
        load_onnx(model(nodes, {**IN, "c": (BOOL, [])}, {"y": (FLOAT, None)}))


@pytest.mark.parametrize(
    "attrs",
    [{}, {"scan_input_directions": [1]}, {"scan_output_directions": [1]}, {"scan_output_axes": [1]}],
    ids=["plain", "input", "output", "axis"],
)
def test_a_scan_of_what_values_decide(attrs: dict[str, Any]) -> None:
    body = graph(
        [node("Add", ["s", "row"], ["s2"]), node("Neg", ["s2"], ["o"])],
        {"s": (FLOAT, [3]), "row": (FLOAT, [3])},
        {"s2": (FLOAT, [3]), "o": (FLOAT, [3])},
    )
    nodes = open_rows(node("Scan", ["start", "r"], ["y", "z"], body=body, num_scan_inputs=1, **attrs))
    outputs: dict[str, Any] = {"y": (FLOAT, [3]), "z": (FLOAT, [None, None])}
    agrees(model(nodes, IN, outputs, {**ZERO, "start": np.zeros(3, np.float32)}), *FEEDS)


# -- as users hold it ------------------------------------------------------------------------------


def test_a_compiled_model_runs_by_names_and_says_what_does_not_fit() -> None:
    nodes = open_rows(node("ReduceSum", ["v"], ["t"], keepdims=0), node("Add", ["r", "b"], ["y"]))
    inputs: dict[str, Any] = {**IN, "b": (FLOAT, [2, 3])}
    outputs: dict[str, Any] = {"y": (FLOAT, None), "t": (FLOAT, [])}
    exe = lamina.compile(model(nodes, inputs, outputs, ZERO), threads=1)
    assert [p.describe() for p in exe.outputs] == ["float32[2, 3]", "float32[]"]
    b = np.ones((2, 3), np.float32)
    results = exe.run({"x": X, "b": b})
    np.testing.assert_allclose(results["y"], X[[0, 2]] + 1)
    assert results["t"] == np.float32(X.sum())
    with pytest.raises(InputError, match=r"add: shapes \(4, 3\) and \(2, 3\) do not broadcast") as raised:
        exe.run({"x": np.ones((4, 3), np.float32), "b": b})
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="input 'x'"):
        exe.run({"x": np.ones((3, 3), np.float32), "b": b})
    assert "relay.argwhere" in exe.text("relay")


def test_without_the_machine_such_a_model_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="the number of elements that are not zero is computed at run time"):
        load_onnx(model([node("NonZero", ["x"], ["y"])], IN, {"y": (INT, [2, None])}), machine=False)


def test_a_model_with_fixed_shapes_is_imported_as_ever() -> None:
    body = graph(
        [node("Add", ["s", "x"], ["s2"]), node("Identity", ["c"], ["c2"])],
        {"i": (INT, []), "c": (BOOL, []), "s": (FLOAT, [4, 3])},
        {"c2": (BOOL, []), "s2": (FLOAT, [4, 3])},
    )
    made = model(
        [node("Loop", ["n", "true", "x"], ["y"], body=body)], IN, {"y": (FLOAT, [4, 3])}, {**TRUE, "n": np.array(3)}
    )
    assert str(load_onnx(made).module) == str(load_onnx(made, machine=False).module)


# -- expressions of extents ------------------------------------------------------------------------

NOWHERE: Any = None


MAKERS: list[Callable[[int, int], int]] = [
    lambda n, m: n,
    lambda n, m: 2 * n + 1,
    lambda n, m: (n - 3) // 2 + 1,
    lambda n, m: 3 * n * m,
    lambda n, m: n + m,
    lambda n, m: 2 * n - m + 4,
    lambda n, m: min(n, 1000),
    lambda n, m: max(n, 50),
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_number_is_found_again_as_an_expression(make: Callable[[int, int], int]) -> None:
    n, m = (Extent(NOWHERE, k, fresh_draws(k)) for k in range(2))
    pairs: list[tuple[int, int]] = list(zip(n.draws, m.draws, strict=True))  # type: ignore[arg-type]
    found = fit({k: make(*pairs[k]) for k in range(10)}, [n, m], {})
    assert isinstance(found, Number)
    assert [found.at(k, {}) for k in range(DRAWS)] == [make(*p) for p in pairs]


def test_no_expression_is_made_up() -> None:
    n = Extent(NOWHERE, 0, fresh_draws(0))
    random = np.random.default_rng(0)
    assert fit({k: int(v) for k, v in enumerate(random.integers(0, 10**6, 10))}, [n], {}) is None


def test_small_data_does_not_lead_to_a_program_for_each_value() -> None:
    made = model([node("NonZero", ["x"], ["y"])], {"x": (FLOAT, ["n"])}, {"y": (INT, [1, None])})
    exe = lamina.compile(made, threads=1)
    for x in ([1, 0, 2], [0, 0, 0], [3, 4, 5]):
        given = np.array(x, np.float32)
        np.testing.assert_array_equal(exe(given), np.asarray(np.nonzero(given)))
    assert len(exe._program._programs._programs) == 1  # type: ignore[union-attr] # pyright: ignore


def found_elements() -> Any:
    """The squares of elements that are not zero: the first half of them, the largest, and rows of them."""
    nodes = [
        node("NonZero", ["x"], ["places"]),
        node("Transpose", ["places"], ["rows"]),
        node("GatherND", ["x", "rows"], ["found"]),
        node("Mul", ["found", "found"], ["squares"]),
        node("Shape", ["squares"], ["count"]),
        node("Div", ["count", "two"], ["half"]),
        node("Slice", ["squares", "zero", "half"], ["first"]),
        node("TopK", ["squares", "half"], ["most", "where"]),
        node("Concat", ["one", "count"], ["shape"], axis=0),
        node("Reshape", ["squares", "shape"], ["row"]),
        node("Expand", ["row", "wide"], ["expanded"]),
        node("Exp", ["expanded"], ["y"]),
    ]
    constants = {n: np.array([v]) for n, v in (("zero", 0), ("one", 1), ("two", 2))} | {"wide": np.array([3, 1])}
    outputs = {"first": (FLOAT, [None]), "most": (FLOAT, [None]), "y": (FLOAT, [3, None])}
    return model(nodes, {"x": (FLOAT, [6, 4])}, outputs, constants)


def test_nothing_is_compiled_for_other_numbers_of_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exe = lamina.compile(found_elements(), threads=1, cache=False)

    def check(program: Any, zeros: int) -> None:
        x = np.random.default_rng(zeros).permutation(np.arange(24, dtype=np.float32) % 7 + 1).reshape(6, 4) / 8
        x.reshape(-1)[:zeros] = 0
        first, most, y = program(x)
        squares = x[x != 0] ** 2
        np.testing.assert_array_equal(first, squares[: len(squares) // 2])
        np.testing.assert_array_equal(most, np.sort(squares)[::-1][: len(squares) // 2])
        np.testing.assert_allclose(y, np.exp(np.stack([squares] * 3)), 1e-6)

    check(exe, 3)
    check(exe, 24)  # none is another matter to some ops
    exe.save(tmp_path / "found.lamina")
    monkeypatch.setattr(Pipeline, "run", None)
    for zeros in (0, 11, 22, 24):
        check(exe, zeros)
    loaded = lamina.Executable.load(tmp_path / "found.lamina")
    for zeros in (0, 3, 17, 24):
        check(loaded, zeros)


def test_what_the_machine_runs_has_no_ranges() -> None:
    made = model([node("NonZero", ["x"], ["y"])], {"x": (FLOAT, ["n"])}, {"y": (INT, [1, None])})
    with pytest.raises(UnsupportedError, match="the number of elements that are not zero is computed at run time"):
        lamina.compile(made, shapes={"n": "1..8"}, threads=1)


def test_counts_of_n_grams_and_their_weights() -> None:
    attrs: dict[str, Any] = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 1, "ngram_counts": [0, 2],
             "ngram_indexes": [0, 3, 1], "pool_int64s": [5, 7, 5, 7], "weights": [2.0, 3.0, 0.5]}  # fmt: skip
    for mode in ("TF", "IDF", "TFIDF"):
        nodes = [node("TfIdfVectorizer", ["w"], ["y"], mode=mode, **attrs)]
        agrees(model(nodes, {"w": (INT, [2, 5])}, {"y": (FLOAT, None)}), {"w": [[5, 7, 5, 1, 7], [7, 5, 5, 5, 0]]})


def test_what_training_drops_is_known_by_its_seed() -> None:
    constants = {"ratio": np.float32(0.25), "true": np.array(True)}
    made = model(
        [node("Dropout", ["x", "ratio", "true"], ["y", "m"], seed=3)],
        IN,
        {"y": IN["x"], "m": (BOOL, [4, 3])},
        constants,
    )
    result = imported(made)
    y, mask = VirtualMachine(result.module, ReferenceKernels(result.store)).run([X])
    assert 0 < mask.sum() < 12
    np.testing.assert_allclose(y, np.where(mask, X / np.float32(0.75), 0), 1e-6)
    del made.graph.node[0].attribute[:]
    with pytest.raises(UnsupportedError, match="training without a seed"):
        load_onnx(made)
