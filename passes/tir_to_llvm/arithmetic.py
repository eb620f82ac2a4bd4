"""Rules of arith and math, and of the vector forms that tir has of them; scalars and vectors alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    bf16,
    f32,
    i1,
    i16,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.dtypes import bf16_bits
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.intrinsics import BitcastOp, IntrinsicOp
from lamina.dialects.tir.ops import SelectOp
from lamina.dialects.tir.shuffle import ShuffleOp
from lamina.dialects.tir.vectors import CASTS, CastOp, CompareOp
from lamina.passes.tir_to_llvm.bfloat import extended, rounded
from lamina.passes.tir_to_llvm.builder import NE, SGE, SLT
from lamina.passes.tir_to_llvm.rules import Emit, Step, emits, one_to_one, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import (
    EXTREME,
    FLOAT,
    NO_FASTMATH,
    NO_OVERFLOW,
    OVERFLOW,
    Properties,
    computed_type,
    element_of,
    llvm_type,
    splat,
    with_element,
)

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.builder import FunctionBuilder
    from lamina.passes.tir_to_llvm.replay import Replay

# -- ops that llvm has ---------------------------------------------------------------------------------------------

one_to_one(arith.AddfOp, llvm.FAddOp, FLOAT)
one_to_one(arith.SubfOp, llvm.FSubOp, FLOAT)
one_to_one(arith.MulfOp, llvm.FMulOp, FLOAT)
one_to_one(arith.NegfOp, llvm.FNegOp, FLOAT)
one_to_one(arith.MaximumfOp, llvm.MaximumOp, EXTREME)
one_to_one(arith.MinimumfOp, llvm.MinimumOp, EXTREME)
one_to_one(arith.MaxnumfOp, llvm.VectorFMaxOp, FLOAT)
one_to_one(arith.MinnumfOp, llvm.VectorFMinOp, FLOAT)
one_to_one(arith.AddiOp, llvm.AddOp, OVERFLOW)
one_to_one(arith.SubiOp, llvm.SubOp, OVERFLOW)
one_to_one(arith.MuliOp, llvm.MulOp, OVERFLOW)
one_to_one(arith.DivSIOp, llvm.SDivOp)
one_to_one(arith.DivUIOp, llvm.UDivOp)
one_to_one(arith.RemSIOp, llvm.SRemOp)
one_to_one(arith.RemUIOp, llvm.URemOp)
one_to_one(arith.AndIOp, llvm.AndOp)
one_to_one(arith.OrIOp, llvm.OrOp)
one_to_one(arith.XOrIOp, llvm.XOrOp)
one_to_one(arith.ShLIOp, llvm.ShlOp, OVERFLOW)
one_to_one(arith.ShRSIOp, llvm.AShrOp)
one_to_one(arith.ShRUIOp, llvm.LShrOp)
one_to_one(arith.MaxSIOp, llvm.SMaxOp)
one_to_one(arith.MinSIOp, llvm.SMinOp)
one_to_one(arith.MaxUIOp, llvm.UMaxOp)
one_to_one(arith.MinUIOp, llvm.UMinOp)
one_to_one(arith.ExtSIOp, llvm.SExtOp)
one_to_one(arith.ExtUIOp, llvm.ZExtOp)
one_to_one(arith.TruncIOp, llvm.TruncOp, NO_OVERFLOW)
one_to_one(arith.SIToFPOp, llvm.SIToFPOp)
one_to_one(arith.UIToFPOp, llvm.UIToFPOp)
one_to_one(arith.BitcastOp, llvm.BitcastOp, moves=True)
one_to_one(math.FmaOp, llvm.FMAOp, FLOAT)
one_to_one(math.SqrtOp, llvm.FSqrtOp, FLOAT)
one_to_one(math.AbsFOp, llvm.FAbsOp, FLOAT)
one_to_one(math.FloorOp, llvm.FFloorOp, FLOAT)
one_to_one(math.CeilOp, llvm.FCeilOp, FLOAT)
one_to_one(math.TruncOp, llvm.FTruncOp, FLOAT)
one_to_one(math.RoundEvenOp, llvm.RoundEvenOp, FLOAT)
one_to_one(math.RoundOp, llvm.RoundOp, FLOAT)
one_to_one(math.ExpOp, llvm.FExpOp, FLOAT)
one_to_one(math.Exp2Op, llvm.FExp2Op, FLOAT)
one_to_one(math.LogOp, llvm.FLogOp, FLOAT)
one_to_one(math.Log2Op, llvm.FLog2Op, FLOAT)
one_to_one(math.Log10Op, llvm.Log10Op, FLOAT)
one_to_one(math.SinOp, llvm.FSinOp, FLOAT)
one_to_one(math.CosOp, llvm.FCosOp, FLOAT)
one_to_one(math.TanOp, llvm.TanOp, FLOAT)
one_to_one(math.AsinOp, llvm.ASinOp, FLOAT)
one_to_one(math.AcosOp, llvm.ACosOp, FLOAT)
one_to_one(math.AtanOp, llvm.ATanOp, FLOAT)
one_to_one(math.SinhOp, llvm.SinhOp, FLOAT)
one_to_one(math.CoshOp, llvm.CoshOp, FLOAT)
one_to_one(math.TanhOp, llvm.TanhOp, FLOAT)
one_to_one(math.PowFOp, llvm.FPowOp, FLOAT)
one_to_one(math.CopySignOp, llvm.FCopySignOp, FLOAT)
one_to_one(arith.SelectOp, llvm.SelectOp, FLOAT, moves=True)
one_to_one(BitcastOp, llvm.BitcastOp, moves=True)
one_to_one(SelectOp, llvm.SelectOp, FLOAT, moves=True)


@emits(ShuffleOp, moves=True)
def shuffle(op: ShuffleOp, b: FunctionBuilder) -> Emit:
    """llvm.shufflevector, of the lanes that it picks."""
    return _one(b, llvm.ShuffleVectorOp, llvm_type(op.result.type), {"mask": op.picks})


@emits(arith.CmpiOp, arith.CmpfOp, CompareOp)
def comparison(op: arith.CmpiOp | arith.CmpfOp | CompareOp, b: FunctionBuilder) -> Emit:
    """llvm.icmp or llvm.fcmp, by the type of what is compared."""
    floats = op.is_float() if isinstance(op, CompareOp) else isinstance(op, arith.CmpfOp)
    properties: Properties = {"predicate": IntegerAttr(op.predicate.value.data, i64)}
    if floats:
        properties["fastmathFlags"] = NO_FASTMATH
    return _one(b, llvm.FCmpOp if floats else llvm.ICmpOp, llvm_type(op.result.type), properties)


@emits(IntrinsicOp, moves=True)
def intrinsic(op: IntrinsicOp, b: FunctionBuilder) -> Emit:
    """llvm.call_intrinsic, with the settings of its row behind the operands; its own bf16 is bf16."""
    row, held = op.row, llvm_type(op.result.type)
    taken, type_ = [_as_named(o.type) for o in op.operands], _as_named(op.result.type)

    def emit(operands: list[SSAValue]) -> SSAValue:
        given = [v if v.type == t else b.emit(llvm.BitcastOp, [v], t, {}) for v, t in zip(operands, taken, strict=True)]
        settings = [b.constant(splat(value, t), t) for t, value in row.settings]
        call = llvm.CallIntrinsicOp(row.name, [*given, *settings], [type_])
        b.add(call)
        found = call.results[0]
        return found if type_ == held else b.emit(llvm.BitcastOp, [found], held, {})

    return emit


def _as_named(type_: Attribute) -> Attribute:
    """The llvm type by which intrinsics know a tir type."""
    return type_ if element_of(type_) == bf16 else llvm_type(type_)


@emits(arith.ConstantOp, moves=True)
def constant(op: arith.ConstantOp, b: FunctionBuilder) -> Emit:
    """llvm.mlir.constant in the function's entry, where it is used; one of `index` is an i64, one of bf16 an i16."""
    type_ = llvm_type(op.result.type)
    value = b.constant_when_used(constant_attr(op.value, type_), type_)
    return lambda operands: value()


