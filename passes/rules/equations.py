"""Tests equations: both sides are computed by the ops' numpy oracles on random draws and compared.

A draw starts from the ops' samples. Operands that the sample does not fix get the type of their neighbours, or one
that broadcasts against it; attributes come from samples, defaults, or at random in their own kind (a permutation
for a list, a shape of the same size for a shape). What does not type-check, or a guard refuses, is drawn again.
Float32 is drawn as float64, so that the tolerance can be small; a third of the draws hold NaN, infinities and
signed zeros unless the rule is `.finite()`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.base import Sample, from_attribute, to_attribute
from lamina.dialects.relay.meaning import draw
from lamina.dialects.rules.op_protocol import RuleOp
from lamina.dialects.rules.patterns import root_op
from lamina.dialects.rules.terms import (
    Alternatives,
    AttrVar,
    Computed,
    Constrained,
    ConstVar,
    Equation,
    Expr,
    OpPattern,
    Pattern,
    Splat,
    TypeExpr,
    Wildcard,
    all_results,
)
from lamina.errors import InternalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

WANTED = 40
LEAST = 20
TRIES = 20000


class _Again(Exception):
    """This draw leads nowhere. Its text, if any, is why there is no such right side."""


class WrongEquation(AssertionError):
    """The two sides differ, or the equation could not be tested enough."""


@dataclass
class _Draw:
    """One assignment of types, attributes and values to the left side."""

    rule: Equation
    rng: np.random.Generator
    finite: bool
    stated: dict[OpPattern, dict[str, Any]]
    """The attributes that ops of the rule state, which are the same in all draws."""
    infos: dict[Any, TensorInfo] = field(default_factory=dict[Any, TensorInfo])
    arrays: dict[Any, Any] = field(default_factory=dict[Any, Any])
    attrs: dict[Any, dict[str, Any]] = field(default_factory=dict[Any, dict[str, Any]])
    variables: dict[AttrVar, Any] = field(default_factory=dict[AttrVar, Any])
    bounds: dict[Any, tuple[float, float] | None] = field(default_factory=dict[Any, Any])

    def pick(self, values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]


def check_rule(rule: Equation, seed: int = 0) -> int:
    """Test an equation: how many draws succeeded. Raises WrongEquation with a counterexample or what is missing."""
    rng = np.random.default_rng(seed)
    where = f"{rule.written[0]}:{rule.written[1]}: {rule!r}"
    uncovered = _attributes(rule.left)
    stated: dict[OpPattern, dict[str, Any]] = {}
    good, refused = 0, Counter[str]()
    for attempt in range(TRIES):
        if good >= WANTED and not uncovered:
            break
        trial = _Draw(rule, rng, rule.is_finite or attempt % 3 != 0, stated)
        try:
            left, right = _sides(trial)
        except _Again as e:
            refused.update([str(e)] if e.args else [])
            continue
        difference = _difference(left, right, rule.rtol)
        if difference:
            raise WrongEquation(f"{where}\n{difference}\n{_describe(trial)}")
        good += 1
        for key, name in list(uncovered):
            drawn = trial.attrs.get(key)
            if drawn is not None and drawn.get(name) != _default(key.facts, name):
                uncovered.discard((key, name))
    if good < LEAST:
        said = f"{where}\nonly {good} of {TRIES} draws match, {LEAST} are needed"
        if not refused:
            raise WrongEquation(f"{said}: give .drawing(...)")
        why = refused.most_common(1)[0][0]
        raise WrongEquation(f"{said}; of {refused.total()} more there is no such right side, mostly: {why}")
    if uncovered:
        missing = sorted(f"{key.op.name} {name}" for key, name in uncovered)
        raise WrongEquation(f"{where}\nnever drawn off its default: {', '.join(missing)}")
    return good


def _attributes(p: Pattern) -> set[tuple[OpPattern, str]]:
    """The attributes with a default that the left side leaves open."""
    found: set[tuple[OpPattern, str]] = set()
    if isinstance(p, OpPattern):
        for name in p.facts.known_attributes():
            given = p.attrs.get(name, _MISSING)
            if (given is _MISSING or isinstance(given, AttrVar)) and _default(p.facts, name) is not _MISSING:
                found.add((p.origin, name))
    for child in p.children():
        found |= _attributes(child)
    return found


_MISSING: Any = object()


@cache
def _default(op: RuleOp, name: str) -> Any:
    from xdsl.irdl import OptPropertyDef

    default = op.defaults().get(name)
    if default is not None:
        return from_attribute(default)
    return None if isinstance(op.known_attributes()[name], OptPropertyDef) else _MISSING


# -- drawing the left side -------------------------------------------------------------------------


def _sides(d: _Draw) -> tuple[NDArray[Any], NDArray[Any]]:
    rule = d.rule
    info = _draw_type(d, rule.left, None)
    for guard in rule.guards:
        if not _expr(d, guard):
            raise _Again
    right_type, right_value = _right(d, rule.right, root_op(rule.left))
    if right_type != info:
        raise _Again  # there the rule does not apply
    return np.asarray(_left_value(d, rule.left)), np.asarray(right_value())


def _draw_type(d: _Draw, p: Pattern, offered: TensorInfo | None) -> TensorInfo:
    """The type of a sub-pattern; a variable takes the offered one."""
    key = p.origin if isinstance(p, OpPattern) else p
    if not isinstance(p, Wildcard) and key in d.infos:
        return d.infos[key]
    if isinstance(p, OpPattern):
        info = _draw_op(d, p)
    elif isinstance(p, Alternatives):
        chosen = d.pick(p.choices)
        info = _draw_type(d, chosen, offered)
        d.arrays[p] = chosen
        if isinstance(chosen, OpPattern):
            d.attrs[p] = d.attrs[chosen.origin]
    elif isinstance(p, Constrained):
        info = _draw_type(d, p.pattern, offered)
        if not _holds(p, info):
            raise _Again
        if isinstance(p.pattern, OpPattern):
            d.attrs[p] = d.attrs[p.pattern.origin]
    else:
        custom = d.rule.draws.get(p.name)
        if custom is not None:
            info = custom(d.rng)
            if not isinstance(info, TensorInfo):
                d.arrays[p] = info
                info = TensorInfo(info.shape, info.dtype.name)
        elif offered is not None:
            info = offered
        else:
            raise _Again
    d.infos[key] = info
    return info


def _holds(p: Constrained, info: TensorInfo) -> bool:
    from lamina.dialects.dtypes import tensor_type
    from lamina.passes.rules.matching import type_condition

    wanted = p.wanted
    if p.kind == "has_dtype" and info.dtype == "float64":
        wanted = (*wanted, "float64") if "float32" in wanted else wanted
    return type_condition(p.kind, wanted)(tensor_type(info.shape, info.dtype))


def _wide(info: TensorInfo) -> TensorInfo:
    return TensorInfo(info.shape, "float64") if info.dtype == "float32" else info


@cache
def _valid_samples(op: RuleOp, operands: int) -> list[Sample]:
    """An op's samples with so many operands. Hundreds of draws look at them for each equation."""
    return [s for s in op.samples() if s.error is None and len(s.operands) == operands]


