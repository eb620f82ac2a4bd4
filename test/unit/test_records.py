"""Records of schedules: canonical names, files that outlast a kill, and compilations that take schedules from them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamina
from lamina.cli import command as cli
from lamina.dialects.schedule.canonical import TASK, canonical_names, canonical_text, renamed, task_of
from lamina.dialects.schedule.ops import ScheduleOp, primitives
from lamina.dialects.schedule.records import Record, best_records, read_records
from lamina.dialects.target import machine_of, module_target
from lamina.dialects.te.ops import FuncOp
from lamina.errors import InputError, LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.verification import verify_module
from lamina.opt_tool.command import run_opt_tool
from lamina.store.record_file import append_records, write_records

ROOT = Path(__file__).resolve().parents[2]
SCHEDULES = ROOT / "test" / "dialects" / "te" / "schedule"
CONV = """func.func @main(%x: tensor<1x16x14x14xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<1x32x14x14xf32> {
  %y = relay.nn.conv2d %x, %w {padding = [1, 1, 1, 1]}
    : (tensor<1x16x14x14xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x14x14xf32>
  %z = relay.nn.relu %y : tensor<1x32x14x14xf32>
  return %z : tensor<1x32x14x14xf32>
}
"""


def command(*words: str | Path) -> str:
    """What the command prints."""
    out, err = io.StringIO(), io.StringIO()
    assert cli.run([str(w) for w in words], out, err) == 0, err.getvalue()
    return out.getvalue()


def record(
    ratio: tuple[float, float, float] | None = (0.9, 0.88, 0.92), task: str = "3f", error: str = "", **more: Any
) -> Record:
    how: dict[str, Any] = {"machine": "m", "threads": 1, "trace": "te.schedule @task {\n}"} | more
    return Record(task, ratio=ratio, seconds=None if error else 1e-4, error=error, version="0.1.0", **how)


# -- canonical names -------------------------------------------------------------------------------------------------


def lowered(functions: list[Any], attributes: dict[str, Any]) -> str:
    """The loops that schedules make, or why they are refused."""
    try:
        module = parse_text(LaminaContext(), "builtin.module {\n" + "\n".join(map(str, functions)) + "\n}", "again")
        module.attributes |= attributes
        verify_module(module)
        run_pipeline(module, LaminaContext(), parse_pipeline("te-to-tir"))
    except LaminaError as error:
        return f"refused: {error}"
    return str(module)


@pytest.mark.slow
@pytest.mark.parametrize("path", [SCHEDULES / f"{op.name[3:]}.mlir" for op in primitives()], ids=lambda p: p.stem)
def test_a_schedule_does_the_same_under_canonical_names(path: Path) -> None:
    """A primitive that names stages in a property that is not renamed would find none of them."""
    module = parse_text(LaminaContext(), path.read_text(), path.name)
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp)}
    others = [op for op in module.ops if not isinstance(op, (FuncOp, ScheduleOp))]
    for schedule in [s for s in module.ops if isinstance(s, ScheduleOp)]:
        func = functions[schedule.func.root_reference.data]
        names = canonical_names(func)
        there = renamed(schedule, TASK, names)
        back = renamed(there, func.sym_name.data, {canonical: own for own, canonical in names.items()})
        assert str(back) == str(schedule)
        ours = lowered([func, schedule, *others], module.attributes)
        theirs = lowered([canonical_text(func), there, *others], module.attributes)
        # A schedule that gives a stage's name to something else is not refused where the stage has another one.
        assert ours.startswith("refused") or ours.count("tir.for") == theirs.count("tir.for") > 0, (ours, theirs)


def test_names_are_no_part_of_the_work_and_extents_are() -> None:
    text = "te.func @NAME(%ARG: tensor<8xf32>) -> tensor<8xf32> {\n"
    text += '  %b = te.compute "STAGE" [8] (%AXIS) : tensor<8xf32> {\n'
    text += (
        "    %v = te.read %ARG[%AXIS] : tensor<8xf32>\n    te.yield %v : f32\n  }\n  te.return %b : tensor<8xf32>\n}"
    )

    def task(text: str) -> str:
        return task_of(next(op for op in parse_text(LaminaContext(), text, "x").ops if isinstance(op, FuncOp)))

    def named(*names: str) -> str:
        found = text
        for word, name in zip(("NAME", "ARG", "STAGE", "AXIS"), names, strict=True):
            found = found.replace(word, name)
        return found

    first = task(named("f", "A", "B", "i"))
    assert first == task(named("copy", "data", "x.y", "row"))
    assert first != task(named("f", "A", "B", "i").replace("8", "9"))
    assert first != task(named("f", "A", "B", "i").replace("f32", "f64"))


# -- files -----------------------------------------------------------------------------------------------------------


@given(st.binary(max_size=200), st.integers(0, 300))
def test_any_bytes_are_read_or_skipped(tmp_path_factory: pytest.TempPathFactory, noise: bytes, cut: int) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.jsonl"
    line = record().line().encode()
    path.write_bytes(line + b"\n" + noise + b"\n" + line[:cut])
    found, notes = read_records(path)
    assert found[0] == record() and all("\n" not in note for note in notes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"v": 2}, "a record of format 2, this version reads 1"),
        ({"ratio": [1, 2]}, "neither an error nor a ratio of three positive numbers and the seconds"),
        ({"ratio": [-1, 1, 1]}, "neither an error"),
        ({"seconds": None}, "neither an error"),
        ({"threads": 0}, "'threads' is no number of threads"),
        ({"trace": 7}, "'trace' is no string"),
    ],
)
def test_lines_that_are_no_records_are_skipped_with_the_reason(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(json.loads(record().line()) | changes) + "\n" + record().line() + "\n")
    found, notes = read_records(path)
    assert found == [record()]
    assert len(notes) == 1 and notes[0].startswith(f"{path}:1: skipped, ") and said in notes[0]


def test_a_torn_end_is_closed_by_the_next_line(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    append_records(path, [record()])
    with path.open("a") as file:
        file.write(record().line()[:40])
    append_records(path, [record(task="77"), record(None, error="hang: no end after 10 s")])
    found, notes = read_records(path)
    assert [r.task for r in found] == ["3f", "77", "3f"] and len(notes) == 1
    assert found[2].ratio is None and found[2].error.startswith("hang")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        append_records(tmp_path / "none" / "r.jsonl", [record()])
    with pytest.raises(InputError, match="cannot read"):
        read_records(tmp_path)


WRITER = """
import sys
from lamina.dialects.schedule.records import Record
from lamina.store.record_file import append_records
for n in range(10**6):
    append_records(sys.argv[1], [Record(f"{sys.argv[2]}.{n}", "m", 1, "x" * 3000, (1.0, 1.0, 1.0), 1e-4)])
    print(n, flush=True)
"""


def kills(path: Path, count: int, waits: float) -> tuple[set[str], set[str]]:
    """The records that killed writers, two at a time, were told are there; and those that are."""
    told: set[str] = set()
    for turn in range(0, count, 2):
        names = [f"{turn + k}" for k in range(2)]
        words = [sys.executable, "-c", WRITER, str(path)]
        writers = [subprocess.Popen([*words, name], stdout=subprocess.PIPE, text=True) for name in names]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        for name, writer in zip(names, writers, strict=True):
            os.kill(writer.pid, signal.SIGKILL)
            rest = writer.communicate()[0]
            told |= {f"{name}.{n}" for n in ["0", *rest.split("\n")[:-1]]}
    return told, {r.task for r in read_records(path)[0]}


def test_no_line_is_lost_that_a_killed_writer_was_told_is_there(tmp_path: Path) -> None:
    told, there = kills(tmp_path / "r.jsonl", 6, 0.01)
    assert told and told <= there


@pytest.mark.long
def test_a_thousand_kills_lose_no_line(tmp_path: Path) -> None:
    told, there = kills(tmp_path / "r.jsonl", 1000, 0.001)
    assert len(told) >= 1000 and told <= there


# -- which one is taken ----------------------------------------------------------------------------------------------


def test_the_smallest_upper_end_is_the_surest_gain() -> None:
    unsure, sure, slow = (
        record(ratio, trace=f"te.schedule @task {{\n  te.unroll %{n}\n}}")
        for n, ratio in enumerate([(0.7, 0.4, 1.0), (0.9, 0.89, 0.91), (0.85, 0.7, 0.99)])
    )
    failed = record(None, error="crash: SIGSEGV")
    assert best_records([unsure, sure, slow, failed]) == {("3f", "m", 1): sure}
    other = "te.schedule @task {\n  te.normalize\n}"
    # What was measured once more is what it was the second time.
    assert best_records([sure, record((0.6, 0.5, 0.7), trace=other), record((0.95, 0.9, 0.99), trace=other)]) == {
        ("3f", "m", 1): sure
    }
    again = record((0.9, 0.89, 0.91), trace=other)
    assert best_records([sure, again]) == {("3f", "m", 1): again}
    assert not best_records([unsure, failed])


def recorded(model: Path) -> None:
    """Write the model, and a record of another schedule for its convolution on one thread into a file beside it."""
    model.write_text(CONV)
    module = parse_text(LaminaContext(), command("compile", model, "--threads", "1", "--emit", "te"), "te")
    func, target = next(op for op in module.ops if isinstance(op, FuncOp)), module_target(module)
    assert target is not None
    trace = 'te.schedule @task {\n  %i, %j, %k, %l = te.loops "$0" [4]\n  te.unroll %i\n}'
    write_records(model.with_suffix(".jsonl"), [record(task=task_of(func), machine=machine_of(target), trace=trace)])


def test_a_model_is_compiled_by_its_records(tmp_path: Path) -> None:
    model = tmp_path / "conv.mlir"
    recorded(model)
    records = tmp_path / "conv.jsonl"
    plain, ours = lamina.compile(str(model), threads=1), lamina.compile(str(model), threads=1, records=records)
    assert "te.unroll %i\n  }" in ours.text("te") and "te.unroll %i\n  }" not in plain.text("te")
    r = np.random.default_rng(0)
    arrays = {p.name: r.standard_normal(p.shape).astype(np.float32) for p in plain.inputs}
    for a, b in zip(plain.run(arrays).values(), ours.run(arrays).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    # The cache holds both, and what the file says counts, not its name.
    assert lamina.compile(str(model), threads=1, records=records).cached
    write_records(records, [])
    again = lamina.compile(str(model), threads=1, records=records)
    assert not again.cached and again.text("te") == plain.text("te")
    # Records are for so many threads.
    printed = command("compile", model, "--records", records, "--threads", "1", "--print-pipeline")
    assert f"relay-to-te,te-apply-records{{file={json.dumps(str(records))}}},cpu-schedule" in printed
    assert [p.name for p in parse_pipeline(printed.strip())].count("te-apply-records") == 1


def test_texts_with_records_are_those_of_opt_tool(tmp_path: Path) -> None:
    model = tmp_path / "conv.mlir"
    recorded(model)
    how = ("--records", tmp_path / "conv.jsonl", "--threads", "1")
    relay, llvm = (command("compile", model, *how, "--emit", level) for level in ("relay", "llvm"))
    pipeline = command("compile", model, *how, "--print-pipeline").strip()
    assert "te-apply-records" in pipeline
    assert run_opt_tool(["-p", pipeline], relay) == (0, llvm, "")


def test_a_record_that_does_not_apply_is_told_of(tmp_path: Path) -> None:
    model = tmp_path / "conv.mlir"
    recorded(model)
    path = tmp_path / "conv.jsonl"
    path.write_text(path.read_text().replace("te.unroll %i", "te.unroll %nothing"))
    with pytest.warns(UserWarning, match="the record of @fused_nn_conv2d_nn_relu in .* cannot be applied"):
        ours = lamina.compile(str(model), threads=1, records=path, cache=False).text("te")
    assert ours == lamina.compile(str(model), threads=1).text("te")


# -- the command -----------------------------------------------------------------------------------------------------


def test_records_are_shown_merged_and_cut_down(tmp_path: Path) -> None:
    first, second, out = (str(tmp_path / f"{n}.jsonl") for n in "abo")
    a, b, c = (f"te.schedule @task {{\n  te.unroll %{n}\n}}" for n in "abc")
    write_records(first, [record(), record((0.8, 0.7, 0.85), trace=a), record(None, error="crash: SIGSEGV", trace=b)])
    write_records(second, [record(), record((1.2, 1.1, 1.3), task="aa"), record((0.5, 0.4, 0.6), threads=2, trace=c)])
    shown = command("records", "show", first, second)
    assert "m, 1 thread\n" in shown and "m, 2 threads\n" in shown
    assert "0.800 [0.700..0.850]" in shown and "1 crash" in shown
    command("records", "merge", first, second, "-o", out)
    assert len(read_records(out)[0]) == 5
    command("records", "best", first, second, "-o", out)
    assert {(r.task, r.threads, r.ratio) for r in read_records(out)[0]} == {
        ("3f", 1, (0.8, 0.7, 0.85)),
        ("3f", 2, (0.5, 0.4, 0.6)),
    }
    assert "2 of 3 records" in command("records", "prune", first, "--keep", "2")
    assert [r.ratio for r in read_records(first)[0]] == [(0.8, 0.7, 0.85), (0.9, 0.88, 0.92)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["best", "FILE"], "records best needs -o FILE.jsonl"),
        (["show", "FILE", "-o", "x"], "records show writes no other file"),
        (["prune", "FILE", "--keep", "0"], "--keep is at least 1, not 0"),
        (["show", "none.jsonl"], "none.jsonl: cannot read"),
        (["shew", "FILE"], "invalid choice: 'shew'"),
    ],
)
def test_mistakes_with_records_end_in_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    path = tmp_path / "r.jsonl"
    write_records(path, [record()])
    out, err = io.StringIO(), io.StringIO()
    assert cli.run(["records", *(str(path) if w == "FILE" else w for w in words)], out, err) != 0
    assert said in err.getvalue() and err.getvalue().count("\n") == 1
    assert read_records(path)[0] == [record()]
