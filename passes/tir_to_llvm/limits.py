"""Limits of `tir-to-llvm`, because LLVM would not take more: it kills the process, or does not end.

A kernel is checked as a whole before any of it is lowered, so that every refusal names an op of the user's text.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, VectorType
from xdsl.ir import Attribute, Operation

from lamina.dialects.dtypes import dtype_name, is_ir_type, itemsize
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr, IndexSetAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.limits import MAX_LANES, UnrollError, unrolled_length
from lamina.dialects.tir.memory import AccessOp, type_of
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError

MAX_ADDRESS = 1 << 62
"""Larger numbers of bytes overflow."""


def check_limits(func: FuncOp) -> None:
    """Raises InputError at an op that LLVM cannot compile."""
    _check_name(func)
    accepted: set[Attribute] = set()
    for op in all_ops(func):
        for result in op.results:
            type_ = result.type
            if type(type_) is VectorType and type_ not in accepted:
                _check_vector(op, type_)
                accepted.add(type_)
        for attr in op.properties.values():
            if isinstance(attr, (IndexMapAttr, IndexSetAttr)):
                _check_numbers(op, attr)
        if isinstance(op, (arith.ExtFOp, arith.TruncFOp)):
            _check_conversion(op)
    try:
        unrolled_length(func.body.block.ops)
    except UnrollError as e:
        hint = "unroll a part of it: split the loop first"
        raise InputError(f"tir-to-llvm: {e}", hint=hint, op=e.loop) from None


_FLOATS = (
    "acos asin atan atan2 ceil copysign cos cosh exp exp10 exp2 fabs floor fma fmax fmaximum fmaximum_num fmin "
    "fminimum fminimum_num fmod ldexp log log10 log2 nearbyint pow rint round roundeven sin sincos sinh sqrt "
    "tan tanh trunc"
).split()
LIBRARY = {
    *(name + suffix for name in _FLOATS for suffix in ("", "f", "l")),
    *("calloc", "free", "malloc", "memcpy", "memmove", "memset", "realloc"),
}
"""Functions that LLVM's code, or ours, calls: a kernel of such a name would be called instead, by itself even."""


def _check_name(func: FuncOp) -> None:
    name = func.sym_name.data
    if name in LIBRARY:
        raise InputError(
            f"tir-to-llvm: a kernel cannot be called {name!r}, like a function of the C library",
            hint="give it another name",
            op=func,
        )
    if not name or not name.isprintable() or name.startswith("llvm."):
        raise InputError(
            f"tir-to-llvm: a kernel cannot be called {name!r}",
            hint="a name is printable, not empty, and does not begin with 'llvm.'",
            op=func,
        )


def _check_vector(op: Operation, type_: VectorType[Attribute]) -> None:
    shape = type_.get_shape()
    if len(shape) != 1 or type_.get_num_scalable_dims() or not 1 <= shape[0] <= MAX_LANES:
        raise InputError(f"tir-to-llvm: {type_}: a vector has one dimension, of 1 to {MAX_LANES} lanes", op=op)
    element = type_.element_type
    if not isinstance(element, IndexType) and not is_ir_type(element):
        raise InputError(f"tir-to-llvm: {type_}: there are no vectors of {element}", op=op)


def _check_conversion(op: arith.ExtFOp | arith.TruncFOp) -> None:
    given, wanted = (_bits(v.type) for v in (op.operands[0], op.results[0]))
    longer = type(op) is arith.ExtFOp
    if wanted == given or (wanted > given) != longer:
        raise InputError(
            f"tir-to-llvm: {op.name} from {op.operands[0].type} to {op.results[0].type}, "
            f"which is not {'longer' if longer else 'shorter'}",
            hint="go through f32",
            op=op,
        )


def _bits(type_: Attribute) -> int:
    element = cast("VectorType[Attribute]", type_).element_type if isinstance(type_, VectorType) else type_
    return element.bitwidth if isinstance(element, AnyFloat) else 0


def _check_numbers(op: Operation, attr: IndexMapAttr | IndexSetAttr) -> None:
    """No number of an index overflows, nor does it when it is multiplied by a stride."""
    data = attr.data
    forms = data.results if isinstance(data, IndexMap) else [c.form for c in data.conditions]
    strides = [1] * len(forms)
    if isinstance(op, AccessOp) and isinstance(attr, IndexMapAttr):
        type_ = type_of(op.buffer_value())
        size = 1 if isinstance(type_.element_type, IndexType) else itemsize(dtype_name(type_.element_type))
        for d in reversed(range(len(forms))):
            strides[d] = size
            size *= max(type_.get_shape()[d], 1)
    for form, stride in zip(forms, strides, strict=True):
        number = _largest(form)
        if number * stride > MAX_ADDRESS:
            raise InputError(f"tir-to-llvm: the number {number} in an index is out of reach", op=op)


def _largest(form: Linear) -> int:
    """The largest number in a form."""
    numbers = [abs(form.const), *(abs(c) for c in form.terms.values())]
    for atom in form.terms:
        if isinstance(atom, tuple):
            numbers += [_largest(atom[1]), atom[2]]
    return max(numbers)