@cache
def _sampled_values(op: RuleOp, operands: int, name: str) -> list[Any]:
    """The values of an attribute in these samples."""
    return [s.attrs[name] for s in _valid_samples(op, operands) if s.attrs.get(name) is not None]


def _draw_op(d: _Draw, p: OpPattern) -> TensorInfo:
    op = p.facts
    samples = _valid_samples(op, len(p.args))
    if not samples:
        raise _Again
    sample: Sample = d.pick(samples)
    infos: list[TensorInfo | None] = [None] * len(p.args)
    leaves = [_is_leaf(a) for a in p.args]
    # Ops first: what they give is fixed, and leaves adapt.
    for leaf in (False, True):
        for i, a in enumerate(p.args):
            if infos[i] is not None or (leaves[i] != leaf and (leaf or a not in d.infos)):
                continue
            fixed = [t for t in infos if t is not None]
            take_own = not fixed or d.rng.random() < 0.3
            offered = _wide(sample.operands[i]) if take_own else _near(d, d.pick(fixed))
            infos[i] = _draw_type(d, a, offered)
            if leaf and a not in d.bounds:
                d.bounds[a] = sample.ranges[i] if sample.ranges else None
    operands = [t for t in infos if t is not None]
    attrs = _draw_attrs(d, p, sample, operands)
    d.attrs[p.origin] = attrs
    try:
        found = op.infer_type(*operands, **{k: v for k, v in attrs.items() if v is not None})
    except (TypeMismatch, ArithmeticError, LookupError):
        # An op that stumbles over odd attributes, instead of refusing them, is the facet tests' matter.
        raise _Again from None
    return _result(found, p)


