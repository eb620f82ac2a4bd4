"""TVM's auto-scheduler under its names: a tensor program of one's own, and the kernels of a network."""

# pyright: standard

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lamina import te
from lamina.compat import tvm
from lamina.compat.tvm import auto_scheduler, relay
from lamina.compat.tvm.auto_scheduler import (
    ApplyHistoryBest,
    RecordToFile,
    SearchTask,
    TaskScheduler,
    TuningOptions,
    extract_tasks,
    search_task,
)
from lamina.dialects.schedule.records import Record
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.tuning.measuring import chosen
from lamina.tuning.spaces import sketched

TARGET = "llvm -num-cores=1"


@auto_scheduler.register_workload
def matmul_add(n: int, l: int, m: int, dtype: str) -> list[Any]:  # noqa: E741
    """The tutorial's program."""
    a = te.placeholder((n, l), name="A", dtype=dtype)
    b = te.placeholder((l, m), name="B", dtype=dtype)
    c = te.placeholder((n, m), name="C", dtype=dtype)
    k = te.reduce_axis((0, l), name="k")
    product = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")
    return [a, b, c, te.compute((n, m), lambda i, j: product[i, j] + c[i, j], name="out")]


@pytest.fixture
def task() -> SearchTask:
    return SearchTask(func=matmul_add, args=(24, 16, 40, "float32"), target=tvm.target.Target(TARGET))


def drawn(task: SearchTask, ratio: float, seed: int = 1) -> Record:
    """A record of a configuration that took so much of the default's time."""
    _, trace = chosen(task.work.program(sketched(task.work)), range(seed, seed + 20), 1.0, [])
    return Record(*task.work.place, trace, (ratio, ratio, ratio), 0.001)


@pytest.mark.slow
def test_the_matmul_of_the_tutorial(task: SearchTask, tmp_path: Path) -> None:
    log = tmp_path / "matmul.json"
    task.tune(TuningOptions(num_measure_trials=4, measure_callbacks=[RecordToFile(log)], verbose=2))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) >= 4
    assert all(line["v"] == "v0.6" and line["i"][0] == [task.workload_key, TARGET] for line in lines)
    assert json.loads(task.workload_key) == ["matmul_add", 24, 16, 40, "float32"]
    sch, args = task.apply_best(log)
    assert "tir.for" in str(tvm.lower(sch, args, simple_mode=True))
    func = tvm.build(sch, args, task.target)
    r = np.random.default_rng(0)
    a, b, c = (tvm.nd.array(r.standard_normal(s).astype(np.float32)) for s in ((24, 16), (16, 40), (24, 40)))
    out = tvm.nd.empty((24, 40))
    func(a, b, c, out)
    np.testing.assert_allclose(out.numpy(), a.numpy() @ b.numpy() + c.numpy(), rtol=1e-5, atol=1e-5)


def test_the_fastest_of_a_log_is_applied(task: SearchTask, tmp_path: Path) -> None:
    log = tmp_path / "matmul.json"
    callback = RecordToFile(log)
    slow, fast = drawn(task, 0.9), drawn(task, 0.5, 100)
    assert slow.trace != fast.trace
    for record in (slow, fast, Record(*task.work.place, "", None, None, "hang: no end")):
        callback.add(task.workload_key, task.target, record)
    assert list(auto_scheduler.load_records(log))[:2] == [slow, fast]
    assert json.loads(log.read_text().splitlines()[2])["r"][:2] == [[1e10], 7]
    sch, args = task.apply_best(log)
    loops = str(tvm.lower(sch, args))
    assert loops == str(tvm.lower(search_task.FoundSchedule(sch.outputs, fast.trace), args))
    assert loops != str(tvm.lower(te.create_schedule(sch.outputs), args))
    assert task.print_best(log) == fast.trace
    empty = tmp_path / "empty.json"
    empty.write_text("")
    sch, args = task.apply_best(empty)
    assert sch.trace == task.work.schedule, "the default where there is no gain"
    with pytest.raises(InputError, match="holds no schedule that is faster than the default"):
        task.print_best(empty)


