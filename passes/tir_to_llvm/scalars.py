"""Arithmetic of tir bodies as llvm ops, one row for each arith and math op; scalars and vectors alike.

A row is the llvm op class and its properties, or a function where one op becomes several. What has neither is
refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.intrinsics import BitcastOp, Intrinsic, IntrinsicOp
from lamina.dialects.tir.vectors import CASTS, CastOp, CompareOp

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.builder import FunctionBuilder

Properties = dict[str, Attribute]

NO_FASTMATH = llvm.FastMathAttr(None)
FLOAT: Properties = {"fastmathFlags": NO_FASTMATH}
EXTREME: Properties = {"fastmathFlags": llvm.FastMathAttr([FastMathFlag.NO_SIGNED_ZEROS])}
"""Flags of maxima: no order of the two zeros, which neither ONNX nor NumPy gives; it would take twice the time."""
OVERFLOW: Properties = {"overflowFlags": IntegerAttr(0, i32)}
NO_OVERFLOW: Properties = {"overflowFlags": llvm.OverflowAttr("none")}
"""The same for truncations, which xDSL gives flags of another type."""

_TYPES: dict[Attribute, Attribute] = {}


def llvm_type(type_: Attribute) -> Attribute:
    """The llvm type of a tir scalar or vector: `index` is i64."""
    found = _TYPES.get(type_)
    if found is None:
        if isinstance(type_, IndexType):
            found = i64
        elif type(type_) is VectorType:
            found = VectorType(llvm_type(type_.element_type), type_.get_shape())
        else:
            found = type_
        _TYPES[type_] = found
    return found


def memory_type(type_: Attribute) -> Attribute:
    """The type in memory: a boolean takes a byte."""
    if type(type_) is VectorType:
        element = memory_type(type_.element_type)
        return type_ if element is type_.element_type else VectorType(element, type_.get_shape())
    return i8 if type_ == i1 else type_


Row = tuple[type[Operation], Properties]

_BINARY: dict[type[Operation], Row] = {
    arith.AddfOp: (llvm.FAddOp, FLOAT),
    arith.SubfOp: (llvm.FSubOp, FLOAT),
    arith.MulfOp: (llvm.FMulOp, FLOAT),
    arith.DivfOp: (llvm.FDivOp, FLOAT),
    arith.NegfOp: (llvm.FNegOp, FLOAT),
    arith.MaximumfOp: (llvm.MaximumOp, EXTREME),
    arith.MinimumfOp: (llvm.MinimumOp, EXTREME),
    arith.MaxnumfOp: (llvm.VectorFMaxOp, FLOAT),
    arith.MinnumfOp: (llvm.VectorFMinOp, FLOAT),
    arith.AddiOp: (llvm.AddOp, OVERFLOW),
    arith.SubiOp: (llvm.SubOp, OVERFLOW),
    arith.MuliOp: (llvm.MulOp, OVERFLOW),
    arith.DivSIOp: (llvm.SDivOp, {}),
    arith.DivUIOp: (llvm.UDivOp, {}),
    arith.RemSIOp: (llvm.SRemOp, {}),
    arith.RemUIOp: (llvm.URemOp, {}),
    arith.AndIOp: (llvm.AndOp, {}),
    arith.OrIOp: (llvm.OrOp, {}),
    arith.XOrIOp: (llvm.XOrOp, {}),
    arith.ShLIOp: (llvm.ShlOp, OVERFLOW),
    arith.ShRSIOp: (llvm.AShrOp, {}),
    arith.ShRUIOp: (llvm.LShrOp, {}),
    arith.MaxSIOp: (llvm.SMaxOp, {}),
    arith.MinSIOp: (llvm.SMinOp, {}),
    arith.MaxUIOp: (llvm.UMaxOp, {}),
    arith.MinUIOp: (llvm.UMinOp, {}),
    arith.ExtFOp: (llvm.FPExtOp, {}),
    arith.TruncFOp: (llvm.FPTruncOp, {}),
    arith.ExtSIOp: (llvm.SExtOp, {}),
    arith.ExtUIOp: (llvm.ZExtOp, {}),
    arith.TruncIOp: (llvm.TruncOp, NO_OVERFLOW),
    arith.SIToFPOp: (llvm.SIToFPOp, {}),
    arith.UIToFPOp: (llvm.UIToFPOp, {}),
    arith.FPToSIOp: (llvm.FPToSIOp, {}),
    arith.FPToUIOp: (llvm.FPToUIOp, {}),
    arith.BitcastOp: (llvm.BitcastOp, {}),
    math.FmaOp: (llvm.FMAOp, FLOAT),
    math.SqrtOp: (llvm.FSqrtOp, FLOAT),
    math.AbsFOp: (llvm.FAbsOp, FLOAT),
    math.FloorOp: (llvm.FFloorOp, FLOAT),
    math.CeilOp: (llvm.FCeilOp, FLOAT),
    math.TruncOp: (llvm.FTruncOp, FLOAT),
    math.RoundEvenOp: (llvm.RoundEvenOp, FLOAT),
    math.RoundOp: (llvm.RoundOp, FLOAT),
    math.ExpOp: (llvm.FExpOp, FLOAT),
    math.Exp2Op: (llvm.FExp2Op, FLOAT),
    math.LogOp: (llvm.FLogOp, FLOAT),
    math.Log2Op: (llvm.FLog2Op, FLOAT),
    math.Log10Op: (llvm.Log10Op, FLOAT),
    math.SinOp: (llvm.FSinOp, FLOAT),
    math.CosOp: (llvm.FCosOp, FLOAT),
    math.TanOp: (llvm.TanOp, FLOAT),
    math.AsinOp: (llvm.ASinOp, FLOAT),
    math.AcosOp: (llvm.ACosOp, FLOAT),
    math.AtanOp: (llvm.ATanOp, FLOAT),
    math.SinhOp: (llvm.SinhOp, FLOAT),
    math.CoshOp: (llvm.CoshOp, FLOAT),
    math.TanhOp: (llvm.TanhOp, FLOAT),
    math.PowFOp: (llvm.FPowOp, FLOAT),
    math.CopySignOp: (llvm.FCopySignOp, FLOAT),
    arith.SelectOp: (llvm.SelectOp, FLOAT),
    BitcastOp: (llvm.BitcastOp, {}),
}

_LIBM = {math.ErfOp: "erf", math.AsinhOp: "asinh", math.AcoshOp: "acosh", math.AtanhOp: "atanh"}
"""C library functions for ops without an intrinsic of LLVM's, lane by lane. The float version has the suffix f."""

