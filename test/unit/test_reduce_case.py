"""What `lamina fuzz` finds is made small: cases in folders, in the way and on the inputs that showed the fault."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from lamina.cli import command as cli
from lamina.debugging.campaign import Settings, run_campaign
from lamina.debugging.fuzz_case import IMPORT_PAIR
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.reduce_case import how_of, program_of
from lamina.debugging.stored_case import StoredCase
from lamina.debugging.verdict import How
from lamina.debugging.ways import HERE, NATIVE, OTHERS, Interpreted
from lamina.dialects.target import module_target

FAULTY = Path(__file__).parents[1] / "debugging" / "inputs" / "faulty_pass.py"
DOUBLE = next(w for w in HERE if w.double)
ZNVER4 = next(w for w in OTHERS if w.target == "znver4")


def command(*words: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(w) for w in words], out, err)
    return status, out.getvalue(), err.getvalue()


def apart(*words: object) -> tuple[int, str, str]:
    """The command in a process of its own: what it loads makes the compiler wrong."""
    found = subprocess.run([sys.executable, "-m", "lamina.cli", *map(str, words)], capture_output=True, text=True)
    return found.returncode, found.stdout, found.stderr


def case_of(pair: str, *ops: str, extent: int = 4) -> StoredCase:
    """A chain of ops on a few numbers."""
    names = [f"v{n}" for n in range(len(ops) + 1)]
    nodes = [helper.make_node(o, [a], [b]) for o, a, b in zip(ops, names, names[1:], strict=False)]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [extent]) for n in (names[0], names[-1])]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    inputs = {"v0": np.resize(np.array([0.5, -0.25, 3.0, np.inf], np.float32), extent)}
    return StoredCase(model.SerializeToString(), True, inputs, 7, "operators", pair, Outcome(Kind.MISMATCH))


def test_a_case_keeps_its_inputs_and_its_precision() -> None:
    case = case_of(NATIVE.name, "Exp", "Tanh")
    program = program_of(case)
    assert [a.dtype for a in program.arrays.values()] == [np.float32]
    assert all((a == case.inputs["v0"]).all() for a in program.arrays.values())
    double = program_of(case, DOUBLE)
    assert [a.dtype for a in double.arrays.values()] == [np.float64]
    assert "tensor<4xf64>" in double.text() and "f32" not in double.text()


def test_a_way_to_compile_is_one_to_ask_for() -> None:
    module = program_of(case_of(NATIVE.name, "Exp")).module
    assert how_of(NATIVE, module) == How()
    hows = {w.name: how_of(w, module, ("f.py",)) for w in OTHERS}
    assert hows["opt level 0 against 3"] == How(opt_level=0, load=("f.py",))
    assert hows["two threads against one"] == How(threads=2, load=("f.py",))
    assert hows["x86-64-v2 against this machine"] == How(target="x86-64-v2", load=("f.py",))
    assert hows["checked accesses against unchecked"] == How(sanitize=True, load=("f.py",))
    assert isinstance(ZNVER4, Interpreted)
    elsewhere = hows[ZNVER4.name]
    assert elsewhere.pipeline is not None and elsewhere.pipeline.endswith("tir-plan-memory") and elsewhere.checked
    target = module_target(program_of(case_of(ZNVER4.name, "Exp"), ZNVER4).module)
    assert target is not None and target.has_feature("avx512bf16")
    graph_alone = how_of(ZNVER4, program_of(case_of(ZNVER4.name, "Exp", extent=1 << 20)).module).pipeline
    assert graph_alone is not None and graph_alone.endswith("relay-fuse-ops")


@pytest.mark.slow
def test_a_fault_in_double_precision_alone_is_found_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision, which is asked where a case does not name the other, is right."""
    monkeypatch.setenv("FAULTY_TYPE", "f64")
    case_of(DOUBLE.name, "Exp", "Tanh", "Cos").write(tmp_path)
    status, out, err = apart("reduce", tmp_path, "--load", FAULTY, "-o", tmp_path / "named.mlir")
    assert status == 0, err
    assert re.search(r"3 ops -> 0 in \d+ programs", out) and "pass relay-canonicalize-cast" in out
    text = (tmp_path / "named.mlir").read_text()
    assert "relay-canonicalize-cast" in text.split("\n")[0] and "xf64>" in text and "xf32>" not in text
    case_of(NATIVE.name, "Exp").write(tmp_path)
    status, _, err = apart("reduce", tmp_path, "--load", FAULTY)
    assert status == 1 and "no fault" in err


