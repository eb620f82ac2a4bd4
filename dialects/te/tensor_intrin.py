"""Tensor intrinsics: what a small tensor program computes, and a better way to compute it.

    te.tensor_intrin @dot_4 {
      te.func @desc(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<f32> {
        %c = te.compute "c" [] sum [4] (%k) : tensor<f32> { ... te.yield %p : f32 }
        te.return %c : tensor<f32>
      }
      tir.func @update(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<f32>) { ... }
      tir.func @reset(%c: memref<f32>) { ... }
    }

`@desc` is the meaning: one te.compute. The implementations work on windows of the real buffers, which look to them
like dense buffers of the description's shapes: `@body` computes all of it; for a reduction `@update` adds to what the
result holds, and `@reset` gives the result its initial value (where it is missing, plain loops do). They are TVM's
body, reduce_update and reduce_init.

What an implementation asks of the windows' place in memory stands at the description's arguments and result:
`te.strides = array<i64: 64, 1>` (elements, -1 for any) and `te.offset_factor = 16 : i64`.

A declaration is compared with its implementations, on random data, when `te-to-tir` meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.te.ops import ComputeOp, FuncOp, ReadOp, ReturnOp

if TYPE_CHECKING:
    from lamina.dialects.tir.body_builder import BodyBuilder
    from lamina.dialects.tir.ops import FuncOp as KernelOp

STRIDES = "te.strides"
OFFSET_FACTOR = "te.offset_factor"
DESC = "desc"
VARIANTS = ("body", "reset", "update")


@irdl_op_definition
class TensorIntrinOp(IRDLOperation):
    """A tensor intrinsic: `te.tensor_intrin @name { te.func @desc ... tir.func @update ... }`."""

    name = "te.tensor_intrin"

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    assembly_format = "$sym_name attr-dict-with-keyword $body"
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), SymbolTable())

    @staticmethod
    def make(name: str, desc: FuncOp, implementations: Sequence[KernelOp]) -> TensorIntrinOp:
        """A declaration; the functions are named desc, body, reset and update."""
        block = Block([desc, *implementations])
        return TensorIntrinOp.create(properties={"sym_name": StringAttr(name)}, regions=[Region(block)])

    @property
    def desc(self) -> FuncOp:
        """The function that says what the intrinsic computes."""
        return next(op for op in self.body.block.ops if isinstance(op, FuncOp))

    @property
    def compute(self) -> ComputeOp:
        """The description's equation."""
        return next(op for op in self.desc.body.block.ops if isinstance(op, ComputeOp))

    def variant(self, name: str) -> KernelOp | None:
        """The implementation of that name: body, reset or update."""
        from lamina.dialects.tir.ops import FuncOp as KernelOp

        for op in self.body.block.ops:
            if isinstance(op, KernelOp) and op.sym_name.data == name:
                return op
        return None

    def operand_attributes(self) -> list[DictionaryAttr]:
        """The attributes of the description's arguments and of its result."""
        desc = self.desc
        counts = (len(desc.function_type.inputs), len(desc.function_type.outputs))
        found: list[DictionaryAttr] = []
        for attrs, count in zip((desc.arg_attrs, desc.res_attrs), counts, strict=True):
            found += (
                list(cast("ArrayAttr[DictionaryAttr]", attrs)) if attrs is not None else [DictionaryAttr({})] * count
            )
        return found

    def strides(self) -> list[tuple[int, ...] | None]:
        """The strides that each operand must have, the result last; None where any will do."""
        found: list[tuple[int, ...] | None] = []
        for attrs in self.operand_attributes():
            strides = attrs.data.get(STRIDES)
            given = cast("DenseArrayBase[IntegerType]", strides).get_values() if strides is not None else None
            found.append(None if given is None else tuple(given))
        return found

    def offset_factors(self) -> list[int]:
        """Each operand starts at a multiple of so many elements."""
        factors = [attrs.data.get(OFFSET_FACTOR) for attrs in self.operand_attributes()]
        return [1 if f is None else cast("IntegerAttr", f).value.data for f in factors]

    def verify_(self) -> None:
        _verify_names(self)
        _verify_desc(self.desc)
        shapes = [cast("TensorType[Attribute]", t) for t in _operand_types(self.desc)]
        for attrs, type_ in zip(self.operand_attributes(), shapes, strict=True):
            _verify_layout(attrs, type_)
        reduces = self.compute.combiner is not None
        for name in VARIANTS:
            variant = self.variant(name)
            if variant is None:
                continue
            if name != "body" and not reduces:
                raise VerifyException(f"@{name} is for reductions; the description has none")
            _verify_implementation(variant, shapes[-1:] if name == "reset" else shapes)
        if self.variant("body") is None and (not reduces or self.variant("update") is None):
            raise VerifyException("there is no @body" + (" and no @update" if reduces else ""))


def _operand_types(desc: FuncOp) -> list[Attribute]:
    return [*desc.function_type.inputs, *desc.function_type.outputs]


def _verify_names(op: TensorIntrinOp) -> None:
    from lamina.dialects.tir.ops import FuncOp as KernelOp

    described = 0
    for inner in op.body.block.ops:
        if isinstance(inner, FuncOp) and inner.sym_name.data == DESC:
            described += 1
        elif not isinstance(inner, KernelOp) or inner.sym_name.data not in VARIANTS:
            name = cast("StringAttr | None", inner.properties.get("sym_name"))
            what = inner.name + (f" @{name.data}" if name is not None else "")
            raise VerifyException(f"{what}: a tensor intrinsic holds te.func @desc and tir.func @body, @reset, @update")
    if described != 1:
        raise VerifyException("a tensor intrinsic has one te.func @desc")