def constant_attr(attr: Attribute, type_: Attribute) -> Attribute:
    """A constant's value with index types as i64, and bf16 as i16."""
    if isinstance(attr, IntegerAttr):
        return IntegerAttr(cast("IntegerAttr", attr).value.data, cast("IntegerType", type_))
    if element_of(type_) == i16 and type(attr) is FloatAttr:
        return IntegerAttr(_held(attr.value.data), i16)
    if element_of(type_) == i16 and type(attr) is DenseIntOrFPElementsAttr and element_of(attr.type) == bf16:
        numbers = [_held(v) for v in cast("Sequence[float]", attr.get_values())]
        return DenseIntOrFPElementsAttr.from_list(cast("VectorType[IntegerType]", type_), numbers)
    if type(attr) is FloatAttr or type(attr) is DenseIntOrFPElementsAttr:
        return attr
    raise TypeError(f"no llvm constant for {attr}")


def _held(number: float) -> int:
    """The integer that holds a bf16."""
    return (bf16_bits(number) ^ 0x8000) - 0x8000


def _one(b: FunctionBuilder, cls: type[Operation], type_: Attribute, properties: Properties) -> Emit:
    return lambda operands: b.emit(cls, operands, type_, properties)


# -- conversions ---------------------------------------------------------------------------------------------------