Emit = Callable[[list[SSAValue]], SSAValue]


def compile_op(op: Operation, builder: FunctionBuilder) -> Emit | None:
    """A function from llvm operands to the llvm result; None for an op that has no row."""
    op_type = type(op)
    if not op.results:
        return None
    result_type = llvm_type(op.results[0].type)
    if isinstance(op, CastOp):
        op_type = CASTS[op.kind.data]
    row = _BINARY.get(op_type)
    if row is not None:
        cls, properties = row
        if cls in (llvm.FPToSIOp, llvm.FPToUIOp):
            return _frozen(builder, cls, result_type)
        return _one(builder, cls, result_type, properties)
    if isinstance(op, arith.ConstantOp):
        value = builder.constant_when_used(constant_attr(op.value, result_type), result_type)
        return lambda operands: value()
    if isinstance(op, (arith.CmpfOp, arith.CmpiOp, CompareOp)):
        floats = op.is_float() if isinstance(op, CompareOp) else isinstance(op, arith.CmpfOp)
        properties: Properties = {"predicate": IntegerAttr(op.predicate.value.data, i64)}
        if floats:
            properties["fastmathFlags"] = NO_FASTMATH
        return _one(builder, llvm.FCmpOp if floats else llvm.ICmpOp, result_type, properties)
    if op_type is arith.IndexCastOp:
        return _index_cast(op, builder, result_type)
    if isinstance(op, IntrinsicOp):
        return _intrinsic(op.row, builder, result_type)
    if isinstance(op, arith.FloorDivSIOp):
        return _floor_divide(builder, result_type)
    if isinstance(op, math.RsqrtOp):
        return _rsqrt(builder, result_type)
    if op_type in _LIBM:
        return _library_call(_LIBM[op_type], builder, result_type)
    return None


def _one(builder: FunctionBuilder, cls: type[Operation], type_: Attribute, properties: Properties) -> Emit:
    def emit(operands: list[SSAValue]) -> SSAValue:
        return builder.emit(cls, operands, type_, properties)

    return emit


def _intrinsic(row: Intrinsic, builder: FunctionBuilder, type_: Attribute) -> Emit:
    def emit(operands: list[SSAValue]) -> SSAValue:
        settings = [builder.constant(splat(value, t), t) for t, value in row.settings]
        op = llvm.CallIntrinsicOp(row.name, [*operands, *settings], [type_])
        builder.add(op)
        return op.results[0]

    return emit