def _verify_desc(desc: FuncOp) -> None:
    ops = list(desc.body.block.ops)
    if len(ops) != 2 or not isinstance(ops[0], ComputeOp) or not isinstance(ops[1], ReturnOp):
        raise VerifyException("the description is one te.compute")
    compute = ops[0]
    if len(compute.tensors) != 1 or list(ops[1].values) != [compute.result]:
        raise VerifyException("the description returns the one tensor that it computes")
    for type_ in _operand_types(desc):
        if isinstance(type_, IndexType) or DYNAMIC_INDEX in cast("TensorType[Attribute]", type_).get_shape():
            raise VerifyException("the shapes of a description are numbers")
    if 0 in (*compute.spatial, *compute.reduced):
        raise VerifyException("the description computes nothing: an extent is 0")
    if any(isinstance(op, ReadOp) and op.guard is not None for op in compute.body.walk()):
        raise VerifyException("the description reads under a condition; a window has no holes")


def _verify_layout(attrs: DictionaryAttr, type_: TensorType[Attribute]) -> None:
    strides, factor = attrs.data.get(STRIDES), attrs.data.get(OFFSET_FACTOR)
    if strides is not None:
        rank = type_.get_num_dims()
        if not isinstance(strides, DenseArrayBase) or len(cast("DenseArrayBase[IntegerType]", strides)) != rank:
            raise VerifyException(f"{STRIDES} of {type_} is array<i64: ...> of {rank} strides")
    if factor is not None and (not isinstance(factor, IntegerAttr) or factor.value.data < 1):
        raise VerifyException(f"{OFFSET_FACTOR} is a positive integer")


def _verify_implementation(variant: KernelOp, shapes: Sequence[TensorType[Attribute]]) -> None:
    from lamina.dialects.tir.memory import AccessOp, LoadOp, buffer_type
    from lamina.dialects.tir.ops import BlockOp

    what = f"@{variant.sym_name.data}"
    wanted = [buffer_type(t.get_shape(), t.element_type) for t in shapes]
    if list(variant.function_type.inputs) != wanted or variant.outputs.value.data != 1:
        given = ", ".join(map(str, variant.function_type.inputs))
        raise VerifyException(f"{what} takes ({given}); the description asks for ({', '.join(map(str, wanted))})")
    *inputs, _ = variant.body.block.args
    for argument in variant.body.block.args:
        for use in argument.uses:
            user: Operation = use.operation
            if not isinstance(user, AccessOp):
                raise VerifyException(f"{what} uses a buffer in {user.name}; it loads and stores elements only")
            if argument in inputs and not isinstance(user, LoadOp):
                raise VerifyException(f"{what} writes its input %{argument.name_hint}")
    if any(isinstance(op, BlockOp) for op in variant.walk()):
        raise VerifyException(f"{what} holds a tir.block; an implementation is loops and accesses")


# -- from Python ---------------------------------------------------------------------------------------------------


def implementation(desc: FuncOp, variant: str, write: Callable[[BodyBuilder], None]) -> KernelOp:
    """`@body`, `@reset` or `@update` of a description: `write` gets a builder with a buffer for each operand.

    The buffers have the names of the description's arguments and of its result (`out` where it has none); `reset` gets
    the result alone.
    """
    from lamina.dialects.tir.body_builder import BodyBuilder
    from lamina.dialects.tir.memory import buffer_type

    returns = desc.body.block.last_op
    assert isinstance(returns, ReturnOp)
    values = [*desc.body.block.args, *returns.values]
    names = [v.name_hint or f"arg{n}" for n, v in enumerate(values[:-1])] + [values[-1].name_hint or "out"]
    types = [cast("TensorType[Attribute]", t) for t in _operand_types(desc)]
    buffers = {n: buffer_type(t.get_shape(), t.element_type) for n, t in zip(names, types, strict=True)}
    if variant == "reset":
        buffers = {names[-1]: buffers[names[-1]]}
    builder = BodyBuilder(variant, buffers)
    write(builder)
    return builder.func()


def set_layout(desc: FuncOp, operand: int, strides: Sequence[int] | None, offset_factor: int = 1) -> None:
    """Set what the implementations ask of an operand's place in memory; the result is the last operand."""
    inputs = len(desc.function_type.inputs)
    for name, first, count in (("arg_attrs", 0, inputs), ("res_attrs", inputs, len(desc.function_type.outputs))):
        if not first <= operand < first + count:
            continue
        given = desc.properties.get(name)
        attrs = list(cast("ArrayAttr[DictionaryAttr]", given)) if given is not None else [DictionaryAttr({})] * count
        data = dict(attrs[operand - first].data)
        if strides is not None:
            data[STRIDES] = window_strides(strides)
        if offset_factor > 1:
            data[OFFSET_FACTOR] = IntegerAttr(offset_factor, i64)
        attrs[operand - first] = DictionaryAttr(data)
        desc.properties[name] = ArrayAttr(attrs)


def window_strides(strides: Sequence[int]) -> DenseArrayBase:
    """The value of `te.strides`: -1 for any."""
    return DenseArrayBase.from_list(i64, list(strides))