@tir_to_llvm.lowers(CastOp)
def cast_of_lanes(op: CastOp, replay: Replay) -> Step:
    """The rule of the conversion that it does lane by lane."""
    rule = tir_to_llvm.find(CASTS[op.kind.data])
    assert rule is not None
    return rule.function(op, replay)


@emits(arith.FPToSIOp)
def float_to_signed(op: Operation, b: FunctionBuilder) -> Emit:
    """llvm.fptosi, frozen: some floats have no result, and whatever the machine gives is one number, not poison."""
    return _frozen(b, llvm.FPToSIOp, computed_type(op.results[0].type))


@emits(arith.FPToUIOp)
def float_to_unsigned(op: Operation, b: FunctionBuilder) -> Emit:
    """llvm.fptoui, frozen like the signed one."""
    return _frozen(b, llvm.FPToUIOp, computed_type(op.results[0].type))


def _frozen(b: FunctionBuilder, cls: type[Operation], type_: Attribute) -> Emit:
    return lambda operands: b.emit(llvm.FreezeOp, [b.emit(cls, operands, type_, {})], type_, {})


@tir_to_llvm.lowers(arith.ExtFOp)
def longer_float(op: arith.ExtFOp, replay: Replay) -> Step:
    """llvm.fpext; of bf16 the bits are the upper half of those of f32."""
    b, type_ = replay.b, llvm_type(op.result.type)
    longer = _one(b, llvm.FPExtOp, type_, {})
    if element_of(op.operands[0].type) != bf16:
        return replay.plain(op, longer)
    is_single = element_of(type_) == f32

    def emit(operands: list[SSAValue]) -> SSAValue:
        found = extended(b, operands[0])
        return found if is_single else longer([found])

    return replay.plain(op, emit)


@tir_to_llvm.lowers(arith.TruncFOp)
def shorter_float(op: arith.TruncFOp, replay: Replay) -> Step:
    """llvm.fptrunc; from f32 to bf16 by integers where the machine has no instruction for it."""
    b = replay.b
    if element_of(op.result.type) != bf16:
        return replay.plain(op, _one(b, llvm.FPTruncOp, llvm_type(op.result.type), {}))

    def emit(operands: list[SSAValue]) -> SSAValue:
        return rounded(b, operands[0], replay.rounds_to_bf16)

    return replay.plain(op, emit)


@emits(arith.IndexCastOp)
def index_cast(op: Operation, b: FunctionBuilder) -> Emit:
    """llvm.trunc, llvm.sext or nothing: an index has 64 bits, and a sign."""
    type_ = llvm_type(op.results[0].type)
    source, target = element_of(llvm_type(op.operands[0].type)), element_of(type_)
    assert type(source) is IntegerType and type(target) is IntegerType
    given, wanted = source.width.data, target.width.data
    if given == wanted:
        return lambda operands: operands[0]
    if given > wanted:
        return _one(b, llvm.TruncOp, type_, NO_OVERFLOW)
    return _one(b, llvm.SExtOp, type_, {})


# -- ops that become several ---------------------------------------------------------------------------------------


