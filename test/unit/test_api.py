"""The Python interface: what it takes, what it refuses, and with which words."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.parser import Parser

import lamina
from lamina.errors import InputError, LaminaError, UsageError
from lamina.ir.context import LaminaContext


def small_model(dtype: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """y = relu(conv(x) ), z = x + x: two outputs, one weight."""
    weight = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
        helper.make_node("Add", ["x", "x"], ["z"], name="twice"),
    ]
    ports = [helper.make_tensor_value_info(n, dtype, [1, c, 8, 8]) for n, c in (("x", 3), ("y", 4), ("z", 3))]
    graph = helper.make_graph(nodes, "small", ports[:1], ports[1:], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def dynamic_model() -> onnx.ModelProto:
    port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 4]) for n in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="r")], "g", port[:1], port[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def exe(tmp_path_factory: pytest.TempPathFactory) -> lamina.Executable:
    return lamina.compile(small_model(), threads=1, cache=False)


X = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)


def test_run_by_name_and_in_order_agree(exe: lamina.Executable) -> None:
    by_name = exe.run({"x": X})
    y, z = exe(X)
    assert list(by_name) == ["y", "z"]
    np.testing.assert_array_equal(by_name["y"], y)
    np.testing.assert_array_equal(z, X + X)
    assert y.min() >= 0 and y.max() > 0


def test_memory_of_a_chain_does_not_grow_with_it() -> None:
    type_ = "tensor<16x64xf32>"
    rows = "\n".join(f"  %v{n + 1} = relay.nn.softmax %v{n} : {type_}" for n in range(10))
    text = f"func.func @main(%v0: {type_}) -> {type_} {{\n{rows}\n  func.return %v10 : {type_}\n}}"
    chain = lamina.compile(Parser(LaminaContext(), text).parse_module(), threads=1, cache=False)
    assert chain.is_fixed and chain.memory.weights == 0
    assert 16 * 64 * 4 <= chain.memory.arena <= 3 * 16 * 64 * 4


def test_what_holds_the_same_numbers_gives_the_same(exe: lamina.Executable) -> None:
    expected = exe.run({"x": X})["y"]
    read_only = X.copy()
    read_only.flags.writeable = False
    raw = np.zeros(X.nbytes + 4, np.uint8)
    unaligned = raw[4:].view(np.float32).reshape(X.shape)
    unaligned[...] = X
    transposed = np.ascontiguousarray(X.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    strided = np.repeat(X, 2, axis=-1)[..., ::2]
    reversed_ = X[..., ::-1].copy()[..., ::-1]
    for given in (read_only, unaligned, transposed, strided, reversed_, np.asfortranarray(X)):
        np.testing.assert_array_equal(exe.run({"x": given})["y"], expected)


def test_results_belong_to_the_caller(exe: lamina.Executable) -> None:
    first = exe.run({"x": X})["z"]
    kept = first.copy()
    exe.run({"x": X * 2})
    np.testing.assert_array_equal(first, kept)
    assert first.flags.writeable and first.flags.owndata


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"x": X.astype(np.float64)}, ["input 'x'", "float64 given, float32 expected"]),
        ({"x": X.astype(">f4")}, ["byte-swapped float32"]),
        ({"x": X[0]}, ["rank 3", "float32[1, 3, 8, 8]"]),
        ({"x": X[:, :2]}, ["shape [1, 2, 8, 8]", "float32[1, 3, 8, 8]"]),
        ({"x": np.zeros((1, 3, 8, 0), np.float32)}, ["shape [1, 3, 8, 0]"]),
        ({"y": X}, ["input 'y'", "no such input"]),
        ({"x": X, "xx": X}, ["input 'xx'", "did you mean 'x'"]),
        ({}, ["input 'x'", "missing", "float32[1, 3, 8, 8]"]),
        ({"x": None}, ["input 'x'", "object given, float32 expected"]),
        ({"x": [[1.0], [1.0, 2.0]]}, ["input 'x'", "not an array"]),
        ({"x": "abc"}, ["input 'x'", "float32 expected"]),
    ],
)
def test_wrong_arrays_are_refused_before_anything_runs(
    exe: lamina.Executable, given: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(InputError) as raised:
        exe.run(given)
    for word in words:
        assert word in str(raised.value), str(raised.value)


def test_wrong_number_of_arrays(exe: lamina.Executable) -> None:
    with pytest.raises(InputError, match="2 arrays given, 1 expected.*x: float32"):
        exe(X, X)
    with pytest.raises(UsageError, match="inputs are a dict, not ndarray"):
        exe.run(X)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "x86-64-v33"}, ["unknown target", "did you mean 'x86-64-v3'"]),
        ({"target": 3}, ["a target is a name"]),
        ({"opt_level": 5}, ["opt_level is one of 0, 1, 2, 3, 4, not 5"]),
        ({"opt_level": True}, ["opt_level"]),
        ({"threads": 0}, ["threads is a positive integer"]),
        ({"threads": 1.5}, ["threads is a positive integer"]),
        ({"shapes": {"q": [1]}}, ["which is no input"]),
    ],
)
def test_wrong_calls_are_usage_errors(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        lamina.compile(small_model(), cache=False, **options)
    for word in words:
        assert word in str(raised.value)


def test_code_for_another_machine_is_refused() -> None:
    from lamina.backends.cpu.jit import host_target
    from lamina.dialects.target import TargetAttr

    host = host_target(1)
    other = TargetAttr.get("aarch64-unknown-linux-gnu", "generic", "", 128, 32)
    with pytest.raises(InputError, match="cannot run here"):
        lamina.compile(small_model(), target=other, cache=False)
    more = TargetAttr.get(host.triple.data, "x86-64", "+no-such-feature", 128, 16)
    with pytest.raises(InputError, match="lacks no-such-feature"):
        lamina.compile(small_model(), target=more, cache=False)


@pytest.mark.parametrize("source", [b"", b"no model", 3, None, Path("nowhere.onnx")])
def test_what_is_no_model(source: Any) -> None:
    with pytest.raises(LaminaError):
        lamina.load(source)
    with pytest.raises(LaminaError):
        lamina.compile(source)


def test_three_kinds_of_source_give_the_same(tmp_path: Path) -> None:
    model = small_model()
    path = tmp_path / "small.onnx"
    path.write_bytes(model.SerializeToString())
    results = [
        lamina.compile(s, threads=1, cache=False).run({"x": X})["y"]
        for s in (path, str(path), model, model.SerializeToString(), lamina.load(path))
    ]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_a_model_is_a_card_and_compiles_twice() -> None:
    model = lamina.load(small_model())
    card = repr(model)
    for words in ("input   x: float32[1, 3, 8, 8]", "output  z: float32[1, 3, 8, 8]", "108 (0.0 MB)", "1 nn.conv2d"):
        assert words in card
    before = model.text()
    results = [lamina.compile(model, threads=1, opt_level=o, cache=False).run({"x": X})["y"] for o in (0, 3)]
    assert model.text() == before
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)
    with pytest.raises(UsageError, match="shapes of a loaded model are fixed"):
        lamina.compile(model, shapes={"x": [1, 3, 8, 8]})


def test_shapes_of_dimensions_and_inputs() -> None:
    with pytest.raises(UsageError, match='dimension "batch" has no fixed size'):
        lamina.load(dynamic_model())
    for shapes in ({"batch": 3}, {"x": [3, 4]}):
        assert lamina.load(dynamic_model(), shapes).inputs[0].shape == (3, 4)


def test_profile_names_the_nodes_of_the_model(exe: lamina.Executable) -> None:
    profile = exe.profile({"x": X}, repeats=3)
    nodes = " + ".join(row.nodes for row in profile)
    assert "conv" in nodes and "relu" in nodes and "twice" in nodes
    assert [r.seconds for r in profile] == sorted((r.seconds for r in profile), reverse=True)
    table = profile.table(1)
    assert table.splitlines()[0].split() == ["us", "share", "Gop/s", "nodes"] and "total" in table
    assert abs(sum(r.share for r in profile) - 1) < 1e-6


def test_benchmark_gives_median_and_spread(exe: lamina.Executable) -> None:
    figures = exe.benchmark({"x": X}, repeats=7)
    assert len(figures.times) == 7 and 0 < figures.p10 <= figures.median <= figures.p90
    assert "n = 7" in str(figures)
    assert len(exe.benchmark(repeats=1).times) == 1
    with pytest.raises(UsageError, match="repeats is a positive integer"):
        exe.benchmark(repeats=0)


def test_text_of_each_level(exe: lamina.Executable) -> None:
    signs = {
        "relay": "relay.nn.conv2d",
        "te": "te.compute",
        "tir": "tir.for",
        "llvm": "llvm.func",
        "ll": "define ",
        "asm": ".globl",
    }
    for level, sign in signs.items():
        assert sign in exe.text(level), level
    assert 'loc("conv"' in exe.text("relay") or 'fused["conv"' in exe.text("relay")
    with pytest.raises(UsageError, match="did you mean 'relay'"):
        exe.text("relai")


def test_saved_texts_are_made_by_opt_tool_byte_for_byte(exe: lamina.Executable, tmp_path: Path) -> None:
    from lamina.driver.pipelines import Pipeline
    from lamina.opt_tool.command import run_opt_tool

    files = exe.save_texts(tmp_path)
    assert [f.name for f in files] == [
        *("relay.mlir", "te.mlir", "tir.mlir", "llvm.mlir", "kernels.ll", "kernels.s", "relay.safetensors"),
    ]
    so_far: list[str] = []
    for level in ("te", "tir", "llvm"):
        so_far.append(Pipeline(exe.opt_level).text(level))
        status, out, err = run_opt_tool([str(tmp_path / "relay.mlir"), "-p", ",".join(so_far)])
        assert status == 0, err
        assert out == (tmp_path / f"{level}.mlir").read_text()
    np.savez(tmp_path / "x.npz", x=X)
    words = ["--run", "@main", "--input", str(tmp_path / "x.npz"), "--output", str(tmp_path / "y.npz")]
    status, _, err = run_opt_tool([str(tmp_path / "llvm.mlir"), *words])
    assert status == 0, err
    with np.load(tmp_path / "y.npz") as stored:
        np.testing.assert_array_equal(stored["y"], exe.run({"x": X})["y"])


def test_texts_into_a_file_instead_of_a_folder(exe: lamina.Executable, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        exe.save_texts(tmp_path / "taken")


def test_threads_share_an_executable(exe: lamina.Executable) -> None:
    inputs = [X * n for n in range(1, 9)]
    expected = [exe.run({"x": x})["y"] for x in inputs]
    wrong: list[int] = []

    def work(n: int) -> None:
        for _ in range(20):
            if not np.array_equal(exe.run({"x": inputs[n]})["y"], expected[n]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_call_does_not_wait_for_another_one(exe: lamina.Executable) -> None:
    """While one has the program's memory the next one gets its own, which is kept for later ones."""
    program: Any = exe._program  # type: ignore[reportPrivateUsage]
    x = np.random.default_rng(0).standard_normal(exe.inputs[0].shape).astype(np.float32)
    expected = [y.tobytes() for y in exe(x)]
    counts: list[int] = []
    for _ in range(3):
        with program.lock:
            assert [y.tobytes() for y in exe(x)] == expected
        counts.append(len(program.direct._others))
    assert counts[0] >= 1 and len({*counts}) == 1


