"""Memory ops of the llvm dialect: load, store, getelementptr, atomics.

They take the place of xDSL's `llvm.load`, `llvm.store` and `llvm.getelementptr`, which lose orderings, volatile and
wrap flags. Names, properties and syntax are MLIR 22's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import (
    ATOMIC_ORDERING_KEYWORDS,
    GEP_USE_SSA_VAL,
    LLVMArrayType,
    LLVMPointerType,
    LLVMStructType,
)
from xdsl.dialects.utils import parse_dynamic_index_list_without_types, print_dynamic_index_list
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

__all__ = [
    "AtomicRMWOp",
    "CmpXchgOp",
    "FenceOp",
    "GEPOp",
    "LoadOp",
    "StoreOp",
]

_ORDERING_NUMBERS = {name: number for number, name in ATOMIC_ORDERING_KEYWORDS.items()}

ATOMIC_BIN_OPS = (
    *("xchg", "add", "sub", "_and", "nand", "_or", "_xor", "max", "min", "umax", "umin", "fadd", "fsub"),
    *("fmax", "fmin", "uinc_wrap", "udec_wrap", "usub_cond", "usub_sat", "fmaximum", "fminimum"),
)
"""MLIR's keywords of `llvm.atomicrmw`, at the index of their number."""

GEP_WRAP_FLAGS = {0: "", 2: "nusw", 3: "inbounds", 4: "nuw", 6: "nusw|nuw", 7: "inbounds|nuw"}
"""The property noWrapFlags as MLIR prints it (inbounds implies nusw)."""
_GEP_FLAG_BITS = {"inbounds": 3, "inbounds_flag": 1, "nusw": 2, "nuw": 4}


def _unit(present: bool, name: str, properties: dict[str, Attribute]) -> None:
    if present:
        properties[name] = UnitAttr()


def _parse_ordering(parser: Parser) -> IntegerAttr[IntegerType]:
    word = parser.parse_identifier("an atomic ordering")
    if word not in _ORDERING_NUMBERS:
        parser.raise_error(f"unknown atomic ordering '{word}'; one of {', '.join(_ORDERING_NUMBERS)}")
    return IntegerAttr(_ORDERING_NUMBERS[word], i64)


def _print_ordering(printer: Printer, ordering: IntegerAttr[IntegerType]) -> None:
    printer.print_string(f" {ATOMIC_ORDERING_KEYWORDS[ordering.value.data]}")


def _parse_syncscope(parser: Parser, properties: dict[str, Attribute]) -> None:
    if parser.parse_optional_keyword("syncscope") is not None:
        with parser.in_parens():
            properties["syncscope"] = StringAttr(parser.parse_str_literal())


def _print_syncscope(printer: Printer, scope: StringAttr | None) -> None:
    if scope is not None:
        printer.print_string(" syncscope(")
        printer.print_string_literal(scope.data)
        printer.print_string(")")


def _parse_atomic(parser: Parser, properties: dict[str, Attribute]) -> None:
    if parser.parse_optional_keyword("atomic") is not None:
        _parse_syncscope(parser, properties)
        properties["ordering"] = _parse_ordering(parser)


def _print_atomic(printer: Printer, op: LoadOp | StoreOp) -> None:
    if op.ordering is not None and op.ordering.value.data:
        printer.print_string(" atomic")
        _print_syncscope(printer, op.syncscope)
        _print_ordering(printer, op.ordering)


def _parse_attributes(parser: Parser, names: Sequence[str], properties: dict[str, Attribute]) -> dict[str, Attribute]:
    """The attribute dictionary; entries that are properties of the op move there."""
    attributes = parser.parse_optional_attr_dict()
    for name in names:
        if name in attributes:
            properties[name] = attributes.pop(name)
    return attributes


def _print_attributes(printer: Printer, op: IRDLOperation, names: Sequence[str]) -> None:
    shown = {name: op.properties[name] for name in names if name in op.properties}
    printer.print_op_attributes(shown | op.attributes)