def _frozen(builder: FunctionBuilder, cls: type[Operation], type_: Attribute) -> Emit:
    """A conversion that has no result for some floats: whatever the machine gives, it is one number, not poison."""

    def emit(operands: list[SSAValue]) -> SSAValue:
        return builder.emit(llvm.FreezeOp, [builder.emit(cls, operands, type_, {})], type_, {})

    return emit


def constant_attr(attr: Attribute, type_: Attribute) -> Attribute:
    """A constant's value with index types as i64."""
    if isinstance(attr, IntegerAttr):
        return IntegerAttr(cast("IntegerAttr", attr).value.data, cast("IntegerType", type_))
    if type(attr) is FloatAttr or type(attr) is DenseIntOrFPElementsAttr:
        return attr
    raise TypeError(f"no llvm constant for {attr}")


def element_of(type_: Attribute) -> Attribute:
    """The type of a lane; of a scalar itself."""
    return type_.element_type if type(type_) is VectorType else type_


def _index_cast(op: Operation, builder: FunctionBuilder, type_: Attribute) -> Emit:
    source, target = element_of(llvm_type(op.operands[0].type)), element_of(type_)
    assert type(source) is IntegerType and type(target) is IntegerType
    a, b = source.width.data, target.width.data
    if a == b:
        return lambda operands: operands[0]
    if a > b:
        return _one(builder, llvm.TruncOp, type_, NO_OVERFLOW)
    return _one(builder, llvm.SExtOp, type_, {})


def splat(value: float | int, type_: Attribute) -> Attribute:
    """The attribute of a constant in every lane of a type."""
    if type(type_) is VectorType:
        return DenseIntOrFPElementsAttr.from_list(cast("VectorType[AnyFloat]", type_), [value])
    if type(type_) is IntegerType or type(type_) is IndexType:
        return IntegerAttr(int(value), type_)
    return FloatAttr(float(value), cast("AnyFloat", type_))


def _floor_divide(builder: FunctionBuilder, type_: Attribute) -> Emit:
    """q - (r != 0 and (r < 0) != (b < 0)), from the truncated quotient."""
    bit = VectorType(i1, type_.get_shape()) if type(type_) is VectorType else i1

    def emit(operands: list[SSAValue]) -> SSAValue:
        a, b = operands
        zero = builder.constant(splat(0, type_), type_)
        q = builder.emit(llvm.SDivOp, [a, b], type_, {})
        r = builder.emit(llvm.SRemOp, [a, b], type_, {})
        signs = builder.emit(llvm.XOrOp, [r, b], type_, {})
        differ = builder.emit(llvm.ICmpOp, [signs, zero], bit, {"predicate": IntegerAttr(2, i64)})
        inexact = builder.emit(llvm.ICmpOp, [r, zero], bit, {"predicate": IntegerAttr(1, i64)})
        both = builder.emit(llvm.AndOp, [differ, inexact], bit, {})
        one = builder.emit(llvm.SExtOp, [both], type_, {}) if type_ != i1 else both
        return builder.emit(llvm.AddOp, [q, one], type_, OVERFLOW)

    return emit


def _rsqrt(builder: FunctionBuilder, type_: Attribute) -> Emit:
    def emit(operands: list[SSAValue]) -> SSAValue:
        root = builder.emit(llvm.FSqrtOp, operands, type_, FLOAT)
        return builder.emit(llvm.FDivOp, [builder.constant(splat(1.0, type_), type_), root], type_, FLOAT)

    return emit


def _library_call(name: str, builder: FunctionBuilder, type_: Attribute) -> Emit:
    element = element_of(type_)
    call_type = element if isinstance(element, (Float32Type, Float64Type)) else f32
    symbol = name + ("f" if call_type == f32 else "")

    def one(value: SSAValue) -> SSAValue:
        if call_type != element:
            value = builder.emit(llvm.FPExtOp, [value], call_type, {})
        result = builder.call(symbol, [value], call_type)
        return builder.emit(llvm.FPTruncOp, [result], element, {}) if call_type != element else result

    def emit(operands: list[SSAValue]) -> SSAValue:
        if type(type_) is not VectorType:
            return one(operands[0])
        result = builder.emit(llvm.PoisonOp, [], type_, {})
        for lane in range(type_.get_shape()[0]):
            at = builder.constant(IntegerAttr(lane, i64), i64)
            value = builder.emit(llvm.ExtractElementOp, [operands[0], at], element, {})
            result = builder.emit(llvm.InsertElementOp, [result, one(value), at], type_, {})
        return result

    return emit