def test_progress_names_every_pass() -> None:
    from lamina.cli.progress import StageProgress
    from lamina.driver.pipelines import pipeline_text
    from lamina.ir.pipeline import parse_pipeline

    progress = StageProgress()
    lamina.compile(small_model(), threads=1, progress=progress, cache=False)
    steps = [step for step, _, _ in progress.steps]
    assert steps[1:-3] == [p.name for p in parse_pipeline(pipeline_text(3))]
    assert [s.name for s in progress.stages] == ["import", "relay", "te", "tir", "llvm"]


def test_a_fault_in_a_pass_leaves_a_reproducer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from lamina.errors import InternalError
    from lamina.opt_tool.command import run_opt_tool
    from lamina.passes.tir.loops import simplify

    monkeypatch.setenv("LAMINA_REPRODUCER_DIR", str(tmp_path))
    cls = next(v for v in vars(simplify).values() if getattr(v, "name", "") == "tir-simplify")
    with monkeypatch.context() as m:
        m.setattr(cls, "apply", None)
        with pytest.raises(InternalError, match="pass 'tir-simplify'.*reproducer written to"):
            lamina.compile(small_model(), threads=1, cache=False)
    (path,) = tmp_path.glob("*.mlir")
    status, _, err = run_opt_tool(["--run-reproducer", str(path)])
    assert status == 0, err


def test_dir_lists_the_public_names_and_each_is_there() -> None:
    assert dir(lamina) == sorted(lamina.__all__) and "compile" in dir(lamina)
    for name in dir(lamina):
        getattr(lamina, name)