def _is_leaf(p: Pattern) -> bool:
    while isinstance(p, Constrained):
        p = p.pattern
    return not isinstance(p, (OpPattern, Alternatives))


def _near(d: _Draw, info: TensorInfo) -> TensorInfo:
    """The same type, or one that broadcasts against it."""
    if d.rng.random() < 0.4:
        return info
    shape = tuple(1 if d.rng.random() < 0.4 else e for e in info.shape)
    return TensorInfo(shape[int(d.rng.integers(len(shape) + 1)) :], info.dtype)


def _stated(d: _Draw, p: OpPattern) -> dict[str, Any]:
    """The attributes that an op of the rule states, as the IR keeps them."""
    found = d.stated.get(p)
    if found is None:
        known = p.facts.known_attributes()
        values = {n: v for n, v in p.attrs.items() if n in known and not isinstance(v, AttrVar)}
        found = {n: from_attribute(to_attribute(v)) if v is not None else None for n, v in values.items()}
        d.stated[p] = found
    return found


def _draw_attrs(d: _Draw, p: OpPattern, sample: Sample, operands: list[TensorInfo]) -> dict[str, Any]:
    op, stated = p.facts, _stated(d, p)
    found: dict[str, Any] = {}
    # Attributes often fit one sample only together: half of the draws take all from one.
    together = d.rng.random() < 0.5
    for name in op.known_attributes():
        if name in stated:
            found[name] = stated[name]
            continue
        given = p.attrs.get(name, _MISSING)
        if given in d.variables:
            found[name] = d.variables[given]
            continue
        custom = d.rule.draws.get(given.name) if isinstance(given, AttrVar) else None
        if custom is not None:
            value = custom(d.rng)
        else:
            value = sample.attrs.get(name, _default(op, name)) if together else _MISSING
            if value is _MISSING:
                value = _draw_attr(d, op, name, sample, operands)
        if isinstance(value, list):
            value = tuple(value)  # type: ignore[arg-type]
        if isinstance(given, AttrVar):
            d.variables[given] = value
        found[name] = value
    return found


def _draw_attr(d: _Draw, op: RuleOp, name: str, sample: Sample, operands: list[TensorInfo]) -> Any:
    default = _default(op, name)
    start = sample.attrs.get(name, default)
    roll = d.rng.random()
    if roll < 0.4 and start is not _MISSING:
        return start
    elsewhere = _sampled_values(op, len(sample.operands), name)
    example: Any = d.pick(elsewhere) if elsewhere else start
    if roll < 0.6 or example is _MISSING or example is None:
        return None if example is _MISSING else example
    rank = len(operands[0].shape) if operands else 0
    if isinstance(example, bool):
        return bool(d.rng.integers(2))
    if isinstance(example, int):
        return int(d.rng.integers(-rank, rank)) if rank else example
    if isinstance(example, float):
        return round(float(d.rng.uniform(-2, 2)), 3)
    if isinstance(example, (tuple, list)):
        if name in ("newshape", "shape") and operands:
            return _reshaped(d, operands[0].shape)
        order: list[int] = d.rng.permutation(rank).tolist()
        return tuple(order)
    return example


