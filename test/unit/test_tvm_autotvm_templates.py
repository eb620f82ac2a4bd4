"""AutoTVM's templates: knobs and their choices, configurations by number, tuners over them, what a log applies."""

# pyright: standard

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lamina import te
from lamina.compat import tvm
from lamina.compat.tvm import autotvm
from lamina.compat.tvm.autotvm import task, tuner
from lamina.compat.tvm.autotvm.task.space import ConfigEntity, ConfigSpace, InstantiationError
from lamina.compat.tvm.autotvm.task.template import TemplateSpace, TemplateTask, configured
from lamina.dialects.schedule.records import Record
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.tuning.boosted_trees import Ranker, Tree
from lamina.tuning.measuring import measure
from lamina.tuning.spaces import Measured

OPTION = autotvm.measure_option("local", autotvm.LocalRunner(number=5))


@autotvm.template("tutorial/matmul")
def matmul(n: int, l: int, m: int, dtype: str) -> Any:  # noqa: E741
    """The tutorial's template."""
    a = te.placeholder((n, l), name="A", dtype=dtype)
    b = te.placeholder((l, m), name="B", dtype=dtype)
    k = te.reduce_axis((0, l), name="k")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    y, x = s[c].op.axis
    k = s[c].op.reduce_axis[0]
    cfg = autotvm.get_config()
    cfg.define_split("tile_y", y, num_outputs=2)
    cfg.define_split("tile_x", x, num_outputs=2)
    yo, yi = cfg["tile_y"].apply(s, c, y)
    xo, xi = cfg["tile_x"].apply(s, c, x)
    s[c].reorder(yo, xo, k, yi, xi)
    return s, [a, b, c]


@pytest.fixture
def made() -> TemplateTask:
    return task.create("tutorial/matmul", args=(16, 12, 24, "float32"), target="llvm -num-cores=1")


# -- knobs ---------------------------------------------------------------------------------------------------------


def space(**knobs: Any) -> ConfigSpace:
    """A space of splits: policies and options by the knobs' names."""
    found = ConfigSpace()
    for name, (extent, options) in knobs.items():
        found.define_split(name, found.axis(extent), **options)
    return found


@pytest.mark.parametrize(
    ("extent", "options", "sizes"),
    [
        (12, {}, [[-1, 1], [-1, 2], [-1, 3], [-1, 4], [-1, 6], [-1, 12]]),
        (12, {"max_factor": 3}, [[-1, 1], [-1, 2], [-1, 3]]),
        (12, {"policy": "power2"}, [[-1, 1], [-1, 2], [-1, 4], [-1, 8]]),
        (6, {"policy": "verbose"}, [[-1, 1], [-1, 2], [-1, 3], [-1, 4], [-1, 6]]),
        (4, {"num_outputs": 3}, [[-1, 1, 1], [-1, 2, 1], [-1, 4, 1], [-1, 1, 2], [-1, 2, 2], [-1, 1, 4]]),
        (64, {"policy": "candidate", "candidate": [[-1, 8], [-1, 48]]}, [[-1, 8], [-1, 48]]),
        (12, {"filter": lambda entity: entity.size[-1] > 3}, [[-1, 4], [-1, 6], [-1, 12]]),
    ],
)
def test_splits(extent: int, options: dict[str, Any], sizes: list[list[int]]) -> None:
    assert [list(e.size) for e in space(k=(extent, options)).space_map["k"]] == sizes


@pytest.mark.parametrize(
    ("policy", "options", "orders"),
    [
        ("identity", {}, [(0, 1, 2)]),
        ("all", {}, 6),
        ("interval", {"interval": (1, 3)}, [(0, 1, 2), (0, 2, 1)]),
        ("candidate", {"candidate": [["c", "a", "b"]]}, [(2, 0, 1)]),
        ("interleave", {"spatial": [["a", "b"]], "reduce": [["c"]]}, [(0, 1, 2), (0, 2, 1), (2, 0, 1)]),
    ],
)
def test_orders(policy: str, options: dict[str, Any], orders: Any) -> None:
    found = ConfigSpace()
    found.define_reorder("order", ["a", "b", "c"], policy, **options)
    perms = [e.perm for e in found.space_map["order"]]
    assert perms == orders if isinstance(orders, list) else len(set(perms)) == orders


@pytest.mark.parametrize(
    ("policy", "ways"),
    [
        ("unroll", [("unroll", "unroll")]),
        ("try_unroll", [("none", "none"), ("none", "unroll"), ("unroll", "none"), ("unroll", "unroll")]),
        ("try_vec", [("none", "none"), ("none", "vec")]),
        ("try_unroll_vec", [(a, b) for a in ("none", "unroll") for b in ("none", "unroll", "vec")]),
    ],
)
def test_annotations(policy: str, ways: list[tuple[str, ...]]) -> None:
    found = ConfigSpace()
    found.define_annotate("ann", ["a", "b"], policy)
    assert [e.anns for e in found.space_map["ann"]] == ways