def network() -> tuple[tvm.IRModule, dict[str, Any]]:
    x, w, v = (relay.var(n, shape=s) for n, s in (("x", (4, 32)), ("w", (32, 32)), ("v", (24, 32))))
    y = relay.nn.relu(relay.nn.dense(x, w))
    y = relay.nn.softmax(relay.nn.dense(relay.nn.relu(relay.nn.dense(y, w)), v))
    r = np.random.default_rng(0)
    weights = {n: r.standard_normal(s).astype(np.float32) for n, s in (("w", (32, 32)), ("v", (24, 32)))}
    return tvm.IRModule.from_expr(relay.Function([x, w, v], y)), weights


@pytest.mark.slow
def test_a_network_is_searched_and_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mod, weights = network()
    log = tmp_path / "network.json"
    tasks, counts = extract_tasks(mod["main"], weights, TARGET)
    assert counts == [2, 1], "equal layers are one task"
    assert len(extract_tasks(mod, weights, TARGET, include_simple_tasks=True)[0]) == 3
    TaskScheduler(tasks, counts).tune(TuningOptions(num_measure_trials=6, measure_callbacks=[RecordToFile(log)]))
    said = capsys.readouterr().out
    assert said.split()[0] == "task" and all(t.desc in said for t in tasks)
    with (
        ApplyHistoryBest(str(log)),
        tvm.transform.PassContext(opt_level=3, config={"relay.backend.use_auto_scheduler": True}),
    ):
        tuned = relay.build(mod, target=TARGET, params=weights)
    with tvm.transform.PassContext(opt_level=3):
        plain = relay.build(mod, target=TARGET, params=weights)
    x = {"x": np.linspace(-1, 1, 128, dtype=np.float32).reshape(4, 32)}
    for a, b in zip(tuned.executable.run(x).values(), plain.executable.run(x).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    with pytest.raises(UnsupportedError, match="it is a kernel of a network"):
        tasks[0].apply_best(log)


Call = Callable[[SearchTask], object]
MISTAKES: list[tuple[Call, str]] = [
    (lambda t: SearchTask(func="matmul_ad", args=()), "no workload is called 'matmul_ad'"),
    (lambda t: auto_scheduler.register_workload("matmul_add", lambda: []), "is called 'matmul_add' already"),
    (lambda t: t.tune(TuningOptions()), "num_measure_trials is at least 1, not 0"),
    (lambda t: TuningOptions(1, runner="remote"), "runner='remote'"),
    (lambda t: TuningOptions(1, measure_callbacks=["log.json"]), "measure_callbacks: 'log.json'"),  # type: ignore[list-item]
    (lambda t: TaskScheduler([t], [1, 2]), "2 weights for 1 tasks"),
]
ELSEWHERE: list[Call] = [
    lambda t: SearchTask(func=matmul_add, args=(8, 8, 8, "float32"), hardware_params=object()),
    lambda t: SearchTask(func=matmul_add, args=(8, 8, 8, "float32"), task_inputs={}),
    lambda t: TaskScheduler([t], objective_func=max),
    lambda t: t.print_best("log.json", "cuda"),
    lambda t: extract_tasks(*network(), TARGET, hardware_params=object()),
]


@pytest.mark.parametrize(("call", "said"), MISTAKES)
def test_mistakes(task: SearchTask, call: Call, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call(task)


@pytest.mark.parametrize("call", ELSEWHERE)
def test_what_is_not_there_is_refused_by_name(task: SearchTask, call: Call) -> None:
    with pytest.raises(UnsupportedError):
        call(task)


def test_workloads_are_registered_by_other_names() -> None:
    @auto_scheduler.register_workload("mine", override=True)
    def program() -> list[Any]:
        return matmul_add(8, 8, 8, "float32")

    made = SearchTask(workload_key=auto_scheduler.make_workload_key("mine", ()), target=TARGET)
    assert made.flop == 2 * 8**3 + 64
    assert SearchTask(compute_dag=program(), target=TARGET).work.key == made.work.key
    with pytest.raises(InputError, match="cannot write"):
        RecordToFile("/none/log.json")
