"""Conditions on values for the steps of `pattern_matching.py`: attributes, types, constants, equal computations.

Also which classes of ops a pattern may match at all, and the values that guards compute from a match.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, TensorType, VectorType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from lamina.dialects.attributes import ExtentsAttr
from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.infos import TensorInfo, TypeMismatch, has_unknown_extents, tensor_info
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import RelayOp, from_attribute
from lamina.dialects.relay.core import ConstantOp, FnOp
from lamina.dialects.relay.params import INLINE_BYTES, dense_array
from lamina.dialects.rules.graph_patterns import FunctionPattern, LetPattern, OpWord, identity
from lamina.dialects.rules.patterns import (
    Alternatives,
    Constrained,
    ConstVar,
    Dominator,
    OpPattern,
    Pattern,
    Splat,
    Var,
    Wildcard,
)
from lamina.dialects.rules.values import AttrVar, Computed, Expr, TypeExpr

Classes: TypeAlias = "frozenset[type[Operation]] | None"
"""The classes of ops that a pattern may match; None where it may match anything."""


def python_value(attr: Attribute | None) -> Any:
    """An attribute as rules see it; None for an absent one."""
    # What depends on symbols is about those of the module at hand.
    return from_attribute(attr) if type(attr) is ExtentsAttr else _known_value(attr)


@lru_cache(maxsize=65536)
def _known_value(attr: Attribute | None) -> Any:
    return None if attr is None else from_attribute(attr)


CONSTANTS: frozenset[type[Operation]] = frozenset({ConstantOp, arith.ConstantOp})
"""Of tensors, and of scalars and vectors."""


@lru_cache(maxsize=4096)
def splat_number(attr: Any) -> float | int | None:
    """The number that a constant is, or all elements of a small dense one; None when they differ."""
    if type(attr) in (FloatAttr, IntegerAttr):
        return attr.value.data
    if type(attr) is not DenseIntOrFPElementsAttr or not attr.data.data or len(attr.data.data) > INLINE_BYTES:
        return None
    size = len(attr.data.data) // len(attr)
    if attr.data.data != attr.data.data[:size] * len(attr):
        return None
    return dense_array(attr).reshape(-1)[0].item()


def splat_test(number: Any) -> Callable[[SSAValue], bool]:
    """A test whether a value is a constant all of whose elements are the number."""

    def holds(value: SSAValue) -> bool:
        owner: Any = value.owner
        return type(owner) in CONSTANTS and splat_number(owner.properties["value"]) == number

    return holds


def attribute_test(wanted: Any) -> Callable[[Attribute | None], bool]:
    """Whether an attribute has a value: by value, so that 1 is 1.0 and a list is a tuple."""
    if isinstance(wanted, Attribute):
        return lambda attr: attr == wanted
    value = tuple(wanted) if isinstance(wanted, list) else wanted  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return lambda attr: python_value(attr) == value


def has_attributes(owner: Any, wanted: dict[str, Any]) -> bool:
    """Attributes of the op that gives a value; of a call, those of the function or of TVM's registry."""
    if not isinstance(owner, Operation):
        return False
    given = owner.properties | owner.attributes
    return all(
        registry_attributes(owner).get(n) == w if n in REGISTRY else attribute_test(w)(given.get(n))
        for n, w in wanted.items()
    )


REGISTRY = frozenset({"TOpPattern"})
"""Attributes of TVM's op registry that patterns may ask for."""


def registry_attributes(owner: Operation) -> dict[str, int]:
    """Attributes of TVM's op registry for an op: `TOpPattern`, its kind of fusion; none of what is no Relay op."""
    return {"TOpPattern": int(owner.FUSION_KIND)} if isinstance(owner, RelayOp) else {}


def callee_test(callee: Pattern) -> Callable[[RelayOp], bool]:
    """Return a test for the ops that a callee pattern admits; functions are matched, not tested."""
    if isinstance(callee, OpWord):
        return lambda op: type(op) is callee.op
    if isinstance(callee, (Wildcard, Var)):
        return lambda op: True
    if isinstance(callee, Constrained) and callee.kind == "has_attr":
        inner, wanted = callee_test(callee.pattern), callee.wanted
        if not REGISTRY.issuperset(wanted):
            return lambda op: False
        return lambda op: inner(op) and has_attributes(op, wanted)
    if isinstance(callee, Alternatives):
        tests = [callee_test(c) for c in callee.choices]
        return lambda op: any(t(op) for t in tests)
    return lambda op: False


def value_info(type_: Any) -> TensorInfo:
    """Shape and dtype of a tensor, of a vector, or of a number, which has no extents. Raises TypeMismatch."""
    # What depends on symbols is about those of the module at hand.
    return tensor_info(type_) if has_unknown_extents([type_]) else _known_info(type_)


@lru_cache(maxsize=4096)
def _known_info(type_: Any) -> TensorInfo:
    if type(type_) is TensorType:
        return tensor_info(type_)
    shape, element = (type_.get_shape(), type_.element_type) if type(type_) is VectorType else ((), type_)
    try:
        return TensorInfo(shape, dtype_name(element))
    except ValueError as e:
        raise TypeMismatch(str(e)) from None


def type_condition(kind: str, wanted: Any) -> Callable[[Attribute], bool]:
    """The predicate on types that a constraint stands for."""

    def holds(type_: Attribute) -> bool:
        if kind == "has_type":
            return type_ == wanted
        try:
            shape, dtype = value_info(type_)
        except TypeMismatch:
            return False
        if kind == "has_dtype":
            return dtype in wanted
        if kind == "has_rank":
            return len(shape) == wanted
        return len(shape) == len(wanted) and all(w is None or w == s for w, s in zip(wanted, shape, strict=True))

    return holds


