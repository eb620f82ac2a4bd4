"""relay-dynamic-to-static: an op whose shape is an operand that is known is the op whose shape is an attribute.

Before:
    %s = relay.constant dense<[3, 2]> : tensor<2xi32>
    %0 = relay.dyn.reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %1 = relay.nn.relu %0 : tensor<?x?xf32>
After:
    %0 = relay.reshape %x {newshape = [3, 2]} : (tensor<6xf32>) -> tensor<3x2xf32>
    %1 = relay.nn.relu %0 : tensor<3x2xf32>

Known are constants, the shapes of tensors whose extents are, and what small ops compute of these. In one sweep the
ops behind are inferred again; where something else needs the type as it was, relay.copy forgets the extents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FunctionType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.infos import TypeMismatch, has_unknown_extents, tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of, has_extents
from lamina.dialects.relay.core import ConstantOp, GlobalOp
from lamina.dialects.relay.elementwise.unary import CopyOp
from lamina.dialects.relay.params import dense_array
from lamina.dialects.relay.value_dependent import BecomesStatic, ValueDependent
from lamina.dialects.relay.value_types import accepts
from lamina.dialects.rules.terms import all_results
from lamina.errors import InputError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array

SHAPE_OPS = ("relay.shape_of", "relay.vm.shape_of", "relay.ndarray_size")
MOST_ELEMENTS = 256
"""Shapes are short: larger values are not computed here."""


@dataclass(frozen=True)
class DynamicToStatic(ModulePass):
    """An op whose shape is an operand that is known is the op whose shape is an attribute."""

    name = "relay-dynamic-to-static"
    opt_level: ClassVar[int] = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(isinstance(o, ValueDependent) or has_unknown_extents(o.result_types) for o in op.walk()):
            return  # as in most programs
        users = (o for o in op.walk() if isinstance(o, (func.CallOp, GlobalOp)))
        called = {user.callee.string_value() for user in users}
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp):
                with edit.transaction():
                    _Sweep(function, function.sym_name.data in called).run()


class _Sweep:
    """One function, in program order."""

    def __init__(self, function: func.FuncOp, is_called: bool) -> None:
        self.function = function
        self.is_called = is_called
        """Whether something names the function, whose type then stays."""
        self.known: dict[SSAValue, Array] = {}

    def run(self) -> None:
        for op in list(self.function.walk()):
            if isinstance(op, ConstantOp):
                self._note_constant(op)
            elif isinstance(op, BecomesStatic):
                self._make_static(op)
            elif isinstance(op, RelayOp) and not isinstance(op, ValueDependent):
                self._compute(self._infer_again(op))
        self._adopt_results()

    def _note_constant(self, op: ConstantOp) -> None:
        value = op.value
        if isinstance(value, DenseIntOrFPElementsAttr) and prod(value.get_shape()) <= MOST_ELEMENTS:
            self.known[op.result] = dense_array(value)

    def _compute(self, op: RelayOp) -> None:
        """Note the results of an op on shapes."""
        if has_unknown_extents([*op.operand_types, *op.result_types]) or not hasattr(op, "np_ref"):
            return
        if has_extents(op.properties):
            return
        infos = [tensor_info(t) for t in op.result_types]
        if sum(prod(i.shape) for i in infos) > MOST_ELEMENTS:
            return
        if op.name in SHAPE_OPS:
            # Only the shape matters: an array of it that takes no memory.
            shape = tensor_info(op.operands[0].type).shape
            arrays: list[Any] = [np.broadcast_to(np.zeros((), np.int8), shape)]
        elif all(v in self.known for v in op.operands):
            arrays = [self.known[v] for v in op.operands]
        else:
            return
        oracle: Any = op.np_ref  # type: ignore[attr-defined]
        try:
            with np.errstate(all="ignore"):
                results = all_results(oracle(*arrays, **attrs_of(op)))
        except ZeroDivisionError:
            return  # an error of the run
        self.known.update(zip(op.results, map(np.asarray, results), strict=True))

    def _make_static(self, op: BecomesStatic) -> None:
        if not all(op.operands[n] in self.known for n in op.NEEDED):
            return
        try:
            infos = [_info(v, n in op.NEEDED) for n, v in enumerate(op.operands)]
            static = op.static(infos, {n: self.known[op.operands[n]] for n in op.NEEDED}, **attrs_of(op))
            new = static.op.make(*(op.operands[n] for n in static.operands), **static.attrs)
        except TypeMismatch as e:
            raise InputError(f"{op.name.removeprefix('relay.')}: {e}", op=op) from None
        for stated, actual in zip(op.result_types, new.result_types, strict=True):
            if not accepts(stated, actual, names=False) and not accepts(actual, stated):
                raise InputError(f"{op.name.removeprefix('relay.')} gives {actual}, not {stated}", op=op)
        self._replace(op, new)
        self._compute(new)

    def _infer_again(self, op: RelayOp) -> RelayOp:
        """The op with what is known of its results by now."""
        if not has_unknown_extents(op.result_types):
            return op
        try:
            found = op.infer_types(op.operand_types, op.properties, op.operands)
        except TypeMismatch as e:
            raise InputError(f"{op.name.removeprefix('relay.')}: {e}", op=op) from None
        if found == tuple(op.result_types) or not all(map(accepts, op.result_types, found)):
            return op
        new = type(op).create(
            operands=op.operands,
            result_types=found,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        self._replace(op, new)
        return new

    def _replace(self, old: RelayOp, new: RelayOp) -> None:
        block = old.parent
        assert block is not None
        inherit_location(new, old)
        edit.insert_before(old, new)
        for a, b in zip(old.results, new.results, strict=True):
            inherit_name(b, a)
            self._hand_on(a, b, block, old)
        edit.erase(old)

    def _hand_on(self, a: SSAValue, b: SSAValue, block: Block, place: Operation) -> None:
        """Let the users of one value use another of a type that says more, or its copy that says as little."""
        if a.type != b.type:
            strict = [use for use in a.uses if not self._takes_more(use.operation)]
            if strict:
                copy = CopyOp.create(
                    operands=[b], result_types=[a.type], properties=dict(CopyOp.defaults()), attributes={}
                )
                inherit_location(copy, place)
                edit.insert_before(place, copy)
                for use in strict:
                    use.operation.operands[use.index] = copy.results[0]
        a.replace_all_uses_with(b)

    def _takes_more(self, user: Operation) -> bool:
        if isinstance(user, func.ReturnOp):
            return not self.is_called
        return isinstance(user, RelayOp) or user.name == "relay.yield"

    def _adopt_results(self) -> None:
        """The function's type says what is known of its results."""
        last = self.function.body.block.last_op if self.function.body.blocks else None
        if last is not None:
            types: Sequence[Any] = [v.type for v in last.operands]
            inputs = list(self.function.function_type.inputs)
            type_ = FunctionType.from_lists(inputs, types)
            if type_ != self.function.function_type:
                edit.change(self.function)
                self.function.properties["function_type"] = type_


def _info(value: SSAValue, is_needed: bool) -> Any:
    """Shape and type of an operand; of one whose values are not needed unknown extents are -1."""
    from lamina.dialects.dtypes import dtype_name
    from lamina.dialects.infos import TensorInfo

    type_: Any = value.type
    return tensor_info(type_) if is_needed else TensorInfo(type_.get_shape(), dtype_name(type_.element_type))