def test_numbers_of_configurations() -> None:
    found = space(y=(12, {}), x=(4, {}))
    found.define_knob("unroll", [False, True])
    assert len(found) == 6 * 3 * 2
    config = found.get(1 + 6 * (2 + 3 * 1))
    assert (config["y"].size, config["x"].size, config["unroll"].val) == ((-1, 2), (-1, 4), True)
    for index in range(len(found)):
        assert found.index_of(found.digits(index)) == index
        again = ConfigEntity.from_json_dict(found.get(index).to_json_dict())
        assert [e.json() for e in again.entity_map.values()] == [e.json() for e in found.get(index).entity_map.values()]
    assert "0 y: Split (len=6)" in str(found) and str(found).startswith("ConfigSpace (len=36")
    with pytest.raises(UsageError, match="36 configurations, and none of the number 36"):
        found.get(36)


def test_a_few_knobs_are_drawn() -> None:
    found, r = space(**{f"k{n}": (64, {}) for n in range(20)}), random.Random(0)
    base = [3] * 20
    changed = [sum(a != b for a, b in zip(found.redrawn(base, 2, r), base, strict=True)) for _ in range(300)]
    assert 1.3 < sum(changed) / 300 < 2.2, "one in seven draws what was there"
    assert any(n > 12 for n in (sum(a != 3 for a in found.redrawn(base, 99, r)) for _ in range(9)))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: s.define_split("k", 8, policy="factor"), "policy 'factor'"),
        (lambda s: s.define_split("k", "y"), "'y' is no axis of a known extent"),
        (lambda s: s.define_split("k", 8, filter=lambda e: False), "'k' has no choice"),
        (lambda s: s.define_reorder("k", [1, 2], "some"), "policy 'some'"),
        (lambda s: s.define_annotate("k", [1], "spin"), "policy 'spin'"),
        (lambda s: s.define_annotate("k", [1], "candidate", candidate=[["spin"]]), "\\['spin'\\] for 1 axes"),
        (lambda s: s["tile"], "no knob 'tile' was defined"),
        (lambda s: autotvm.get_config(), "no template runs"),
        (lambda s: task.create("tutorial/matmull", (), "llvm"), "no template is called 'tutorial/matmull'"),
        (lambda s: ConfigEntity(0, {})["tile"], "has no knob 'tile'"),
    ],
)
def test_mistakes(call: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call(ConfigSpace())


def test_logs_of_others_are_refused() -> None:
    for data in ({}, {"entity": [["k", "xx", 1]], "index": 0}, {"entity": [["k", "sp", 3]], "index": 0}):
        with pytest.raises(InputError, match="no configuration|no kind of knob"):
            ConfigEntity.from_json_dict(data)


# -- templates -----------------------------------------------------------------------------------------------------


def test_each_configuration_computes_the_same(made: TemplateTask) -> None:
    assert len(made.config_space) == 5 * 8 and made.flop == 2 * 16 * 12 * 24
    control = made.work.program(made.work.schedule)
    traces = [made.trace(made.config_space.get(n)) for n in (0, 7, 23, 39)]
    assert len(set(traces)) == 4
    for trace in traces[1:]:
        assert "ratio" in measure(control, made.work.program(trace), [], 1.0, [])


def test_a_space_draws_and_crosses_what_it_knows(made: TemplateTask) -> None:
    found, r = TemplateSpace(made), random.Random(0)
    a, b = (found.numbered(n).space for n in (0, 39))
    assert found.decided(a) == {"tile_y": [-1, 1], "tile_x": [-1, 1]}
    assert found.decided(b) == {"tile_y": [-1, 16], "tile_x": [-1, 24]} and found.decided("another") == {}
    parents = [Measured(trace, found.decided(trace), 1.0) for trace in (a, b)]
    children = [found.decided(found.crossed(parents[0], parents[1], 0.0, r).space) for _ in range(20)]
    assert len({str(c) for c in children}) == 4
    near = [found.decided(found.drawn(r, 0.1, b).space) for _ in range(20)]
    assert all((d["tile_y"] == [-1, 16]) or (d["tile_x"] == [-1, 24]) for d in near), "one knob differs"
    # A ranking that puts large tiles of x first.
    trees = Ranker([Tree([0, -1, -1], [5.0, 1.0, 0.0], [1, -1, -1])])
    chosen = [found.decided(found.drawn(r, ranking=(["tile_x.1"], trees.json())).space) for _ in range(40)]
    assert sum(d["tile_x"][1] > 5 for d in chosen) > 34, "of four draws"


@autotvm.template
def picky(n: int) -> Any:
    """Refuses tiles of 4, annotates, and has a value."""
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    s = te.create_schedule(b.op)
    cfg = autotvm.get_config()
    cfg.define_split("tile", s[b].op.axis[0])
    cfg.define_annotate("inner", [0], "try_unroll_vec")
    cfg.define_knob("even", [True, False])
    outer, inner = cfg["tile"].apply(s, b, s[b].op.axis[0])
    if cfg["tile"].size[-1] == 4:
        cfg.raise_error("tiles of 4 are not wanted")
    cfg["inner"].apply(s, b, [inner], axis_lens=[cfg["tile"].size[-1]], max_unroll=8, vec_size=[8, 16])
    if not cfg["even"].val:
        s[b].unroll(outer)
    return s, [a, b]


def test_what_a_template_refuses_is_a_refusal() -> None:
    made = task.create("picky", (16,), "llvm -num-cores=1")
    sizes = {1: "", 4: "tiles of 4 are not wanted", 16: ""}
    for index in range(len(made.config_space)):
        config = made.config_space.get(index)
        length, way = config["tile"].size[-1], config["inner"].anns[0]
        refused = sizes.get(length, "")
        if way == "unroll" and length > 8:
            refused = "unrolls 16 iterations, more than 8"
        if way == "vec" and length not in (8, 16) and not refused:
            refused = f"vectorizes {length} iterations"
        candidate = TemplateSpace(made).numbered(index)
        assert (refused in candidate.refusal) if refused else not candidate.refusal
    with pytest.raises(InstantiationError, match="not wanted"):
        made.trace(next(c for n in range(30) if (c := made.config_space.get(n))["tile"].size[-1] == 4))


@autotvm.template("other")
def other_work(n: int) -> Any:
    """Computes something else with its second choice."""
    a = te.placeholder((n,), name="A")
    cfg = autotvm.get_config()
    cfg.define_knob("twice", [1, 2])
    factor = float(cfg["twice"].val)
    b = te.compute((n,), lambda i: a[i] * factor, name="B")
    s = te.create_schedule(b.op)
    s[b].split(s[b].op.axis[0], 4)
    return s, [a, b]


def test_a_template_computes_one_thing() -> None:
    made = task.create("other", (16,), "llvm")
    with pytest.raises(UnsupportedError, match="computes in another way with other knobs"):
        made.trace(made.config_space.get(1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["RandomTuner", "GridSearchTuner", "GATuner", "XGBTuner"])
def test_a_template_is_tuned_and_its_log_applied(
    made: TemplateTask, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "matmul.log"
    found = getattr(tuner, kind)(made)
    found.tune(n_trial=3, measure_option=OPTION, callbacks=[autotvm.callback.log_to_file(log)])
    assert len(found.records) >= 3 and found.best_config["tile_y"].size[0] == -1
    with autotvm.apply_history_best(str(log)), tvm.target.Target("llvm"):
        s, tensors = matmul(16, 12, 24, "float32")
    assert capsys.readouterr().err == ""
    func = tvm.build(s, tensors, "llvm")
    r = np.random.default_rng(0)
    a, b = (tvm.nd.array(r.standard_normal(shape).astype(np.float32)) for shape in ((16, 12), (12, 24)))
    out = tvm.nd.empty((16, 24))
    func(a, b, out)
    np.testing.assert_allclose(out.numpy(), a.numpy() @ b.numpy(), rtol=1e-5, atol=1e-5)


def test_the_fastest_of_a_log_is_taken(made: TemplateTask, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where it is slower than the first choice of each knob, which nobody has written."""
    log = tmp_path / "matmul.log"
    outcome = autotvm.MeasureResult((0.001,), 0, 0.5, 1.0)
    for index, ratio in ((7, 1.4), (23, 1.2), (31, 1.3)):
        config = made.config_space.get(index)
        kept = Record(*made.work.place, made.trace(config), (ratio, ratio, ratio), 0.001)
        line = autotvm.record.encode(autotvm.MeasureInput(made.target, made, config, kept), outcome)
        with log.open("a") as file:
            file.write(line + "\n")
    with autotvm.apply_history_best(log) as history:
        best = history.query(made.workload)
        assert best is not None and best.index == 23
        assert str(tvm.lower(*matmul(16, 12, 24, "float32"))) == lowered(made, 23)
        assert capsys.readouterr().err == ""
        matmul(8, 12, 24, "float32")
    assert "no configuration of tutorial/matmul for (8, 12, 24, 'float32') is known" in capsys.readouterr().err
    assert str(tvm.lower(*matmul(16, 12, 24, "float32"))) == lowered(made, 0)


def lowered(made: TemplateTask, index: int) -> str:
    with configured(made.config_space.get(index)):
        return str(tvm.lower(*matmul(*made.args)))
