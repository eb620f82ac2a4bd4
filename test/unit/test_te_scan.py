"""te.scan: by definition, as loops, as machine code, with schedules; what its time loop may not become."""

# Equations are lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

from lamina.dialects.schedule.build import Schedule
from lamina.dialects.te import lib as te
from lamina.dialects.te.build import Tensor
from lamina.dialects.te.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.ir.context import LaminaContext
from lamina.passes.te_to_tir.te_to_tir import lower_function

pytestmark = pytest.mark.slow


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs, levels = _load("te_programs"), _load("te_levels")


def random(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def cumsum(m: int, n: int) -> FuncOp:
    def build(x: Tensor) -> Tensor:
        first = te.compute((1, n), lambda _, i: x[0, i], "init")
        update = lambda t, s: te.compute((n,), lambda i: s[t - 1, i] + x[t, i], "update")  # noqa: E731
        return te.scan(m, [first], update, "s")[0]

    return programs.program([(m, n)], build)


SPATIAL = [
    "",
    'te.schedule @f { %t, %i = te.loops "update" [2]\n te.parallel %i }',
    'te.schedule @f { %t, %i = te.loops "update" [2]\n %io, %ii = te.split %i [-1, 4]\n te.vectorize %ii }',
    'te.schedule @f { %t, %i = te.loops "update" [2]\n te.reorder %i, %t\n te.parallel %i }',
    'te.schedule @f { %t, %i = te.loops "update" [2]\n %to, %ti = te.split %t [-1, 2]\n te.unroll %ti }',
    'te.schedule @f { %t, %i = te.loops "update" [2]\n %f = te.fuse %t, %i }',
    'te.schedule @f { %t, %i = te.loops "init" [2]\n te.vectorize %i }',
]


@pytest.mark.parametrize("schedule", SPATIAL)
def test_a_cumulative_sum(schedule: str) -> None:
    x = random(6, 8)
    levels.agree_everywhere(cumsum(6, 8), [x], [x.cumsum(0)], schedule)


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (5, 0)])
def test_short_and_empty_scans(shape: tuple[int, int]) -> None:
    x = random(*shape)
    np.testing.assert_array_equal(run_te_func(cumsum(*shape), [x])[0], x.cumsum(0))
    np.testing.assert_array_equal(run_tir_func(lower_function(cumsum(*shape))[0], [x])[0], x.cumsum(0))


@pytest.mark.parametrize(
    ("primitives", "message"),
    [
        ("te.parallel %t", r"parallel of 's\.t': %s_out\[%t \+ 1, %i\] needs %s_out\[%t, %i\] of an earlier iteration"),
        ("te.vectorize %t", r"vectorize of 's\.t': .* cannot run at once"),
        ('te.bind %t "threadIdx.x"', r"bind of 's\.t': .* cannot run at once"),
        ("%to, %ti = te.split %t [-1, 2]\n te.parallel %to", r"parallel of 's\.t\.0': .* cannot run at once"),
        ("%to, %ti = te.split %t [-1, 2]\n te.parallel %ti", r"parallel of 's\.t\.1': .* cannot run at once"),
        ("%to, %ti = te.split %t [-1, 2]\n te.reorder %ti, %to", r"reorder of 's\.t\.1' outside of 's\.t\.0': "),
        ("%g = te.fuse %t, %i\n te.parallel %g", r"parallel of 's\.t\+update\.i': .* cannot run at once"),
    ],
)
def test_times_run_one_after_the_other(primitives: str, message: str) -> None:
    schedule = f'te.schedule @f {{ %t, %i = te.loops "update" [2]\n {primitives} }}'
    with pytest.raises(InputError, match=message):
        levels.run_scheduled(cumsum(6, 8), [random(6, 8)], schedule)


def diagonal(m: int, n: int) -> FuncOp:
    """Each element is the one before it in the row above: columns cannot run one by one over all times."""

    def build(x: Tensor) -> Tensor:
        first = te.compute((1, n), lambda _, i: x[0, i], "init")

        def element(s: Tensor, t: Any, i: Any) -> Any:
            return te.if_then_else(i >= 1, s[t - 1, i - 1], x[t, i])

        return te.scan(m, [first], lambda t, s: te.compute((n,), lambda i: element(s, t, i), "update"), "s")[0]

    return programs.program([(m, n)], build)


