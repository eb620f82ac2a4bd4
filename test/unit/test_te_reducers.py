"""Computes of several results and reducers given as regions: by definition, as loops, as machine code, scheduled."""

# Equations are lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import importlib.util
import operator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from lamina.dialects.te import lib as te
from lamina.dialects.te.build import Reducer, Tensor
from lamina.dialects.te.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.te_interpreter import run_te_func

pytestmark = pytest.mark.slow


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs, levels = _load("te_programs"), _load("te_levels")


def random(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray[Any, Any]:
    values = np.random.default_rng(seed).integers(-9, 10, shape)
    return values.astype(dtype)


def arg_reducer(greater: bool = True) -> Reducer:
    """Place and value of the extreme; of equals the first place, whatever the order of terms."""

    def combine(x: Any, y: Any) -> Any:
        better = x[1] > y[1] if greater else x[1] < y[1]
        first = better | (te.equal(x[1], y[1]) & (x[0] < y[0]))
        return te.select(first, x[0], y[0]), te.select(first, x[1], y[1])

    lowest = float("-inf") if greater else float("inf")
    return te.comm_reducer(combine, lambda t0, t1: (2**31 - 1, lowest))


def argmax(m: int, n: int, dtype: str = "float32") -> FuncOp:
    def build(x: Tensor) -> Any:
        k = te.reduce_axis(n, "k")
        return tuple(te.compute_results((m,), lambda i: arg_reducer()((te.cast(k, "int32"), x[i, k]), k), "argmax"))

    return programs.program([(m, n)], build, dtype)


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_an_axis_is_compared_as_python_does(compare: Any) -> None:
    def build(x: Tensor) -> Any:
        k = te.reduce_axis(7, "k")
        return te.compute((1,), lambda _: te.sum(te.if_then_else(compare(k, 3), x[k], 0.0), [k]), "y")

    powers = np.float32(2) ** np.arange(7, dtype=np.float32)
    expected = sum(p for n, p in enumerate(powers) if compare(n, 3))
    (found,) = run_te_func(programs.program([(7,)], build), [powers])
    assert found[0] == expected


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (16, 33), (5, 1)])
def test_argmax_is_numpys(shape: tuple[int, int]) -> None:
    x = random(*shape)
    levels.agree_everywhere(argmax(*shape), [x], [x.argmax(1).astype(np.int32), x.max(1)])


@pytest.mark.parametrize(
    "primitives",
    [
        "te.parallel %i",
        "%io, %ii = te.split %i [-1, 8]\n te.reorder %io, %k, %ii\n te.vectorize %ii",
        "%ko, %ki = te.split %k [-1, 4]\n te.reorder %ko, %i, %ki",
        "te.reorder %k, %i",
        "%ko, %ki = te.split %k [-1, 4]\n te.unroll %ki",
    ],
)
def test_scheduled_argmax_is_numpys(primitives: str) -> None:
    x = random(19, 13)
    schedule = f'te.schedule @f {{ %i, %k = te.loops "argmax" [2]\n {primitives} }}'
    levels.agree_everywhere(argmax(19, 13), [x], [x.argmax(1).astype(np.int32), x.max(1)], schedule)


def test_a_reduction_over_nothing_is_the_identity() -> None:
    x = np.zeros((4, 0), np.float32)
    none = np.full(4, 2**31 - 1, np.int32)
    levels.agree_everywhere(argmax(4, 0), [x], [none, np.full(4, -np.inf, np.float32)])


def test_argmin_over_two_axes_counts_in_row_major_order() -> None:
    def build(x: Tensor) -> Any:
        a, b = te.reduce_axis(4, "a"), te.reduce_axis(5, "b")
        place = lambda: te.cast(a * 5 + b, "int32")  # noqa: E731
        return tuple(te.compute_results((3,), lambda i: arg_reducer(False)((place(), x[a, i, b]), [a, b]), "argmin"))

    x = random(4, 3, 5, seed=3)
    rows = x.transpose(1, 0, 2).reshape(3, 20)
    expected = [rows.argmin(1).astype(np.int32), rows.min(1)]
    levels.agree_everywhere(programs.program([(4, 3, 5)], build), [x], expected)