@emits(arith.FloorDivSIOp, arith.CeilDivSIOp)
def rounded_quotient(op: arith.FloorDivSIOp | arith.CeilDivSIOp, b: FunctionBuilder) -> Emit:
    """The truncated quotient, and one less (of a ceiling: more) where r != 0 and its sign is not (is) the divisor's."""
    type_ = llvm_type(op.result.type)
    bit = with_element(type_, i1)
    # A bit extended by its sign is -1.
    rounds, predicate = (llvm.AddOp, SLT) if type(op) is arith.FloorDivSIOp else (llvm.SubOp, SGE)

    def emit(operands: list[SSAValue]) -> SSAValue:
        dividend, divisor = operands
        zero = b.constant(splat(0, type_), type_)
        q = b.emit(llvm.SDivOp, [dividend, divisor], type_, {})
        r = b.emit(llvm.SRemOp, [dividend, divisor], type_, {})
        signs = b.emit(llvm.XOrOp, [r, divisor], type_, {})
        beyond = b.emit(llvm.ICmpOp, [signs, zero], bit, {"predicate": predicate})
        inexact = b.emit(llvm.ICmpOp, [r, zero], bit, {"predicate": NE})
        both = b.emit(llvm.AndOp, [beyond, inexact], bit, {})
        one = b.emit(llvm.SExtOp, [both], type_, {}) if type_ != i1 else both
        return b.emit(rounds, [q, one], type_, OVERFLOW)

    return emit


@emits(arith.CeilDivUIOp)
def unsigned_ceiling(op: arith.CeilDivUIOp, b: FunctionBuilder) -> Emit:
    """The truncated quotient, and one more where r != 0."""
    type_ = llvm_type(op.result.type)
    bit = with_element(type_, i1)

    def emit(operands: list[SSAValue]) -> SSAValue:
        zero = b.constant(splat(0, type_), type_)
        q = b.emit(llvm.UDivOp, operands, type_, {})
        r = b.emit(llvm.URemOp, operands, type_, {})
        inexact = b.emit(llvm.ICmpOp, [r, zero], bit, {"predicate": NE})
        one = b.emit(llvm.ZExtOp, [inexact], type_, {}) if type_ != i1 else inexact
        return b.emit(llvm.AddOp, [q, one], type_, OVERFLOW)

    return emit


@emits(math.AbsIOp)
def absolute(op: math.AbsIOp, b: FunctionBuilder) -> Emit:
    """The larger of x and -x; the smallest integer stays."""
    type_ = llvm_type(op.result.type)

    def emit(operands: list[SSAValue]) -> SSAValue:
        negative = b.emit(llvm.SubOp, [b.constant(splat(0, type_), type_), *operands], type_, OVERFLOW)
        return b.emit(llvm.SMaxOp, [*operands, negative], type_, {})

    return emit


@emits(math.RsqrtOp)
def rsqrt(op: math.RsqrtOp, b: FunctionBuilder) -> Emit:
    """1 / sqrt(x)."""
    type_ = computed_type(op.result.type)

    def emit(operands: list[SSAValue]) -> SSAValue:
        root = b.emit(llvm.FSqrtOp, operands, type_, FLOAT)
        return b.emit(llvm.FDivOp, [b.constant(splat(1.0, type_), type_), root], type_, FLOAT)

    return emit


_LIBM: dict[type[Operation], str] = {
    math.ErfOp: "erf",
    math.AsinhOp: "asinh",
    math.AcoshOp: "acosh",
    math.AtanhOp: "atanh",
    math.Atan2Op: "atan2",
    math.CbrtOp: "cbrt",
    math.ExpM1Op: "expm1",
    math.Log1pOp: "log1p",
}
"""Functions that LLVM has no intrinsic for. The float version has the suffix f."""


@emits(*_LIBM)
def library_call(op: Operation, builder: FunctionBuilder) -> Emit:
    """The C library's function, lane by lane."""
    type_ = computed_type(op.results[0].type)
    element = element_of(type_)
    call_type = element if isinstance(element, (Float32Type, Float64Type)) else f32
    symbol = _LIBM[type(op)] + ("f" if call_type == f32 else "")

    def one(values: list[SSAValue]) -> SSAValue:
        if call_type != element:
            values = [builder.emit(llvm.FPExtOp, [v], call_type, {}) for v in values]
        result = builder.call(symbol, values, call_type)
        return builder.emit(llvm.FPTruncOp, [result], element, {}) if call_type != element else result

    def emit(operands: list[SSAValue]) -> SSAValue:
        if type(type_) is not VectorType:
            return one(operands)
        result = builder.emit(llvm.PoisonOp, [], type_, {})
        for lane in range(type_.get_shape()[0]):
            at = builder.constant(IntegerAttr(lane, i64), i64)
            values = [builder.emit(llvm.ExtractElementOp, [v, at], element, {}) for v in operands]
            result = builder.emit(llvm.InsertElementOp, [result, one(values), at], type_, {})
        return result

    return emit