def test_a_skewed_dependence_keeps_its_order() -> None:
    x = random(5, 7)
    expected = np.array([[x[t - i, 0] if i <= t else x[0, i - t] for i in range(7)] for t in range(5)])
    parallel = 'te.schedule @f { %t, %i = te.loops "update" [2]\n te.parallel %i }'
    levels.agree_everywhere(diagonal(5, 7), [x], [expected], parallel)
    reordered = 'te.schedule @f { %t, %i = te.loops "update" [2]\n te.reorder %i, %t }'
    with pytest.raises(InputError, match=r"reorder of 'update\.i' outside of 's\.t': .*%s_out\[%t \+ 1, %i\] needs"):
        levels.run_scheduled(diagonal(5, 7), [x], reordered)


def cell(steps: int, n: int) -> FuncOp:
    """Two states and two stages between them; the state `h` is computed from the new `c`."""

    def build(x: Tensor, w: Tensor) -> Any:
        start = te.compute((1, n), lambda _, i: te.const(1, "float32"), "start")
        other = te.compute((1, n), lambda _, i: x[0, i] * 2.0, "other")

        def step(t: Any, h: Tensor, c: Tensor) -> Any:
            k = te.reduce_axis(n, "k")
            gate = te.compute((n,), lambda i: te.sum(h[t - 1, k] * w[k, i], k), "gate")
            shifted = te.compute((n,), lambda i: gate[i] + x[t, i], "shifted")
            new_c = te.compute((n,), lambda i: te.maximum(c[t - 1, i] * 0.5, shifted[i]), "new_c")
            new_h = te.compute((n,), lambda i: te.minimum(new_c[i], 8.0), "new_h")
            return new_h, new_c

        return tuple(te.scan(steps, [start, other], step, "cell"))

    return programs.program([(steps, n), (n, n)], build)


def cell_reference(x: Any, w: Any) -> list[Any]:
    h, c = [np.ones_like(x[0])], [x[0] * np.float32(2)]
    for t in range(1, len(x)):
        c.append(np.maximum(c[-1] * np.float32(0.5), h[-1] @ w + x[t]))
        h.append(np.minimum(c[-1], np.float32(8)))
    return [np.array(h), np.array(c)]


@pytest.mark.parametrize(
    "primitives",
    [
        "",
        'te.compute_inline "shifted"',
        '%t, %i, %k = te.loops "gate" [3]\n te.reorder %k, %i\n te.vectorize %i',
        '%t, %i = te.loops "new_c" [2]\n te.vectorize %i\n te.compute_inline "shifted"',
        '%t, %i = te.loops "new_c" [2]\n %j = te.compute_at "shifted" at %i [1]',
        '%t, %i = te.loops "shifted" [2]\n %j, %k = te.compute_at "gate" at %i [2]\n te.unroll %k',
        '%t, %i, %k = te.loops "gate" [3]\n te.set_scope "shifted" "register"\n'
        '%ts, %is = te.loops "shifted" [2]\n te.unroll %is\n %tc, %ic = te.loops "new_c" [2]\n te.unroll %ic',
    ],
)
def test_a_recurrent_cell_of_several_stages(primitives: str) -> None:
    x, w = random(5, 8), random(8, 8, seed=1)
    schedule = f"te.schedule @f {{ {primitives} }}" if primitives else ""
    levels.agree_everywhere(cell(5, 8), [x, w], cell_reference(x, w), schedule)


def test_a_state_may_look_further_back() -> None:
    def build(x: Tensor) -> Tensor:
        first = te.compute((2, 3), lambda a, i: x[a, i], "init")
        update = lambda t, s: te.compute((3,), lambda i: s[t - 1, i] + s[t - 2, i], "fib")  # noqa: E731
        return te.scan(9, [first], update, "s")[0]

    x = random(2, 3)
    expected = list(x)
    for _ in range(7):
        expected.append(expected[-1] + expected[-2])
    levels.agree_everywhere(programs.program([(2, 3)], build), [x], [np.array(expected)])


def test_a_scan_between_other_stages() -> None:
    def build(x: Tensor) -> Tensor:
        doubled = te.compute((4, 6), lambda t, i: x[t, i] * 2.0, "doubled")
        first = te.compute((1, 6), lambda _, i: doubled[0, i], "init")
        update = lambda t, s: te.compute((6,), lambda i: te.maximum(s[t - 1, i], doubled[t, i]), "u")  # noqa: E731
        (s,) = te.scan(4, [first], update, "s")
        return te.compute((4, 6), lambda t, i: s[t, i] - x[t, i], "rest")

    x = random(4, 6)
    levels.agree_everywhere(programs.program([(4, 6)], build), [x], [np.maximum.accumulate(x * 2, 0) - x])


