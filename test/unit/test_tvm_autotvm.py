"""TVM's tuner under its names: tasks of a program, tuners, logs, and what is built with them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lamina.cli import command as cli
from lamina.compat import tvm
from lamina.compat.tvm import autotvm, relay
from lamina.compat.tvm.autotvm import LocalBuilder, LocalRunner, MeasureErrorNo, callback, record, task
from lamina.compat.tvm.autotvm.task.kernels import config_of_trace
from lamina.compat.tvm.autotvm.tuner import GATuner, GridSearchTuner, RandomTuner, XGBTuner
from lamina.compat.tvm.contrib import graph_executor
from lamina.dialects.schedule.records import read_records
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.tuning import runner, tuners

SHAPES = {"x": (4, 32), "w": (24, 32), "v": (24, 24)}
OPTION = autotvm.measure_option(LocalBuilder(n_parallel=2), LocalRunner(number=10, enable_cpu_cache_flush=True))


def net() -> tuple[tvm.IRModule, dict[str, Any]]:
    """Two dense layers of different extents with a softmax, of which the weights are parameters."""
    x, w, v = (relay.var(name, shape=shape) for name, shape in SHAPES.items())
    y = relay.nn.softmax(relay.nn.dense(relay.nn.relu(relay.nn.dense(x, w)), v))
    r = np.random.default_rng(0)
    weights = {name: r.standard_normal(SHAPES[name]).astype(np.float32) for name in ("w", "v")}
    return tvm.IRModule.from_expr(relay.Function([x, w, v], y)), weights


@pytest.fixture
def dense() -> task.Task:
    mod, weights = net()
    return task.extract_from_program(mod["main"], target="llvm -num-cores=1", params=weights)[0]


def result(mod: Any, weights: dict[str, Any]) -> Any:
    with tvm.transform.PassContext(opt_level=3, config={}):
        lib = relay.build(mod, target="llvm -num-cores=1", params=weights)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input("x", np.linspace(-1, 1, 128, dtype=np.float32).reshape(SHAPES["x"]))
    module.run()
    return module.get_output(0).numpy()


@pytest.mark.slow
def test_a_program_is_tuned_and_built_with_its_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tutorial's loop; every candidate is in the log, which the command takes as well."""
    mod, weights = net()
    log = tmp_path / "records.json"
    tasks = task.extract_from_program(mod["main"], target="llvm -num-cores=1", params=weights)
    assert len(tasks) == 2, "a softmax is none"
    told: list[Any] = []
    for i, each in enumerate(tasks):
        tuner = XGBTuner(each, loss_type="reg")
        tuner.tune(
            n_trial=min(5, len(each.config_space)),
            early_stopping=100,
            measure_option=OPTION,
            callbacks=[
                callback.progress_bar(5, prefix=f"[Task {i + 1:2d}/ 2] "),
                callback.log_to_file(log),
                lambda tuner, inputs, results: told.extend(zip(inputs, results, strict=True)),
            ],
        )
        assert len(tuner.records) >= 5 and tuner.best_config is not None
        assert tuner.best_flops == pytest.approx(each.flop / tuner.best_measure_pair[1].costs[0])  # type: ignore[index]
    assert "[Task  2/ 2]  Current/Best:" in capsys.readouterr().err
    loaded = list(record.load_from_file(log))
    assert [r for _, r in loaded] == [r for _, r in told] and len(loaded) == len(log.read_text().splitlines())
    assert [i.config.decided for i, _ in loaded] == [i.config.decided for i, _ in told]
    assert loaded[0][0].task.workload == told[0][0].task.workload
    expected = result(mod, weights)
    with autotvm.apply_history_best(str(log)):
        np.testing.assert_allclose(result(mod, weights), expected, rtol=1e-5)
    assert cli.run(["records", "show", str(log)], io.StringIO(), io.StringIO()) == 0
    # What is known is not measured again.
    again = RandomTuner(tasks[0])
    again.load_history(loaded)
    again.tune(4, OPTION)
    assert not {r.trace for r in again.records if not r.error} & {i.record.trace for i, _ in loaded}


def first_of(dense: task.Task) -> str:
    """The schedule of the first configuration that is not refused."""
    for index in range(len(dense.config_space)):
        with suppress(LaminaError):
            return dense.config_space.trace(index)
    raise AssertionError("all are refused")


def slower(dense: task.Task, log: Path, ratio: float) -> str:
    """Add a line to a log: the first configuration that is not refused, so much of the default's time."""
    trace = first_of(dense)
    found = runner.Record(*dense.work.place, trace, (ratio, ratio, ratio), 0.001)
    candidate = autotvm.MeasureInput(dense.target, dense, config_of_trace(trace, 7), found)
    outcome = autotvm.MeasureResult((0.001,), MeasureErrorNo.NO_ERROR, 0.5, 1.0)
    with log.open("a") as file:
        file.write(record.encode(candidate, outcome) + "\n")
    return trace


def test_gains_of_a_log_are_what_is_built(dense: task.Task, tmp_path: Path) -> None:
    mod, weights = net()
    log, best = tmp_path / "a.json", tmp_path / "best.json"
    trace = slower(dense, log, 0.5)
    record.pick_best(log, best)
    assert best.read_text() == log.read_text()
    plain = te_of(mod, weights)
    texts: list[str] = []
    for records in (log, [str(log)], record.load_from_file(log)):
        with autotvm.apply_history_best(records):
            texts.append(te_of(mod, weights))
    assert texts[0] == texts[1] == texts[2] != plain
    assert any(line.strip() in texts[0] for line in trace.splitlines() if "knob" in line)
    slower(dense, tmp_path / "slow.json", 1.5)
    with autotvm.apply_history_best(tmp_path / "slow.json"):
        assert te_of(mod, weights) == plain


