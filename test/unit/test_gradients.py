"""Every op's gradient against central differences of its numpy oracle in f64, on its samples.

A sample's floats are made f64, its values drawn as for the other facets. An element where the differences to both
sides disagree lies on a kink or a step (the edge of a clip, a tie of a maximum): there is no gradient to compare with,
and another is taken. Samples of special values (`finite=False`) are left out.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

import lamina
from lamina.dialects.dtypes import is_float, tensor_type
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp, constant_array
from lamina.dialects.relay.grad.facet import NoGradient, constant, op_gradients
from lamina.dialects.relay.meaning import np_results, result_infos
from lamina.dialects.rules.op_protocol import Sample
from lamina.dialects.rules.terms import inserting
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.passes.relay.functional.first_order_gradient import FirstOrderGradient

sys.path.insert(0, str(Path(__file__).parent))
from test_facets import NAMES, arrays_of, every_op, load, valid_samples  # noqa: E402

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

STEP = 1e-6
ELEMENTS = 10
"""How many elements of an operand are moved."""
FLOATS = ("float16", "bfloat16", "float32", "float64")
STEPS = {"relay.trunc_divide": (7,)}
"""Samples with quotients so large that a step of the difference crosses many of theirs: they look smooth."""


def has_gradient(op_type: Any) -> bool:
    return hasattr(op_type, "relay_grad") or hasattr(op_type, "decompose")


def is_real(op_type: Any, s: Sample) -> bool:
    """Whether floats go in and come out."""
    results = result_infos(op_type, s.operands, s.attrs)
    return any(is_float(o.dtype) for o in s.operands) and any(is_float(i.dtype) for i in results)


def real_samples(op_type: type[RelayOp]) -> list[tuple[int, Sample]]:
    """The samples on which the op is a function from floats to floats, in f64."""
    found: list[tuple[int, Sample]] = []
    for n, s in valid_samples(op_type):
        if not s.finite or n in STEPS.get(op_type.name, ()) or not is_real(op_type, s):
            continue
        wide = replace(
            s,
            operands=tuple(o._replace(dtype="float64") if is_float(o.dtype) else o for o in s.operands),
            attrs={k: "float64" if v in FLOATS else v for k, v in s.attrs.items() if not isinstance(v, np.ndarray)},
        )
        try:
            result_infos(op_type, wide.operands, wide.attrs)
        except TypeMismatch:
            continue  # the op takes no f64
        found.append((n, wide))
    return found


class Built:
    """An op and its gradients, in a module."""

    def __init__(self, op_type: type[RelayOp], s: Sample, weights: list[Array | None]) -> None:
        self.source = TestOp(result_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
        self.op = op_type.make(*self.source.results, **s.attrs)
        self.module = ModuleOp([self.source, self.op])
        with inserting(Builder(InsertPoint.at_end(self.module.body.block))):
            grads = [None if w is None else constant(w) for w in weights]
            self.gradients = op_gradients(self.op, grads)

    def values(self, arrays: list[Array]) -> list[Array | None]:
        """The gradients by the oracles of the ops they are made of."""
        env: dict[Any, Array] = dict(zip(self.source.results, arrays, strict=True))
        for op in self.module.body.block.ops:
            if isinstance(op, ConstantOp):
                env[op.result] = constant_array(op, None)
            elif isinstance(op, RelayOp):
                env.update(
                    zip(op.results, np_results(type(op), [env[o] for o in op.operands], attrs_of(op)), strict=True)
                )
        return [None if g is None else env[g] for g in self.gradients]


def weights_for(op_type: type[RelayOp], s: Sample, random: np.random.Generator) -> list[Array | None]:
    """A random gradient for each result that is a float."""
    return [
        np.asarray(random.normal(size=i.shape)).astype(np.float64) if is_float(i.dtype) else None
        for i in result_infos(op_type, s.operands, s.attrs)
    ]


def weighted(op_type: type[RelayOp], s: Sample, arrays: list[Array], weights: list[Array | None]) -> float:
    results = np_results(op_type, arrays, s.attrs)
    with np.errstate(all="ignore"):
        return sum(float(np.sum(w * y)) for w, y in zip(weights, results, strict=True) if w is not None)


def moved(arrays: list[Array], operand: int, place: int, by: float) -> list[Array]:
    copy = arrays[operand].copy()
    copy.reshape(-1)[place] += by
    return [*arrays[:operand], copy, *arrays[operand + 1 :]]


def check(op_type: type[RelayOp], n: int, s: Sample) -> int:
    """Compare the gradients on a sample: how many elements were compared."""
    random = np.random.default_rng([n, *op_type.name.encode()])
    arrays = arrays_of(op_type.name, n, s)
    weights = weights_for(op_type, s, random)
    found = Built(op_type, s, weights).values(arrays)
    here = weighted(op_type, s, arrays, weights)
    compared = 0
    for k, (operand, grad) in enumerate(zip(s.operands, found, strict=True)):
        if not is_float(operand.dtype):
            assert grad is None
            continue
        flat = np.zeros(arrays[k].size) if grad is None else grad.reshape(-1)
        for place in random.permutation(arrays[k].size)[:ELEMENTS]:
            above = weighted(op_type, s, moved(arrays, k, place, STEP), weights)
            below = weighted(op_type, s, moved(arrays, k, place, -STEP), weights)
            slopes = (above - here) / STEP, (here - below) / STEP
            size = max(1.0, abs(here), abs(slopes[0]), abs(slopes[1]))
            if abs(slopes[0] - slopes[1]) > 1e-3 * size:
                continue
            compared += 1
            expected = (above - below) / (2 * STEP)
            close = np.isclose(flat[place], expected, rtol=0, atol=1e-5 * size, equal_nan=True)
            assert close, f"sample {n}, operand {k} at {place}: {flat[place]}, by differences {expected}: {s}"
    return compared


@every_op
def test_gradient_is_that_of_finite_differences(name: str) -> None:
    op_type = load(name)
    if not has_gradient(op_type):
        pytest.skip("the op has no gradient")
    if name.startswith("relay.qnn."):
        pytest.skip("rounded to whole numbers")
    samples = real_samples(op_type)
    if not samples:
        pytest.skip("no floats go in and come out")
    assert sum(check(op_type, n, s) for n, s in samples) >= 4


@every_op
def test_gradients_have_the_types_of_the_operands(name: str) -> None:
    op_type = load(name)
    if not has_gradient(op_type) or name.startswith("relay.qnn."):
        pytest.skip("the op has no gradient")
    for n, s in valid_samples(op_type):
        if not is_real(op_type, s):
            continue
        infos = result_infos(op_type, s.operands, s.attrs)
        weights = [np.zeros(i.shape, i.dtype) if is_float(i.dtype) and i.dtype != "bfloat16" else None for i in infos]
        if None in [w if w is None else 0 for w in weights]:
            continue
        try:
            built = Built(op_type, s, weights)
        except NoGradient:
            continue
        for grad, operand in zip(built.gradients, built.source.results, strict=True):
            assert grad is None or grad.type == operand.type, f"sample {n}: {grad.type} for {operand.type}: {s}"
        built.module.verify()


def scatter_gradients(name: str, arrays: list[Array], weights: Array, **attrs: Any) -> tuple[Array, Array]:
    """The gradients of a scatter's data and of its updates."""
    infos = tuple(TensorInfo(a.shape, a.dtype.name) for a in arrays)
    into_data, _, into_updates = Built(load(name), Sample(infos, attrs), [weights]).values(arrays)
    assert into_data is not None and into_updates is not None
    return into_data, into_updates


