"""ONNX models with ranges for open dimensions: one program for all sizes, through the front doors."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.cli import command as cli
from lamina.driver.api import Executable
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.runtime import llvm_module

sys.path.insert(0, str(Path(__file__).parents[1]))

from language_models import gpt  # noqa: E402

pytestmark = pytest.mark.slow

Arrays = dict[str, np.ndarray[Any, Any]]
HEADS, DEPTH = 4, 16
WIDTH = HEADS * DEPTH


def attention_model(**extents: int | str) -> bytes:
    """Self-attention over x[batch, seq, 64] as exporters write it: shapes are computed from those of x."""
    random = np.random.default_rng(0)
    weights = {n: (random.standard_normal((WIDTH, WIDTH)) / 8).astype(np.float32) for n in ("wq", "wk", "wv", "wo")}
    numbers: dict[str, Any] = {
        **weights, "i0": np.int64(0), "i1": np.int64(1), "first": np.array([0]), "scale": np.float32(0.25),
        "heads": np.array([HEADS]), "depth": np.array([DEPTH]), "width": np.array([WIDTH]),
    }  # fmt: skip
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        *(helper.make_node("Gather", ["shape", f"i{k}"], [f"e{k}"]) for k in (0, 1)),
        *(helper.make_node("Unsqueeze", [f"e{k}", "first"], [f"l{k}"]) for k in (0, 1)),
        helper.make_node("Concat", ["l0", "l1", "heads", "depth"], ["apart"], axis=0),
        helper.make_node("Concat", ["l0", "l1", "width"], ["joined"], axis=0),
    ]
    for n in "qkv":
        perm = [0, 2, 3, 1] if n == "k" else [0, 2, 1, 3]
        nodes += [
            helper.make_node("MatMul", ["x", f"w{n}"], [f"{n}0"]),
            helper.make_node("Reshape", [f"{n}0", "apart"], [f"{n}1"]),
            helper.make_node("Transpose", [f"{n}1"], [f"{n}2"], perm=perm),
        ]
    nodes += [
        helper.make_node("MatMul", ["q2", "k2"], ["scores"]),
        helper.make_node("Mul", ["scores", "scale"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["shares"], axis=-1),
        helper.make_node("MatMul", ["shares", "v2"], ["mixed"]),
        helper.make_node("Transpose", ["mixed"], ["moved"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["moved", "joined"], ["rows"]),
        helper.make_node("MatMul", ["rows", "wo"], ["out"]),
        helper.make_node("Add", ["out", "x"], ["y"]),
    ]
    dims = [extents.get("batch", "batch"), extents.get("seq", "seq"), WIDTH]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in (("x", dims), ("y", None)))
    stored = [numpy_helper.from_array(np.asarray(v), n) for n, v in numbers.items()]
    graph = helper.make_graph(nodes, "attention", [x], [y], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


RANGES = {"batch": "1..8", "seq": "1..300"}


@pytest.fixture(scope="module")
def attention() -> Executable:
    return lamina.compile(attention_model(), shapes=RANGES, threads=1, cache=False)


def drawn(batch: int, seq: int) -> Arrays:
    return {"x": np.random.default_rng(seq).standard_normal((batch, seq, WIDTH)).astype(np.float32)}


def test_one_program_gives_what_onnxruntime_gives_for_every_size(
    attention: Executable, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(attention_model())

    def compiles(*_: Any, **__: Any) -> Any:
        raise AssertionError("a run has compiled something")

    monkeypatch.setattr(llvm_module, "compile_module", compiles)
    for batch, seq in ((1, 1), (1, 2), (2, 7), (1, 64), (3, 33), (8, 300), (1, 127), (1, 128), (2, 129), (8, 1)):
        a = drawn(batch, seq)
        (expected,) = session.run(None, a)
        np.testing.assert_allclose(attention.run(a)["y"], expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(attention.run(a)["y"], attention.run(a)["y"])


def test_ports_name_the_sizes(attention: Executable) -> None:
    assert [f"{p.name}: {p.describe()}" for p in attention.inputs] == ["x: float32[batch, seq, 64]"]
    assert [f"{p.name}: {p.describe()}" for p in attention.outputs] == ["y: float32[batch, seq, 64]"]
    assert "x: float32[batch, seq, 64]" in repr(attention)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((9, 4, WIDTH), "size 'batch': 9 given, it is from 1 to 8"),
        ((1, 301, WIDTH), "size 'seq': 301 given, it is from 1 to 300"),
        ((1, 0, WIDTH), "size 'seq': 0 given, it is from 1 to 300"),
        ((1, 4, 63), r"input 'x': shape \[1, 4, 63\] given, expected float32\[batch, seq, 64\]"),
        ((4, WIDTH), "rank 2 given|no array tells this size"),
    ],
)
def test_other_sizes_are_refused(attention: Executable, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        attention.run({"x": np.zeros(shape, np.float32)})


def test_outputs_that_are_given_are_filled(attention: Executable) -> None:
    a, y = drawn(2, 5), np.empty((2, 5, WIDTH), np.float32)
    assert attention.run(a, out={"y": y})["y"] is y
    np.testing.assert_array_equal(y, attention.run(a)["y"])


def test_a_saved_program_runs_elsewhere_without_the_compiler(attention: Executable, tmp_path: Path) -> None:
    path = tmp_path / "attention.lamina"
    attention.save(path)
    expected: Arrays = {}
    for seq in (1, 5, 64):
        np.savez(tmp_path / f"{seq}.npz", x=drawn(2, seq)["x"])
        expected[str(seq)] = attention.run(drawn(2, seq))["y"]
    script = f"""