def te_of(mod: Any, weights: dict[str, Any]) -> str:
    with tvm.transform.PassContext(opt_level=3):
        return relay.build(mod, target="llvm -num-cores=1", params=weights).executable.text("te")


def test_lines_of_a_log_are_what_tvm_reads(dense: task.Task, tmp_path: Path) -> None:
    slower(dense, tmp_path / "a.json", 0.5)
    line = json.loads((tmp_path / "a.json").read_text())
    assert line["version"] == 0.2 and line["input"][:2] == ["llvm -num-cores=1", dense.name]
    assert line["input"][2][0] == ["TENSOR", [4, 32], "float32"] and line["input"][3] == {}
    assert line["result"] == [[0.001], 0, 0.5, 1.0]
    assert {kind for _, kind, _ in line["config"]["entity"]} <= {"ot", "sp"} and line["config"]["index"] == 7


TVM_LINE = (
    '{"input": ["llvm", "dense_pack.x86", [["TENSOR", [1, 512], "float32"]], {}], "config": {"index": 1, '
    '"code_hash": null, "entity": [["tile_y", "sp", [-1, 1]]]}, "result": [[0.1], 0, 1.0, 2.0], "version": 0.2, '
    '"tvm_version": "0.8.0"}'
)


def test_what_tvm_has_measured_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "tvm.json"
    log.write_text(TVM_LINE + "\n")
    said = "what TVM has measured: schedules of its own, which do not apply here"
    assert read_records(log) == ([], [f"{log}:1: skipped, {said}"])
    assert list(record.load_from_file(log)) == [] and said in capsys.readouterr().err
    with pytest.raises(InputError, match="holds no record"):
        autotvm.apply_history_best(log)


def test_tasks_are_the_kernels_of_operators_that_are_asked_for() -> None:
    mod, weights = net()
    found = [
        [t.name for t in task.extract_from_program(mod, weights, "llvm", ops=ops)]
        for ops in ([relay.op.get("nn.dense")], ["nn.softmax"], ["nn.conv2d"])
    ]
    assert [len(f) for f in found] == [2, 1, 0] and "softmax" in found[1][0]
    several = task.extract_from_multiple_program([mod, mod], [weights, weights], "llvm")
    assert len(several) == 2
    assert several[0].flop == 2 * 4 * 24 * 32 + 4 * 24, "products, sums, and the relu"


@pytest.mark.parametrize("kind", ["reg", "rank", "rank-binary"])
@pytest.mark.parametrize("features", ["knob", "itervar", "curve"])
def test_names_of_the_tutorial_choose_tuners(dense: task.Task, kind: str, features: str) -> None:
    assert isinstance(XGBTuner(dense, loss_type=kind, feature_type=features).strategy(), tuners.ModelTuner)


def test_other_tuners(dense: task.Task) -> None:
    assert isinstance(GATuner(dense, pop_size=50).strategy(), tuners.GeneticTuner)
    assert isinstance(RandomTuner(dense).strategy(), tuners.RandomTuner)
    assert isinstance(GridSearchTuner(dense, (3, 9)).strategy(), tuners.GridTuner)


Call = Callable[[task.Task], object]
MISTAKES: list[tuple[Call, str]] = [
    (lambda t: XGBTuner(t, loss_type="hinge"), "loss_type 'hinge'"),
    (lambda t: XGBTuner(t, feature_type="loops"), "feature_type 'loops'"),
    (lambda t: GATuner(t, pop_size=1), "a population is at least 2"),
    (lambda t: RandomTuner(t).tune(0, OPTION), "n_trial is at least 1, not 0"),
    (lambda t: RandomTuner(t).tune(1, {}), "measure_option has a builder and a runner"),
    (lambda t: autotvm.measure_option("local", "remote"), "runner='remote'"),
    (lambda t: callback.progress_bar(1, si_prefix="X"), "si_prefix 'X'"),
    (lambda t: autotvm.apply_history_best(3), "3 is no file and no records"),
    (lambda t: task.extract_from_multiple_program([], [None]), "0 modules, and parameters for 1"),
]


@pytest.mark.parametrize(("call", "said"), MISTAKES)
def test_mistakes(dense: task.Task, call: Call, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call(dense)


ELSEWHERE: list[Call] = [
    lambda t: RandomTuner(t, (1, 2)),
    lambda t: autotvm.measure.RPCRunner("key", "host", 9190),
    lambda t: LocalBuilder(build_func="ndk"),
    lambda t: LocalRunner(module_loader=print),
    lambda t: callback.log_to_file("a", protocol="pickle"),
]


@pytest.mark.parametrize("call", ELSEWHERE)
def test_what_is_not_there_is_refused_by_name(dense: task.Task, call: Call) -> None:
    with pytest.raises(UnsupportedError):
        call(dense)
    assert autotvm.measure_option("local", "local")["builder"] == LocalBuilder()


def test_logs_go_where_files_can_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        callback.log_to_file(tmp_path / "none" / "log.json")
    with pytest.raises(InputError, match="no line of a log"):
        record.decode("{}")