def test_zeros_among_the_factors_of_a_scatter() -> None:
    """The gradient of a factor is the product of the others, also where it is zero, and where they are."""
    data = np.array([2.0, 0.0, 3.0, 0.0, 5.0])
    places = np.array([0, 0, 1, 2, 2, 2, 3, -1, 5, -6, 0, 4])
    updates = np.array([7.0, 0.5, 3.0, 0.0, 2.0, 0.0, 0.0, -4.0, 9.0, 0.0, 1.5, 0.0])
    weights = np.array([1.0, -2.0, 3.0, 0.5, 1.5])
    into_data, into_updates = np.zeros(5), np.zeros(len(places))
    for p in range(5):
        mine = [n for n, i in enumerate(places) if -5 <= i < 5 and i % 5 == p]
        into_data[p] = weights[p] * np.prod(updates[mine])
        for n in mine:
            into_updates[n] = weights[p] * data[p] * np.prod(updates[[m for m in mine if m != n]])
    assert np.flatnonzero(into_updates).tolist() == [0, 1, 10, 11] and np.flatnonzero(into_data).tolist() == [0, 1]
    found = scatter_gradients("relay.scatter_elements", [data, places, updates], weights, reduction="mul")
    np.testing.assert_allclose(found[0], into_data)
    np.testing.assert_allclose(found[1], into_updates)
    found = scatter_gradients("relay.scatter_nd", [data, places[None], updates], weights, mode="mul")
    np.testing.assert_allclose(found[0], into_data)
    np.testing.assert_allclose(found[1], into_updates)


