"""The terms of arith and math in rules, and how their ops answer for themselves: by xDSL's classes and the oracles.

    from lamina.dialects.scalar.terms import arith, math

    rules += (arith.addf(c, arith.mulf(a, b)) >> math.fma(a, b, c)).when(...)

An op computes numbers and, lane by lane, vectors. A conversion is told what it gives, `arith.sitofp(x, to="float32")`;
on a left side that is asked of its value: `arith.sitofp(x).has_dtype("float32")`. Flags (`fastmath`, `overflowFlags`)
are not spoken of: a left side matches any, a right side makes ops without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.attributes import to_attribute
from lamina.dialects.dtypes import dtype_name, ir_type, is_float, vector_type
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.lazy import np
from lamina.dialects.rules.op_protocol import Sample, declare
from lamina.dialects.rules.terms import Term

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int32", "int8", "int64")
SHAPES = ((), (1,), (4,), (17,))
"""Shapes that tests draw: numbers, and vectors of some lanes."""


class Types(Enum):
    """Relations between the types of an op's operands and its result."""

    ALIKE = "all are one"
    CHOICE = "the first operand is a boolean, the others and the result are one"
    COMPARISON = "the operands are one, the result a boolean of each lane"
    CONVERSION = "the result is of the element type that `to` names"


class ScalarOp:
    """Answers the questions of rules for an op on numbers or vectors (`RuleOp`)."""

    ACROSS_BLOCKS = False
    """Whether rules match across blocks: what stands outside a loop is not to be computed inside."""

    def __init__(
        self,
        op: type[Operation],
        types: Types = Types.ALIKE,
        dtypes: Sequence[str] = FLOATS,
        commutes: bool = False,
        attrs: Sequence[Mapping[str, Any]] = ({},),
    ) -> None:
        definition: Any = cast("Any", op).get_irdl_definition()
        properties: dict[str, Any] = definition.properties
        self.op = op
        self.name = op.name
        self.COMMUTES = commutes
        self.types = types
        self._dtypes = dtypes
        self._samples = attrs
        self._operands = len(definition.operands)
        self._flags = {
            n: cast("Attribute", p.default_value) for n, p in properties.items() if p.default_value is not None
        }
        self._known = {n: p for n, p in properties.items() if n not in self._flags}
        self._told = "to" if types is Types.CONVERSION else None
        """The type of the result, as far as a right side says it."""
        if self._told is not None:
            self._known[self._told] = None

    def known_attributes(self) -> Mapping[str, Any]:
        return self._known

    def defaults(self) -> Mapping[str, Attribute]:
        return {}

    def operand_count(self) -> int | None:
        return self._operands

    def result_count(self) -> int:
        return 1

    # -- types -------------------------------------------------------------------------------------

    def infer_type(self, *types: TensorInfo, **attrs: Any) -> TensorInfo:
        values = types[1:] if self.types is Types.CHOICE else types
        if any(t != values[0] for t in values[1:]):
            raise TypeMismatch(f"operand types differ: {', '.join(map(str, values))}")
        if is_float(values[0].dtype) not in map(is_float, self._dtypes):
            raise TypeMismatch(f"{self.name} takes no {values[0].dtype}")
        if self.types is Types.CHOICE and types[0].dtype != "bool":
            raise TypeMismatch(f"chooses by a boolean, not by {types[0].dtype}")
        if self.types is Types.COMPARISON:
            return TensorInfo(values[0].shape, "bool")
        if self.types is Types.CONVERSION:
            return TensorInfo(values[0].shape, attrs["to"])
        return values[0]

    def infer_types(self, operand_types: Sequence[Attribute], properties: dict[str, Attribute]) -> Sequence[Attribute]:
        result = operand_types[-1]
        if self.types is Types.ALIKE or self.types is Types.CHOICE:
            for t in operand_types[self.types is Types.CHOICE :]:
                if t is not result and t != result:
                    raise TypeMismatch(f"operand types differ: {t} and {result}")
            return (result,)
        given: Any = properties.get(self._told or "")
        element = ir_type("bool" if self.types is Types.COMPARISON else given.data)
        return (VectorType(element, result.get_shape()) if isinstance(result, VectorType) else element,)

    # -- ops ---------------------------------------------------------------------------------------

    def make(self, *operands: SSAValue | Operation, **attrs: Any) -> Operation:
        values = [o if isinstance(o, SSAValue) else o.results[0] for o in operands]
        properties = {n: to_attribute(v) for n, v in attrs.items()}
        return self.make_typed(values, self.infer_types([v.type for v in values], properties), properties)

    def make_typed(
        self, operands: Sequence[SSAValue], types: Sequence[Attribute], properties: dict[str, Attribute]
    ) -> Operation:
        own = self._flags
        if properties:
            own = own | properties
            if self._told is not None:
                own.pop(self._told, None)
        return self.op.create(operands=operands, result_types=types, properties=own)

    def make_constant(self, number: Any, like: SSAValue) -> Operation:
        from xdsl.dialects.arith import ConstantOp

        return ConstantOp.create(result_types=[like.type], properties={"value": constant_attr(number, like.type)})

    def constant_info(self, like: TensorInfo) -> TensorInfo:
        return like

    # -- what tests ask ----------------------------------------------------------------------------

    def oracle(self, arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
        from lamina.dialects.scalar.oracles import evaluate

        given = [np.asarray(a) for a in arrays]
        block = Block(arg_types=[_type_of(a) for a in given])
        op = self.make(*block.args, **{n: v for n, v in attrs.items() if v is not None})
        return evaluate(op, given)

    def samples(self) -> Sequence[Sample]:
        drawn = [(shape, dtype, attrs) for dtype in self._dtypes for shape in SHAPES for attrs in self._samples]
        return [Sample(self._operand_infos(shape, dtype), dict(attrs)) for shape, dtype, attrs in drawn]

    def _operand_infos(self, shape: tuple[int, ...], dtype: str) -> tuple[TensorInfo, ...]:
        infos = [TensorInfo(shape, dtype)] * self._operands
        if self.types is Types.CHOICE:
            infos[0] = TensorInfo(() if self.name == "arith.select" else shape, "bool")
        return tuple(infos)


def _type_of(array: Any) -> Attribute:
    element = ir_type(str(array.dtype))
    return vector_type(element, array.size) if array.shape else element


@lru_cache(maxsize=1024)
def constant_attr(number: float | int, type_: Attribute) -> Attribute:
    """A number as the value of a constant of a type, in every lane of a vector."""
    element: Any = type_.element_type if type(type_) is VectorType else type_
    value = float(number) if is_float(dtype_name(element)) else int(number)
    if type(type_) is VectorType:
        return DenseIntOrFPElementsAttr.from_list(cast("Any", type_), [value])
    return FloatAttr(value, element) if isinstance(value, float) else IntegerAttr(value, element)


class Words:
    """The terms of a dialect by the names of its ops: `arith.addf`."""

    def __init__(self, prefix: str, declared: Callable[[], Iterable[ScalarOp]]) -> None:
        self._prefix = prefix
        self._declared = declared

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for answers in self._declared():
            declare(answers.op, answers)
            setattr(self, answers.name.removeprefix(self._prefix), Term(answers.op))
        if name not in self.__dict__:
            raise AttributeError(f"no op {self._prefix}{name} that rules know")
        return self.__dict__[name]


COMMUTE = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf"),
        *("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"),
    )
)
_TO_FLOAT: tuple[Mapping[str, Any], ...] = ({"to": "float32"}, {"to": "float64"})
_TO_INTEGER: tuple[Mapping[str, Any], ...] = ({"to": "int32"}, {"to": "int64"})
_CONVERSIONS: dict[str, tuple[Sequence[str], Sequence[Mapping[str, Any]]]] = {
    "arith.extsi": (("int8", "int32"), ({"to": "int64"},)),
    "arith.extui": (("int8", "int32"), ({"to": "int64"},)),
    "arith.trunci": (("int64",), ({"to": "int8"}, {"to": "int32"})),
    "arith.extf": (("float16", "bfloat16"), ({"to": "float32"},)),
    "arith.truncf": (("float64", "float32"), ({"to": "float16"}, {"to": "bfloat16"})),
    "arith.sitofp": (INTEGERS, _TO_FLOAT),
    "arith.uitofp": (INTEGERS, _TO_FLOAT),
    "arith.fptosi": (FLOATS, _TO_INTEGER),
    "arith.fptoui": (FLOATS, _TO_INTEGER),
    "arith.bitcast": (("float32", "int32"), ({"to": "int32"}, {"to": "float32"})),
}
"""Dtypes and attributes with which tests convert: from and to."""


