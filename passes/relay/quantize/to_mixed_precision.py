"""relay-to-mixed-precision: products and convolutions in a narrow float type, and what may follow them.

Before:
    %1 = relay.nn.dense %x, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
    %2 = relay.nn.relu %1 : tensor<2x4xf32>
    %3 = relay.nn.softmax %2 : tensor<2x4xf32>
After:
    %a = relay.cast %x {dtype = "float16"} : ...            %b = relay.cast %w {dtype = "float16"} : ...
    %c = relay.nn.dense %a, %b {out_dtype = "float32"} : (tensor<2x8xf16>, tensor<4x8xf16>) -> tensor<2x4xf32>
    %1 = relay.cast %c {dtype = "float16"} : (tensor<2x4xf32>) -> tensor<2x4xf16>
    %2 = relay.nn.relu %1 : tensor<2x4xf16>
    %d = relay.cast %2 {dtype = "float32"} : (tensor<2x4xf16>) -> tensor<2x4xf32>
    %3 = relay.nn.softmax %d : tensor<2x4xf32>

What an op does its class says (`PRECISION`): ALWAYS narrow with sums in f32 where it has an `out_dtype`, narrow where
it FOLLOWs operands that are (constants do not count), NEVER. `missing_op_mode` is about ops that say nothing, which
stay wide: 0 refuses them, 1 warns, 2 is silent. What a function returns becomes narrow too, unless
`keep-orig-output-dtype`. Each value is cast at most once each way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import dtype_name
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.listener import listener_of
from lamina.dialects.relay.base import Precision, RelayOp, attrs_of, precision_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.elementwise.unary import CastOp
from lamina.dialects.relay.params import store_of
from lamina.errors import UnsupportedError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name
from lamina.passes.relay.fold.fold_constant import fold_ops

WIDE = "float32"


@dataclass(frozen=True)
class ToMixedPrecision(ModulePass):
    """Products and convolutions in a narrow float type, and what may follow them."""

    name = "relay-to-mixed-precision"
    opt_level: ClassVar[int] = 0
    mixed_precision_type: Literal["float16", "bfloat16"] = "float16"
    missing_op_mode: Literal[0, 1, 2] = 1
    keep_orig_output_dtype: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        missing: dict[str, Operation] = {}
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and len(function.body.blocks) == 1:
                with edit.transaction():
                    narrowing = Narrowing(function.body.block, self.mixed_precision_type, missing)
                    narrowing.run(self.keep_orig_output_dtype)
                    fold_ops(narrowing.casts, store_of(ctx))
                    returned = function.body.block.last_op
                    if isinstance(returned, func.ReturnOp):
                        outputs = [v.type for v in returned.arguments]
                        function.function_type = FunctionType.from_lists(list(function.function_type.inputs), outputs)
        if missing and self.missing_op_mode == 0:
            name, first = next(iter(missing.items()))
            raise UnsupportedError(f"relay-to-mixed-precision: {name} does not say what it does", op=first)
        if self.missing_op_mode == 1:
            for name, first in missing.items():
                what = f"{name} does not say what it does in mixed precision and stays in {WIDE}"
                listener_of(ctx).message("warning", what, first)


def dtype_of(type_: Attribute) -> str:
    """The dtype of a tensor, an empty string for anything else."""
    if not isinstance(type_, TensorType):
        return ""
    try:
        return dtype_name(type_.element_type)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    except ValueError:
        return ""


class Narrowing:
    """One block: which values are at home in the narrow type by now, and the casts of values either way."""

    def __init__(self, block: Block, narrow: str, missing: dict[str, Operation]) -> None:
        self.block = block
        self.narrow = narrow
        self.missing = missing
        self.home: dict[SSAValue, SSAValue] = {}
        """Old value -> the narrow one that it became."""
        self.casts: list[Operation] = []
        self._cast: dict[tuple[SSAValue, str], SSAValue] = {}

    def run(self, keep_outputs: bool) -> None:
        """Convert the block; what it returns stays narrow unless `keep_outputs`."""
        for op in list(self.block.ops):
            if isinstance(op, func.ReturnOp) and not keep_outputs:
                for i, value in enumerate(op.operands):
                    op.operands[i] = self.home.get(value, value)
            elif not (isinstance(op, RelayOp) and not op.regions and self._narrowed(op)):
                self._stay(op)
        for old in reversed(list(self.home)):
            owner = old.owner
            if isinstance(owner, Operation) and owner.parent is not None:
                edit.erase(owner)

    def _narrowed(self, op: RelayOp) -> bool:
        """Put a narrow op in the place of one, where it is to be so and can be."""
        what = precision_of(type(op))
        reads = [v for v in op.operands if dtype_of(v.type) == WIDE]
        if what is None and (reads or any(dtype_of(t) == WIDE for t in op.result_types)):
            self.missing.setdefault(op.name, op)
        if what not in (Precision.ALWAYS, Precision.FOLLOW) or not reads:
            return False
        if what is Precision.FOLLOW:
            telling = [v for v in reads if not isinstance(v.owner, ConstantOp)]
            if not telling or not all(v in self.home for v in telling):
                return False
        attrs: dict[str, Any] = attrs_of(op)
        if what is Precision.ALWAYS and attrs.get("out_dtype") in ("", WIDE):
            attrs["out_dtype"] = WIDE  # sums of many products
        types = [self._narrow_type(v.type) for v in op.operands]
        if not fits(op, types, attrs, self.narrow):
            return False
        made = type(op).make(*(self._form(v, self.narrow, op) for v in op.operands), **attrs)
        made.attributes = dict(op.attributes)
        self._insert(made, op)
        results = [self._result(new, old, op) for new, old in zip(made.results, op.results, strict=True)]
        for old, new in zip(op.results, results, strict=True):
            inherit_name(new, old)
            if dtype_of(old.type) == WIDE:
                self.home[old] = new
            else:
                old.replace_all_uses_with(new)
        if not any(old in self.home for old in op.results):
            edit.erase(op)
        return True

    def _narrow_type(self, type_: Attribute) -> Attribute:
        if dtype_of(type_) != WIDE:
            return type_
        from lamina.dialects.dtypes import tensor_type

        return tensor_type(type_.get_shape(), self.narrow)  # type: ignore[attr-defined]

    def _result(self, new: SSAValue, old: SSAValue, op: Operation) -> SSAValue:
        """A result; one that was summed up wide made narrow."""
        if dtype_of(old.type) == WIDE and dtype_of(new.type) == WIDE:
            return self._insert(CastOp.make(new, dtype=self.narrow), op)
        return new

    def _form(self, value: SSAValue, dtype: str, before: Operation) -> SSAValue:
        """A value in a dtype, where it is one of the two."""
        if dtype_of(value.type) != WIDE:
            return value
        home = self.home.get(value)
        if (home is not None) == (dtype == self.narrow):
            return home if home is not None else value
        key = value, dtype
        found = self._cast.get(key)
        if found is None:
            made = CastOp.make(home if home is not None else value, dtype=dtype)
            found = self._cast[key] = self._insert(made, before)
            self.casts.append(made)
        return found

    def _stay(self, op: Operation) -> None:
        for inner in op.walk() if op.regions else (op,):
            for i, value in enumerate(inner.operands):
                if value in self.home:
                    inner.operands[i] = self._form(value, WIDE, op)

    def _insert(self, made: Operation, before: Operation) -> SSAValue:
        inherit_location(made, before)
        edit.insert_before(before, made)
        return made.results[0]


def fits(op: RelayOp, types: Sequence[Attribute], attrs: dict[str, Any], narrow: str) -> bool:
    """Whether the op takes the narrow types, and gives narrow or summed-up values for wide ones."""
    from lamina.dialects.attributes import to_attribute

    properties = {n: a for n, a in op.properties.items()}
    if "out_dtype" in attrs:
        properties["out_dtype"] = to_attribute(attrs["out_dtype"])
    try:
        found = type(op).infer_types(types, properties)
    except TypeMismatch:
        return False
    allowed = (narrow, WIDE) if isinstance(properties.get("out_dtype"), StringAttr) else (narrow,)
    return all(
        dtype_of(new) in allowed if dtype_of(old) == WIDE else new == old
        for new, old in zip(found, op.result_types, strict=True)
    )