@irdl_op_definition
class LoadOp(IRDLOperation):
    """`%v = llvm.load volatile %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64`"""

    name = "llvm.load"

    ptr = operand_def(LLVMPointerType)
    res = result_def()

    alignment = opt_prop_def(IntegerAttr[IntegerType])
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    invariant = opt_prop_def(UnitAttr)
    ordering = opt_prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)

    def print(self, printer: Printer) -> None:
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_ssa_value(self.ptr)
        _print_atomic(printer, self)
        if self.invariant is not None:
            printer.print_string(" invariant")
        _print_attributes(printer, self, ("alignment", "nontemporal"))
        printer.print_string(" : ")
        printer.print_attribute(self.ptr.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        properties: dict[str, Attribute] = {}
        _unit(parser.parse_optional_keyword("volatile") is not None, "volatile_", properties)
        ptr = parser.parse_unresolved_operand()
        _parse_atomic(parser, properties)
        _unit(parser.parse_optional_keyword("invariant") is not None, "invariant", properties)
        attributes = _parse_attributes(parser, ("alignment", "nontemporal"), properties)
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation("->")
        return cls.create(
            operands=[parser.resolve_operand(ptr, ptr_type)],
            result_types=[parser.parse_type()],
            properties=properties,
            attributes=attributes,
        )


@irdl_op_definition
class StoreOp(IRDLOperation):
    """`llvm.store %v, %p {alignment = 4 : i64} : f32, !llvm.ptr`"""

    name = "llvm.store"

    value = operand_def()
    ptr = operand_def(LLVMPointerType)

    alignment = opt_prop_def(IntegerAttr[IntegerType])
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    ordering = opt_prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)

    def print(self, printer: Printer) -> None:
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        printer.print_ssa_value(self.ptr)
        _print_atomic(printer, self)
        _print_attributes(printer, self, ("alignment", "nontemporal"))
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        printer.print_attribute(self.ptr.type)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        properties: dict[str, Attribute] = {}
        _unit(parser.parse_optional_keyword("volatile") is not None, "volatile_", properties)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        ptr = parser.parse_unresolved_operand()
        _parse_atomic(parser, properties)
        attributes = _parse_attributes(parser, ("alignment", "nontemporal"), properties)
        parser.parse_punctuation(":")
        value_type = parser.parse_type()
        parser.parse_punctuation(",")
        return cls.create(
            operands=[
                parser.resolve_operand(value, value_type),
                parser.resolve_operand(ptr, parser.parse_type()),
            ],
            properties=properties,
            attributes=attributes,
        )


def _is_pointer(type_: Attribute) -> bool:
    return isinstance(type_, LLVMPointerType) or (
        isinstance(type_, VectorType) and isinstance(cast(VectorType[Attribute], type_).element_type, LLVMPointerType)
    )


@irdl_op_definition
class GEPOp(IRDLOperation):
    """`%q = llvm.getelementptr inbounds|nuw %p[%i, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>`

    In `rawConstantIndices` the value GEP_USE_SSA_VAL stands for the next index operand.
    """

    name = "llvm.getelementptr"

    ptr = operand_def()
    ssa_indices = var_operand_def()
    result = result_def()

    elem_type = prop_def()
    rawConstantIndices = prop_def(DenseArrayBase.constr(i32))
    noWrapFlags = opt_prop_def(IntegerAttr[IntegerType])

    traits = traits_def(NoMemoryEffect())

    def verify_(self) -> None:
        if not _is_pointer(self.ptr.type) or not _is_pointer(self.result.type):
            raise VerifyException("getelementptr takes and gives a pointer or a vector of pointers")
        if self.noWrapFlags is not None and self.noWrapFlags.value.data not in GEP_WRAP_FLAGS:
            raise VerifyException(f"unknown noWrapFlags {self.noWrapFlags.value.data}")
        indices: tuple[int, ...] = tuple(self.rawConstantIndices.iter_values())
        if indices.count(GEP_USE_SSA_VAL) != len(self.ssa_indices):
            raise VerifyException(
                f"{indices.count(GEP_USE_SSA_VAL)} indices are values, {len(self.ssa_indices)} were given"
            )
        current: Attribute = self.elem_type
        for position, index in enumerate(indices[1:], start=1):
            if isinstance(current, LLVMArrayType):
                current = current.type
            elif isinstance(current, LLVMStructType):
                if not 0 <= index < len(current.types):
                    raise VerifyException(
                        f"index #{position} of a struct with {len(current.types)} fields is a constant in range"
                    )
                current = current.types.data[index]
            else:
                raise VerifyException(f"index #{position}: cannot index into {current}")

    def print(self, printer: Printer) -> None:
        flags = GEP_WRAP_FLAGS[0 if self.noWrapFlags is None else self.noWrapFlags.value.data]
        printer.print_string(f" {flags} " if flags else " ")
        printer.print_ssa_value(self.ptr)
        print_dynamic_index_list(
            printer, GEP_USE_SSA_VAL, self.ssa_indices, tuple(self.rawConstantIndices.iter_values())
        )
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type([v.type for v in self.operands], [self.result.type])
        printer.print_string(", ")
        printer.print_attribute(self.elem_type)

    @classmethod
    def parse(cls, parser: Parser) -> GEPOp:
        flags = 0
        while (word := parser.parse_optional_keyword_in(_GEP_FLAG_BITS)) is not None:
            flags |= _GEP_FLAG_BITS[word]
            if parser.parse_optional_punctuation("|") is None:
                break
        ptr = parser.parse_unresolved_operand()
        values, constants = parse_dynamic_index_list_without_types(parser, GEP_USE_SSA_VAL)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        parser.parse_punctuation(",")
        properties: dict[str, Attribute] = {
            "rawConstantIndices": DenseArrayBase.from_list(i32, constants),
            "elem_type": parser.parse_type(),
        }
        if flags:
            properties["noWrapFlags"] = IntegerAttr(flags, i32)
        return cls.create(
            operands=parser.resolve_operands([ptr, *values], type_.inputs.data, parser.pos),
            result_types=type_.outputs.data,
            properties=properties,
            attributes=attributes,
        )