def test_welfords_sums_give_mean_and_variance() -> None:
    def combine(x: Any, y: Any) -> Any:
        count = x[0] + y[0]
        some = te.maximum(count, 1.0)
        delta = y[1] - x[1]
        return count, x[1] + delta * y[0] / some, x[2] + y[2] + delta * delta * x[0] * y[0] / some

    moments = te.comm_reducer(combine, lambda *t: (0.0, 0.0, 0.0))

    def build(x: Tensor) -> Any:
        k = te.reduce_axis(50, "k")
        one = lambda: te.const(1.0, "float64")  # noqa: E731
        zero = lambda: te.const(0.0, "float64")  # noqa: E731
        n, mean, square = te.compute_results((6,), lambda i: moments((one(), x[i, k], zero()), k), "moments")
        return mean, te.compute((6,), lambda i: square[i] / n[i], "variance")

    x = np.random.default_rng(1).standard_normal((6, 50))
    levels.agree_everywhere(programs.program([(6, 50)], build, "float64"), [x], [x.mean(1), x.var(1)], rtol=1e-12)


def test_one_value_with_a_combining_function() -> None:
    largest = te.comm_reducer(lambda x, y: te.select(te.abs(x) > te.abs(y), x, y), lambda t: 0)

    def build(x: Tensor) -> Tensor:
        k = te.reduce_axis(8, "k")
        return te.compute((5,), lambda i: largest(x[i, k], k, where=k > 1), "largest")

    x = random(5, 8, dtype="int32", seed=4)
    x[:, 3] = 20  # no ties
    x[1, 5] = -30
    part = x[:, 2:]
    expected = np.take_along_axis(part, np.abs(part).argmax(1)[:, None], 1)[:, 0]
    levels.agree_everywhere(programs.program([(5, 8)], build, "int32"), [x], [expected])


def test_two_results_of_one_equation_and_one_that_reads_both() -> None:
    def build(x: Tensor, y: Tensor) -> Any:
        total, difference = te.compute_results((6, 10), lambda i, j: (x[i, j] + y[i, j], x[i, j] - y[i, j]), "both")
        return difference, te.compute((6, 10), lambda i, j: total[i, j] * difference[i, j], "product")

    x, y = random(6, 10), random(6, 10, seed=1)
    func = programs.program([(6, 10), (6, 10)], build)
    schedule = """te.schedule @f {
      %i, %j = te.loops "both" [2]
      %jo, %ji = te.split %j [-1, 4]
      te.vectorize %ji
      te.parallel %i
    }"""
    levels.agree_everywhere(func, [x, y], [x - y, (x + y) * (x - y)], schedule)


def test_results_of_several_dtypes() -> None:
    def build(x: Tensor) -> Any:
        return tuple(te.compute_results((7,), lambda i: (x[i] > 0, te.cast(x[i], "int8"), x[i] * 0.5), "three"))

    x = random(7)
    expected = [x > 0, x.astype(np.int8), x * np.float32(0.5)]
    levels.agree_everywhere(programs.program([(7,)], build), [x], expected)


def test_the_fold_is_in_order() -> None:
    """`first` is not commutative: the definition folds from the first term on."""
    last = te.comm_reducer(lambda x, y: y, lambda t: -1)

    def build(x: Tensor) -> Tensor:
        a, b = te.reduce_axis(3, "a"), te.reduce_axis(4, "b")
        return te.compute((2,), lambda i: last(x[i, a, b], [a, b]), "last")

    x = random(2, 3, 4, dtype="int32")
    np.testing.assert_array_equal(run_te_func(programs.program([(2, 3, 4)], build, "int32"), [x])[0], x[:, -1, -1])