import json, sys, numpy as np
from lamina.runtime.load import load
program = load({str(path)!r})
sums = {{}}
for seq in (1, 5, 64):
    y = program.run(dict(np.load({str(tmp_path)!r} + f"/{{seq}}.npz")))["y"]
    np.save({str(tmp_path)!r} + f"/{{seq}}.npy", y)
print(json.dumps(sorted(m for m in sys.modules if m.startswith(("lamina.passes", "onnx")))))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
    for seq, y in expected.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{seq}.npy"), y)


def test_a_program_from_the_cache_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE", "on")
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path))
    first, second = (lamina.compile(attention_model(), shapes=RANGES, threads=1) for _ in range(2))
    assert not first.cached and second.cached
    other = lamina.compile(attention_model(), shapes={**RANGES, "seq": "1..4"}, threads=1)
    assert not other.cached
    np.testing.assert_array_equal(first.run(drawn(2, 9))["y"], second.run(drawn(2, 9))["y"])
    with pytest.raises(InputError, match="from 1 to 4"):
        other.run(drawn(2, 9))


def test_threads_of_a_caller_and_of_the_program(attention: Executable) -> None:
    from concurrent.futures import ThreadPoolExecutor

    runs = [drawn(1 + k % 3, 1 + 7 * k) for k in range(24)]

    def one(a: Arrays) -> Any:
        return attention.run(a)["y"]

    alone = [*map(one, runs)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, runs * 4))
    for y, expected in zip(together, alone * 4, strict=True):
        np.testing.assert_array_equal(y, expected)
    with lamina.compile(attention_model(), shapes=RANGES, threads=2, cache=False) as two:
        for a, expected in zip(runs, alone, strict=True):
            np.testing.assert_allclose(two.run(a)["y"], expected, rtol=1e-5, atol=1e-5)