def _scalar_ops(dialect: str) -> list[ScalarOp]:
    """The ops of a dialect of xDSL."""
    from xdsl.dialects.arith import Arith
    from xdsl.dialects.math import Math

    ops = Arith.operations if dialect == "arith" else Math.operations
    return [_scalar_op(op) for op in ops if op.name not in _UNSPOKEN]


_UNSPOKEN = frozenset(
    f"arith.{name}"
    for name in ("constant", "index_cast", "index_castui", "addui_extended", "mului_extended", "mulsi_extended")
)
"""Constants are `const` and `splat`, indices are linear forms, and every term has one result."""


def _scalar_op(op: type[Operation]) -> ScalarOp:
    if op.name in _CONVERSIONS:
        dtypes, attrs = _CONVERSIONS[op.name]
        return ScalarOp(op, Types.CONVERSION, dtypes, attrs=attrs)
    if op.name == "arith.select":
        return ScalarOp(op, Types.CHOICE, (*FLOATS, *INTEGERS))
    if op.name in ("arith.cmpi", "arith.cmpf"):
        dtypes, count = (INTEGERS, 10) if op.name == "arith.cmpi" else (FLOATS, 16)
        return ScalarOp(op, Types.COMPARISON, dtypes, attrs=[{"predicate": n} for n in range(count)])
    on_floats = "fastmath" in cast("Any", op).get_irdl_definition().properties
    return ScalarOp(op, Types.ALIKE, FLOATS if on_floats else INTEGERS, op.name in COMMUTE)


arith: Any = Words("arith.", lambda: _scalar_ops("arith"))
math: Any = Words("math.", lambda: _scalar_ops("math"))