def _number(value: SSAValue) -> int:
    """The number of a value among the results of its op."""
    assert isinstance(value, OpResult)
    return value.index


def same_computation(a: SSAValue, b: SSAValue, same_input: Callable[[SSAValue, SSAValue], bool] | None = None) -> bool:
    """Whether two values are computed by the same ops with the same attributes from the same inputs."""
    seen: set[tuple[SSAValue, SSAValue]] = set()
    stack = [(a, b)]
    while stack:
        x, y = pair = stack.pop()
        if x is y or pair in seen:
            continue
        seen.add(pair)
        p, q = x.owner, y.owner
        if same_input is not None and isinstance(p, Block) and isinstance(q, Block) and same_input(x, y):
            continue
        if not (isinstance(p, Operation) and isinstance(q, Operation)) or type(p) is not type(q) or p.regions:
            return False
        if p.properties != q.properties or p.attributes != q.attributes or x.type != y.type:
            return False
        if len(p.operands) != len(q.operands) or _number(x) != _number(y):
            return False
        stack.extend(zip(p.operands, q.operands, strict=True))
    return True


def compile_expr(e: Expr, slots: dict[Any, int]) -> Callable[[list[Any]], Any]:
    """A guard or a computed attribute as a function of the slots of a match."""
    if isinstance(e, AttrVar):
        slot = slots[e]
        return lambda env: env[slot]
    if isinstance(e, TypeExpr):
        value_of, ask = bound_value(e.pattern, slots), _ASK[e.what]
        return lambda env: ask(value_of(env))
    assert isinstance(e, Computed)
    function, arguments = e.function, [compile_argument(a, slots) for a in e.args]
    return lambda env: function(*[a(env) for a in arguments])


def compile_argument(value: Any, slots: dict[Any, int]) -> Callable[[list[Any]], Any]:
    """As `compile_expr`; a plain value is itself."""
    return compile_expr(value, slots) if isinstance(value, Expr) else lambda env: value


def bound_value(p: Pattern, slots: dict[Any, int]) -> Callable[[list[Any]], SSAValue]:
    """The value that a part of the left side is bound to."""
    slot = slots[identity(p)]
    if isinstance(p, OpPattern):
        index = p.index or 0
        return lambda env: env[slot].results[index]
    return lambda env: env[slot]


def inline_array(value: SSAValue) -> Any:
    """The array of an inline constant, None for anything else."""
    owner: Any = value.owner
    if type(owner) not in CONSTANTS:
        return None
    attr: Any = owner.properties["value"]
    if type(attr) in (FloatAttr, IntegerAttr):
        return np.asarray(attr.value.data, numpy_dtype(value_info(value.type).dtype))
    return dense_array(attr) if type(attr) is DenseIntOrFPElementsAttr else None


_ASK: dict[str, Callable[[SSAValue], Any]] = {
    "shape": lambda value: value_info(value.type).shape,
    "rank": lambda value: len(value_info(value.type).shape),
    "dtype": lambda value: value_info(value.type).dtype,
    "value": inline_array,
    "ssa": lambda value: value,
}


def surface(p: Pattern) -> set[Pattern]:
    """The patterns tried at the same value as p: alternatives, constraints and redirections opened."""
    found: set[Pattern] = set()
    stack = [p]
    while stack:
        q = stack.pop()
        if q in found:
            continue
        found.add(q)
        if isinstance(q, Alternatives):
            stack += q.choices
        elif isinstance(q, Constrained):
            stack.append(q.pattern)
        elif isinstance(q, LetPattern):
            stack.append(q.body)
        elif isinstance(q, Dominator):
            stack.append(q.child)
        elif isinstance(q, Var) and q.target is not None:
            stack.append(q.target)
    return found


def is_redirected(p: Pattern) -> bool:
    """Whether a pattern is a wildcard that `redirect_to` has made stand for another pattern."""
    return isinstance(p, Var) and p.target is not None


def associated(p: OpPattern) -> list[OpPattern]:
    """The other forms of `(a * b) / c`: `a * (b / c)` and `b * (a / c)`; of `a * (b / c)` it is `(a * b) / c`."""
    if p.op.name == "relay.divide" and len(p.args) == 2:
        product, c = p.args
        if isinstance(product, OpPattern) and product.op.name == "relay.multiply" and len(product.args) == 2:
            a, b = product.args
            return [OpPattern(product.op, (v, OpPattern(p.op, (w, c), {})), {}) for v, w in ((a, b), (b, a))]
    if p.op.name == "relay.multiply" and len(p.args) == 2:
        return [
            OpPattern(quotient.op, (OpPattern(p.op, (quotient.args[0], a), {}), quotient.args[1]), {})
            for quotient, a in (p.args, p.args[::-1])
            if isinstance(quotient, OpPattern) and quotient.op.name == "relay.divide" and len(quotient.args) == 2
        ]
    return []


def root_classes(p: Pattern) -> Classes:
    """The classes of the ops whose values a pattern may match; None for any value."""
    found: set[type[Operation]] = set()
    for q in surface(p):
        if isinstance(q, OpPattern):
            found.add(q.op)
            found.update(other.op for other in associated(q))
        elif isinstance(q, (ConstVar, Splat)):
            found |= CONSTANTS
        elif isinstance(q, FunctionPattern):
            found.add(FnOp)
        elif isinstance(q, (Alternatives, Constrained, LetPattern, Dominator)) or is_redirected(q):
            continue
        else:
            return None
    return frozenset(found)