def test_a_reducer_that_gives_other_dtypes_is_refused() -> None:
    def build(x: Tensor) -> Tensor:
        k = te.reduce_axis(8, "k")
        return te.compute((5,), lambda i: te.comm_reducer(lambda a, b: a > b, lambda t: 0)(x[i, k], k), "odd")

    with pytest.raises(TypeError, match="mixes bool and float32"):
        programs.program([(5, 8)], build)


def best_of_sum(rows: int, n: int) -> FuncOp:
    """Two results, then a reduction of two results, then a stage that reads one of them."""

    def build(x: Tensor, y: Tensor) -> Any:
        def both(i: Any, j: Any) -> Any:
            return x[i, j] + y[i, j], x[i, j] - y[i, j]

        total, difference = te.compute_results((rows, n), both, "both")
        k = te.reduce_axis(n, "k")

        def element(i: Any) -> Any:
            return arg_reducer()((te.cast(k, "int32"), total[i, k] * difference[i, k]), k)

        place, value = te.compute_results((rows,), element, "best")
        return te.compute((rows,), lambda i: value[i] + te.cast(place[i], "float32"), "out")

    return programs.program([(rows, n), (rows, n)], build)


@pytest.mark.parametrize(
    "primitives",
    [
        'te.compute_inline "both"',
        '%i, %k = te.loops "best" [2]\n %a, %b = te.compute_at "both" at %i [2]\n te.vectorize %b',
        '%i, %k = te.loops "best" [2]\n %a, %b = te.compute_at "both" at %k [2]',
        '%i = te.loops "out" [1]\n %io, %ii = te.split %i [-1, 4]\n'
        '%a, %k = te.compute_at "best" at %io [2]\n te.reorder %k, %a\n te.vectorize %a\n te.parallel %io',
        '%i = te.loops "out" [1]\n %io, %ii = te.split %i [2, -1]\n'
        '%a, %k = te.compute_at "best" at %io [2]\n te.reorder %k, %a\n te.set_scope "best" "register"\n'
        "te.unroll %a\n te.unroll %ii",
        'te.cache_write "best" scope "global"\n %i, %k = te.loops "best" [2]\n te.reorder %k, %i\n te.vectorize %i',
        'te.cache_write "both" scope "global"',
        '%i, %k = te.loops "best" [2]\n %c = te.cache_read "both.v1" in "best" at %i scope "global" [1]',
        'te.set_scope "best" "global"\n te.set_scope "both" "global"',
    ],
)
def test_stages_of_two_results_are_moved_as_one(primitives: str) -> None:
    x, y = random(10, 6), random(10, 6, seed=1)
    product = (x + y) * (x - y)
    expected = product.max(1) + product.argmax(1).astype(np.float32)
    levels.agree_everywhere(best_of_sum(10, 6), [x, y], [expected], f"te.schedule @f {{ {primitives} }}")


def test_a_consumer_of_both_results_does_not_follow_their_producer() -> None:
    primitives = '%i, %k = te.loops "best" [2]\n %a = te.reverse_compute_at "out" at %i [1]'
    x = random(10, 6)
    with pytest.raises(InputError, match="it reads more than one stage computed in the loop 'best.i'"):
        levels.run_scheduled(best_of_sum(10, 6), [x, x], f"te.schedule @f {{ {primitives} }}")


def test_a_result_is_meant_by_its_name() -> None:
    primitives = '%i, %k = te.loops "best" [2]\n %c = te.cache_read "both" in "best" at %i scope "global" [1]'
    x = random(10, 6)
    with pytest.raises(InputError, match=r"stage 'both' computes 2 tensors; one of them is meant: both\.v0, both\.v1"):
        levels.run_scheduled(best_of_sum(10, 6), [x, x], f"te.schedule @f {{ {primitives} }}")