def _reshaped(d: _Draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A random shape of the same size."""
    size, out = prod(shape), list[int]()
    while size > 1 and len(out) < 3:
        factor = d.pick([f for f in range(1, size + 1) if size % f == 0])
        out.append(factor)
        size //= factor
    return (*out, size)


def _result(found: TensorInfo | Sequence[TensorInfo], p: OpPattern) -> TensorInfo:
    """The type of the result that a pattern names."""
    if isinstance(found, TensorInfo):
        return found
    if (p.index or 0) >= len(found):
        raise _Again(f"{p.op.name}: has no result {p.index}")
    return found[p.index or 0]


# -- values ----------------------------------------------------------------------------------------


def _left_value(d: _Draw, p: Pattern) -> Any:
    if isinstance(p, OpPattern):
        key = p.origin
        if key not in d.arrays:
            d.arrays[key] = p.facts.oracle([_left_value(d, a) for a in p.args], d.attrs[key])
        return all_results(d.arrays[key])[p.index or 0]
    if isinstance(p, Alternatives):
        return _left_value(d, d.arrays[p])
    if isinstance(p, Constrained):
        return _left_value(d, p.pattern)
    if isinstance(p, Wildcard):
        # Each is a value of its own, of the type drawn last; what it is must not matter.
        return draw(d.infos[p], None, d.finite, d.rng)
    if p not in d.arrays:
        info = d.infos[p]
        if isinstance(p, Splat):
            d.arrays[p] = np.full(info.shape, p.number, numpy_dtype(info.dtype))
        else:
            d.arrays[p] = draw(info, d.bounds.get(p), d.finite, d.rng)
    return d.arrays[p]


def _right(
    d: _Draw, p: Pattern, beside: RuleOp, sibling: TensorInfo | None = None
) -> tuple[TensorInfo, Callable[[], Any]]:
    """Type and value of a part of the right side, which stands in an op."""
    key = p.origin if isinstance(p, OpPattern) else p
    if key in d.infos:
        return d.infos[key], lambda: _left_value(d, p)
    if isinstance(p, Splat):
        like = sibling if p.like is None else d.infos[p.like]
        assert like is not None
        number = _expr(d, p.number) if isinstance(p.number, Expr) else p.number
        info = beside.constant_info(like)
        array = np.asarray(number).astype(numpy_dtype(info.dtype))
        if not array.ndim:  # else all its numbers are given
            array = np.full(info.shape, array)
        return TensorInfo(array.shape, info.dtype), lambda: array
    assert isinstance(p, OpPattern)
    made = [None if isinstance(a, Splat) else _right(d, a, p.facts) for a in p.args]
    last = next((m[0] for m in reversed(made) if m is not None), None)
    parts = [m or _right(d, a, p.facts, last) for m, a in zip(made, p.args, strict=True)]
    attrs: dict[str, Any] = {}
    if p.like is not None:
        source = p.like.origin if isinstance(p.like, OpPattern) else p.like
        known = p.facts.known_attributes()
        attrs = {n: v for n, v in d.attrs[source].items() if n in known}
    attrs |= {n: _expr(d, v) if isinstance(v, Expr) else v for n, v in p.attrs.items()}
    try:
        found = p.facts.infer_type(*(t for t, _ in parts), **{k: v for k, v in attrs.items() if v is not None})
    except TypeMismatch as e:
        raise _Again(f"{p.op.name}: {e}") from None
    info = _result(found, p)

    def value() -> Any:
        return all_results(p.facts.oracle([v() for _, v in parts], attrs))[p.index or 0]

    return info, value


def _expr(d: _Draw, e: Any) -> Any:
    if isinstance(e, AttrVar):
        return d.variables[e]
    if isinstance(e, TypeExpr):
        if e.what == "value":
            return np.asarray(_left_value(d, e.pattern))
        if e.what == "ssa":
            return None  # there is no program around a draw: what a guard asks of it, it must not need
        info = _right(d, e.pattern, root_op(d.rule.left))[0]
        return {"shape": info.shape, "dtype": info.dtype, "rank": len(info.shape)}[e.what]
    if isinstance(e, Computed):
        return e.function(*(_expr(d, a) for a in e.args))
    if isinstance(e, (Pattern, ConstVar)):
        raise InternalError(f"{e!r} is no computed value")
    return e


def _difference(left: NDArray[Any], right: NDArray[Any], rtol: float) -> str:
    if left.shape != right.shape or left.dtype != right.dtype:
        return f"left is {left.dtype}{left.shape}, right {right.dtype}{right.shape}"
    if left.dtype.kind in "iub":
        equal = left == right
    else:
        wide = [np.asarray(a, np.float64) for a in (left, right)]
        finite = np.abs(wide[0][np.isfinite(wide[0])])
        # Narrow results carry the rounding of their own type.
        unit = {2: 2e-2, 4: 1e-6}.get(left.dtype.itemsize, 0.0)
        bound = max(rtol, unit) if rtol else 0.0
        with np.errstate(all="ignore"):
            equal = np.isclose(*wide, rtol=bound, atol=bound * float(finite.max(initial=0.0)), equal_nan=True)
    if np.all(equal):
        return ""
    at = tuple(int(i) for i in np.argwhere(~np.asarray(equal))[0])
    return f"at {list(at)} the left side is {left[at]}, the right side {right[at]}"


def _describe(d: _Draw) -> str:
    lines = [f"  {v.name} = {value!r}" for v, value in d.variables.items()]
    for p, info in d.infos.items():
        if isinstance(p, OpPattern):
            lines.append(f"  {p.op.name} {d.attrs[p]} : {info}")
        elif not isinstance(p, (Alternatives, Constrained)):
            lines.append(f"  {p!r} : {info}")
    return "\n".join(lines)