@pytest.mark.parametrize(("reduction", "sign"), [("max", 1.0), ("min", -1.0)])
def test_those_that_are_the_extremum_of_a_scatter_share_its_gradient(reduction: str, sign: float) -> None:
    data, places = np.array([1.0, 4.0, 2.0]), np.array([0, 0, 0, 1, -2, 2, 3])
    updates = np.array([3.0, 3.0, 2.0, 4.0, 4.0, 1.0, 9.0])
    arrays = [sign * data, places, sign * updates]
    into_data, into_updates = scatter_gradients(
        "relay.scatter_elements", arrays, np.array([2.0, 6.0, 5.0]), reduction=reduction
    )
    np.testing.assert_allclose(into_data, [0, 2, 5])
    np.testing.assert_allclose(into_updates, [1, 1, 0, 2, 2, 0, 0])


def test_every_update_halves_what_stands_before_it() -> None:
    arrays = [np.ones((2, 3)), np.array([[0, 1, 0, -3, 3], [1, 1, 1, 2, -4]]), np.ones((2, 5))]
    weights = np.array([[8.0, 1.0, 2.0], [1.0, 8.0, 2.0]])
    into_data, into_updates = scatter_gradients("relay.scatter_elements", arrays, weights, axis=1, reduction="mean")
    np.testing.assert_allclose(into_data, [[1, 0.5, 2], [1, 1, 1]])
    np.testing.assert_allclose(into_updates, [[1, 0.5, 2, 4, 0], [1, 2, 4, 1, 0]])


@pytest.mark.long
@every_op
def test_gradients_compile(name: str) -> None:
    """The first sample in f32, from the pass to machine code."""
    op_type = load(name)
    if not has_gradient(op_type) or name.startswith("relay.qnn."):
        pytest.skip("the op has no gradient")
    single = (
        (n, s)
        for n, s in valid_samples(op_type)
        if s.finite and is_real(op_type, s) and {o.dtype for o in s.operands if is_float(o.dtype)} == {"float32"}
    )
    n, s = next(single, (0, None))
    if s is None:
        pytest.skip("no floats go in and come out")
    block = Block(arg_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
    op = op_type.make(*block.args, **s.attrs)
    block.add_ops([op, func.ReturnOp(*op.results)])
    type_ = FunctionType.from_lists(list(block.arg_types), list(op.result_types))
    module = ModuleOp([func.FuncOp("main", type_, Region(block))])
    FirstOrderGradient().apply(LaminaContext(), module)
    arrays = arrays_of(name, n, s)
    expected = run_relay(main_function(module), arrays)
    found = lamina.compile(module, threads=1, cache=False)(*arrays)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * max(1.0, float(np.max(np.abs(want), initial=0))))


def test_ops_without_a_gradient_say_why() -> None:
    silent: list[str] = []
    for name in NAMES:
        op_type: Any = find_op(name)
        if not hasattr(op_type, "samples") or name.startswith("relay.qnn."):
            continue
        if hasattr(op_type, "relay_grad"):
            assert not op_type.NO_GRADIENT, f"{name} has a gradient and says why it has none"
        elif not has_gradient(op_type) and not op_type.NO_GRADIENT:
            silent += [name] * any(is_real(op_type, s) for _, s in valid_samples(op_type))
    assert not sorted(set(silent)), "declare relay_grad, or NO_GRADIENT with the reason"


def test_an_op_without_a_gradient_is_named_with_the_reason() -> None:
    op_type: Any = find_op("relay.reinterpret")
    source = TestOp(result_types=[tensor_type((3,), "float32")])
    op = op_type.make(source.results[0], dtype="float32")
    with pytest.raises(NoGradient) as raised:
        op_gradients(op, [source.results[0]])
    assert str(raised.value) == f"relay.reinterpret has no gradient: {op_type.NO_GRADIENT}"