@pytest.mark.slow
def test_a_fault_for_another_machine_is_found_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No code of this machine has the fault: what the passes make for the other one is interpreted."""
    monkeypatch.setenv("FAULTY_FEATURE", "+avx512fp16")
    other = next(w for w in OTHERS if w.target == "sapphirerapids")
    case = case_of(other.name, "Exp", "Tanh", "Cos")
    case.write(tmp_path)
    status, out, err = apart("reduce", tmp_path, "--load", FAULTY)
    assert status == 0, err
    assert re.search(r"3 ops -> 0 in \d+ programs", out) and "pass relay-canonicalize-cast" in out
    case_of(ZNVER4.name, "Exp").write(tmp_path)
    status, _, err = apart("reduce", tmp_path, "--load", FAULTY)
    assert status == 1 and "no fault" in err


@pytest.mark.slow
def test_a_fault_of_the_importer_leaves_a_model(tmp_path: Path) -> None:
    """Exp is imported as another function: the compiler computes what was imported."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        FAULTY.read_text().partition("\nright = ")[0]
        + "\nfrom lamina.frontends.onnx import convert_math\nconvert_math._UNARY['Exp'] = 'tanh'\n"
        + "class Nothing(ModulePass):\n    name = 'faulty-nothing'\n"
    )
    folder = tmp_path / "c"
    case_of(f"{IMPORT_PAIR} onnxruntime", "Neg", "Exp", "Cos").write(folder)
    status, out, err = apart("reduce", folder, "--load", wrong, "--quiet")
    assert status == 0, err
    assert "(the importer)" in out and out.endswith(f"{folder / 'reduced' / 'model.onnx'}\n")
    found = StoredCase.read(folder / "reduced")
    assert [n.op_type for n in onnx.ModelProto.FromString(found.program).graph.node] == ["Exp"]


@pytest.mark.slow
def test_what_a_campaign_finds_is_made_small(tmp_path: Path) -> None:
    words = ["--seed", "15", "--graphs", "1", "--kind", "layout", "--sizes", "tiny", "--jobs", "1", "-o", tmp_path]
    status, out, err = apart("fuzz", *words, "--load", FAULTY, "--reduce-seconds", "120")
    assert status == 1, out + err
    assert "(compiled against the oracles)" in out
    path = re.findall(r"^  (\S+reduced\.mlir)$", out, re.M)[0]
    assert re.search(r"ops -> 0 in", out) and "pass relay-canonicalize-cast" in out
    test = Path(path)
    assert test.parent.parent == tmp_path and "relay-canonicalize-cast" in test.read_text()


@pytest.mark.slow
def test_a_case_that_ends_its_process_says_what_ran(tmp_path: Path) -> None:
    ends = tmp_path / "ends.py"
    ends.write_text(FAULTY.read_text().replace("    right(self, ctx, op)\n", "    os.abort()\n"))
    settings = Settings(0, 1, jobs=1, sizes=("tiny",), folder=tmp_path, load=(str(ends),))
    tally = run_campaign(settings)
    ((report,),) = tally.faults.values()
    assert (report.outcome.kind, report.outcome.where) == (Kind.CRASH, NATIVE.name)
    stored = StoredCase.read(tmp_path / str(report.seed))
    assert stored.pair == NATIVE.name and stored.outcome == report.outcome


def test_a_folder_is_no_case_or_takes_no_inputs(tmp_path: Path) -> None:
    status, _, err = command("reduce", tmp_path)
    assert status == 1 and "no case" in err and err.count("\n") <= 2
    case_of(NATIVE.name, "Exp").write(tmp_path)
    status, _, err = command("reduce", tmp_path, "--seed", "3")
    assert status == 2 and "--seed" in err


@pytest.mark.slow
def test_a_fault_of_a_program_for_ranges_leaves_a_model_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others have made is an input, with the name for its extent."""
    monkeypatch.setenv("FAULTY_TYPE", "dims<n>")
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["a"], axis=1),
        helper.make_node("Exp", ["a"], ["b"]),
        helper.make_node("ReduceSum", ["b", "axes"], ["c"], keepdims=0),
        helper.make_node("Cos", ["c"], ["y"]),
    ]
    ports = [info("x", TensorProto.FLOAT, ["n", 2])], [info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", *ports, [helper.make_tensor("axes", TensorProto.INT64, [1], [1])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
    inputs = {"x": np.array([[0.5, -0.25]] * 5, np.float32)}
    StoredCase(model, True, inputs, 7, "symbols", NATIVE.name, Outcome(Kind.MISMATCH), {"n": "1..8"}).write(tmp_path)
    status, out, err = apart("reduce", tmp_path, "--load", FAULTY, "--quiet")
    assert status == 0, err
    assert "(compiled for n=1..8)" in out
    found = StoredCase.read(tmp_path / "reduced")
    left = onnx.ModelProto.FromString(found.program).graph
    assert len(left.node) == 1 and found.ranges == {"n": "1..8"}
    dims = {i.name: i.type.tensor_type.shape.dim[0].dim_param for i in left.input}
    assert dims in ({"b": "n"}, {"c": "n"})
    status, _, err = apart("reduce", tmp_path / "reduced")
    assert status == 1 and "no fault" in err