def test_one_equation_for_two_states() -> None:
    def build(x: Tensor) -> Any:
        first = te.compute((1, 4), lambda _, i: x[0, i], "init")
        second = te.compute((1, 4), lambda _, i: x[1, i], "init2")

        def step(t: Any, a: Tensor, b: Tensor) -> Any:
            new = te.compute((4,), lambda i: a[t - 1, i] - b[t - 1, i] + x[t, i], "new")
            return new, new

        return tuple(te.scan(5, [first, second], step, "s"))

    x = random(5, 4)
    a, b = [x[0]], [x[1]]
    for t in range(1, 5):
        new = a[-1] - b[-1] + x[t]
        a.append(new)
        b.append(new)
    levels.agree_everywhere(programs.program([(5, 4)], build), [x], [np.array(a), np.array(b)])


def test_an_argmax_along_time() -> None:
    """A compute of two results inside a scan: both give states."""

    def build(x: Tensor) -> Any:
        place = te.compute((1, 5), lambda _, i: te.const(0, "int32"), "place0")
        value = te.compute((1, 5), lambda _, i: x[0, i], "value0")

        def step(t: Any, p: Tensor, v: Tensor) -> Any:
            def element(i: Any) -> Any:
                better = x[t, i] > v[t - 1, i]
                return te.select(better, te.cast(t, "int32"), p[t - 1, i]), te.select(better, x[t, i], v[t - 1, i])

            return te.compute_results((5,), element, "best")

        return tuple(te.scan(6, [place, value], step, "s"))

    x = random(6, 5)
    places = np.array([[x[: t + 1, i].argmax() for i in range(5)] for t in range(6)], np.int32)
    schedule = 'te.schedule @f { %t, %i = te.loops "best" [2]\n te.vectorize %i }'
    expected = [places, np.maximum.accumulate(x, 0)]
    levels.agree_everywhere(programs.program([(6, 5)], build), [x], expected, schedule)


SYMBOLIC = """
te.func @f(%m: index, %n: index, %X: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}) -> tensor<?x?xf32> {
  %first = te.compute "first" [1, %n] (%z, %i) : tensor<1x?xf32> {
    %x = te.read %X[0, %i] where [%m - 1 >= 0] : tensor<?x?xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [%m] (%t) (%state = %first) : (tensor<1x?xf32>) -> tensor<?x?xf32> {
    %next = te.compute "next" [%n] (%i) : tensor<?xf32> {
      %a = te.read %state[%t - 1, %i] : tensor<?x?xf32>
      %x = te.read %X[%t, %i] : tensor<?x?xf32>
      %b = arith.addf %a, %x : f32
      te.yield %b : f32
    }
    te.yield %next : tensor<?xf32>
  }
  te.return %s : tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("shape", [(0, 3), (1, 4), (2, 0), (5, 7)])
def test_a_scan_of_unknown_length(shape: tuple[int, int]) -> None:
    (func,) = Parser(LaminaContext(), SYMBOLIC).parse_module().ops
    assert isinstance(func, FuncOp)
    func.verify()
    x = random(*shape)
    np.testing.assert_array_equal(run_te_func(func, [*map(np.asarray, shape), x])[0], x.cumsum(0))
    found = run_tir_func(lower_function(func)[0], [*map(np.asarray, shape), x])
    np.testing.assert_array_equal(found[0], x.cumsum(0))


def test_a_schedule_from_python_names_the_time_loop() -> None:
    func = cell(5, 8)
    s = Schedule(func)
    t, i, k = s.loops("gate")
    s.reorder(k, i)
    _, j = s.loops("shifted")
    s.split(j, [-1, 4])
    text = str(s.build())
    assert '%t, %i, %k = te.loops "gate" [3]' in text
    x, w = random(5, 8), random(8, 8, seed=1)
    levels.agree_everywhere(func, [x, w], cell_reference(x, w), text)


def test_a_time_loop_of_one_iteration_has_no_earlier_one() -> None:
    x = random(2, 8)
    schedule = 'te.schedule @f { %t, %i = te.loops "update" [2]\n te.parallel %t }'
    levels.agree_everywhere(cumsum(2, 8), [x], [x.cumsum(0)], schedule)