@irdl_op_definition
class AtomicRMWOp(IRDLOperation):
    """`%old = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr, i64`"""

    name = "llvm.atomicrmw"

    ptr = operand_def(LLVMPointerType)
    val = operand_def()
    res = result_def()

    bin_op = prop_def(IntegerAttr[IntegerType])
    ordering = prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)
    alignment = opt_prop_def(IntegerAttr[IntegerType])
    volatile_ = opt_prop_def(UnitAttr)

    def verify_(self) -> None:
        if self.res.type != self.val.type:
            raise VerifyException(f"result is {self.res.type}, the operand {self.val.type}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_string(f"{ATOMIC_BIN_OPS[self.bin_op.value.data]} ")
        printer.print_list(self.operands, printer.print_ssa_value)
        _print_syncscope(printer, self.syncscope)
        _print_ordering(printer, self.ordering)
        _print_attributes(printer, self, ("alignment",))
        printer.print_string(" : ")
        printer.print_list((v.type for v in self.operands), printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> AtomicRMWOp:
        properties: dict[str, Attribute] = {}
        _unit(parser.parse_optional_keyword("volatile") is not None, "volatile_", properties)
        word = parser.parse_identifier("an atomic operation")
        if word not in ATOMIC_BIN_OPS:
            parser.raise_error(f"unknown atomic operation '{word}'")
        properties["bin_op"] = IntegerAttr(ATOMIC_BIN_OPS.index(word), i64)
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        _parse_syncscope(parser, properties)
        properties["ordering"] = _parse_ordering(parser)
        attributes = _parse_attributes(parser, ("alignment",), properties)
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        val_type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands([ptr, val], [ptr_type, val_type], parser.pos),
            result_types=[val_type],
            properties=properties,
            attributes=attributes,
        )


@irdl_op_definition
class CmpXchgOp(IRDLOperation):
    """`%r = llvm.cmpxchg weak %p, %expected, %new acq_rel monotonic : !llvm.ptr, i64`, a struct (old value, i1)"""

    name = "llvm.cmpxchg"

    ptr = operand_def(LLVMPointerType)
    cmp = operand_def()
    val = operand_def()
    res = result_def(LLVMStructType)

    success_ordering = prop_def(IntegerAttr[IntegerType])
    failure_ordering = prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)
    alignment = opt_prop_def(IntegerAttr[IntegerType])
    weak = opt_prop_def(UnitAttr)
    volatile_ = opt_prop_def(UnitAttr)

    def print(self, printer: Printer) -> None:
        if self.weak is not None:
            printer.print_string(" weak")
        printer.print_string(" volatile " if self.volatile_ is not None else " ")
        printer.print_list(self.operands, printer.print_ssa_value)
        _print_syncscope(printer, self.syncscope)
        _print_ordering(printer, self.success_ordering)
        _print_ordering(printer, self.failure_ordering)
        _print_attributes(printer, self, ("alignment",))
        printer.print_string(" : ")
        printer.print_list((self.ptr.type, self.val.type), printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> CmpXchgOp:
        properties: dict[str, Attribute] = {}
        _unit(parser.parse_optional_keyword("weak") is not None, "weak", properties)
        _unit(parser.parse_optional_keyword("volatile") is not None, "volatile_", properties)
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        _parse_syncscope(parser, properties)
        properties["success_ordering"] = _parse_ordering(parser)
        properties["failure_ordering"] = _parse_ordering(parser)
        attributes = _parse_attributes(parser, ("alignment",), properties)
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        type_ = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(names, [ptr_type, type_, type_], parser.pos),
            result_types=[LLVMStructType.from_type_list([type_, i1])],
            properties=properties,
            attributes=attributes,
        )


@irdl_op_definition
class FenceOp(IRDLOperation):
    """`llvm.fence syncscope("agent") seq_cst`"""

    name = "llvm.fence"

    ordering = prop_def(IntegerAttr[IntegerType])
    syncscope = opt_prop_def(StringAttr)

    def print(self, printer: Printer) -> None:
        _print_syncscope(printer, self.syncscope)
        _print_ordering(printer, self.ordering)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> FenceOp:
        properties: dict[str, Attribute] = {}
        _parse_syncscope(parser, properties)
        properties["ordering"] = _parse_ordering(parser)
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())