def test_a_step_of_a_language_model_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The past of one step is the present of the one before; nothing is compiled on the way."""
    runtime = pytest.importorskip("onnxruntime")
    model = gpt()
    exe = lamina.compile(model, shapes={"batch": 1, "seq": "1..64", "past": "0..255"}, threads=1, cache=False)
    assert not re.search(r"tir\.call @fused_reshape(_\d+)?\(", exe.text("tir")), "the values of the past are copied"
    session = runtime.InferenceSession(model.SerializeToString())
    random = np.random.default_rng(0)
    past = {n: np.zeros((1, 4, 0, 16), np.float32) for n in ("past_k0", "past_v0")}
    outputs = [o.name for o in session.get_outputs()]
    for seq in (12, *[1] * 10, 3):
        a: Arrays = {"ids": random.integers(0, 100, (1, seq)), **past}
        found = exe.run(a)
        for name, expected in zip(outputs, session.run(None, a), strict=True):
            np.testing.assert_allclose(found[name], expected, rtol=1e-4, atol=1e-4)
        keys, values = (found[n] for n in outputs[1:])
        past = {"past_k0": keys, "past_v0": values}
    assert past["past_k0"].shape == (1, 4, 25, 16)


def step_of_reshapes() -> Any:
    """x [1, seq, 64], past [1, 4, old, 16] -> present, y [4, old + seq, 16], rows [4, old, 16], by many a Reshape."""
    random = np.random.default_rng(1)
    numbers: dict[str, Any] = {
        "w": (random.standard_normal((WIDTH, WIDTH)) / 4).astype(np.float32),
        "u": random.standard_normal((HEADS, DEPTH, DEPTH)).astype(np.float32),
        "apart": np.array([1, -1, HEADS, DEPTH]),
        "flat": np.array([HEADS, -1, DEPTH]),
        "first": np.array([0]),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["x0"]),
        helper.make_node("Reshape", ["x0", "apart"], ["x1"]),
        helper.make_node("Softmax", ["x1"], ["x2"], axis=-1),
        helper.make_node("Transpose", ["x2"], ["x3"], perm=[0, 2, 1, 3]),
        helper.make_node("Concat", ["past", "x3"], ["present"], axis=2),
        helper.make_node("MatMul", ["present", "u"], ["mixed"]),
        helper.make_node("Softmax", ["mixed"], ["shares"], axis=-1),
        helper.make_node("Reshape", ["shares", "flat"], ["y"]),
        helper.make_node("Squeeze", ["past", "first"], ["rows"]),
    ]
    shapes = {"x": [1, "seq", WIDTH], "past": [1, HEADS, "old", DEPTH], "present": None, "y": None, "rows": None}
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, dims) for n, dims in shapes.items()]
    stored = [numpy_helper.from_array(v, n) for n, v in numbers.items()]
    graph = helper.make_graph(nodes, "step", ports[:2], ports[2:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_reshapes_of_open_extents_copy_nothing() -> None:
    """But an argument that is returned in another shape has to be copied."""
    runtime = pytest.importorskip("onnxruntime")
    model = step_of_reshapes().SerializeToString()
    exe = lamina.compile(model, shapes={"seq": "1..64", "old": "0..255"}, threads=1, cache=False)
    assert len(re.findall(r"te\.call @fused_reshape", exe.text("te"))) == 4
    assert re.findall(r"tir\.call @(\w*(?:reshape|squeeze)\w*)", exe.text("tir")) == ["fused_squeeze"]
    session = runtime.InferenceSession(model)
    for seq, old in ((1, 0), (12, 0), (1, 12), (3, 13), (64, 255), (1, 1)):
        random = np.random.default_rng(old)
        a: Arrays = {
            "x": random.standard_normal((1, seq, WIDTH), np.float32),
            "past": random.standard_normal((1, HEADS, old, DEPTH), np.float32),
        }
        found = exe.run(a)
        for output, expected in zip(session.get_outputs(), session.run(None, a), strict=True):
            np.testing.assert_allclose(found[output.name], expected, rtol=1e-4, atol=1e-5)


def test_a_dimension_of_one_size_is_that_number() -> None:
    exe = lamina.compile(attention_model(), shapes={"batch": "2..2", "seq": "1..16"}, threads=1, cache=False)
    assert [p.describe() for p in exe.inputs] == ["float32[2, seq, 64]"]
    fixed = lamina.compile(attention_model(), shapes={"batch": "2", "seq": "16..16"}, threads=1, cache=False)
    assert [p.describe() for p in fixed.inputs] == ["float32[2, 16, 64]"]
    np.testing.assert_allclose(exe.run(drawn(2, 16))["y"], fixed.run(drawn(2, 16))["y"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "error", "message"),
    [
        ({"seq": "3..300"}, InputError, "1 given, it is from 3 to 300"),
        ({**RANGES, "sequence": "1..2"}, UsageError, '"sequence", which is no input'),
        ({**RANGES, "seq": "9..1"}, UsageError, "no value from 9 to 1"),
        ({**RANGES, "seq": "one"}, UsageError, "'one' gives no values of an extent"),
        ({**RANGES, "seq": "8..64:0"}, UsageError, "divisor 0"),
    ],
)
def test_mistakes_are_named(shapes: dict[str, Any], error: type[LaminaError], message: str) -> None:
    with pytest.raises(error, match=message):
        lamina.compile(attention_model(), shapes=shapes, cache=False).run(drawn(1, 1))


def test_ranges_are_for_onnx(tmp_path: Path) -> None:
    kind = "tensor<?xf32, #relay.dims<n>>"
    (tmp_path / "net.mlir").write_text(f"func.func @main(%x: {kind}) -> {kind} {{ return %x : {kind} }}")
    with pytest.raises(UsageError, match="ranges of sizes are for dimensions of ONNX models"):
        lamina.compile(tmp_path / "net.mlir", shapes={"n": "1..8"})


def test_source_in_c_has_no_place_for_sizes(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no kernels in a fixed order of known extents"):
        lamina.export(attention_model(), tmp_path / "net.c", shapes=RANGES, threads=1, cache=False)
    assert not list(tmp_path.iterdir())


def test_the_command_takes_ranges(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(attention_model())
    np.savez(tmp_path / "x.npz", x=drawn(2, 3)["x"])

    def run(words: list[str]) -> tuple[int, str]:
        err = io.StringIO()
        return cli.run(words, io.StringIO(), err), err.getvalue()

    words = ["run", str(tmp_path / "a.onnx"), "--shape", "batch=1..8", "--shape", "seq=1..300", "--threads", "1"]
    assert run([*words, "--input", str(tmp_path / "x.npz"), "--output", str(tmp_path / "y.npz")])[0] == 0
    assert np.load(tmp_path / "y.npz")["y"].shape == (2, 3, WIDTH)
    status, said = run(words)
    assert status == 2 and "no values can be drawn for the input 'x', float32[batch, seq, 64]" in said
    status, said = run([*words[:2], "--shape", "seq=1..x"])
    assert status == 2 and "'seq=1..x' gives no values of an extent" in said


def test_opt_tool_makes_the_same_texts(attention: Executable, tmp_path: Path) -> None:
    attention.save_texts(tmp_path)
    relay, te = ((tmp_path / f"{level}.mlir").read_text() for level in ("relay", "te"))
    assert "relay.symbols = {batch = #relay.symbol<min = 1, max = 8>" in relay
    assert "newshape = [batch, seq, 4, 16]" in relay
    passes = [sys.executable, "-m", "lamina.opt_tool", str(tmp_path / "relay.mlir"), "-p"]
    pipeline = attention.pipeline.partition(",te-to-tir")[0]
    done = subprocess.run([*passes, pipeline], capture_output=True, text=True, check=True)
    assert done.stdout == te
