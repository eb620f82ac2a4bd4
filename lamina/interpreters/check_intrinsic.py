"""Whether a tensor intrinsic does what it says: each implementation against the description, on random data.

Integers take their whole range where that is a byte, so that a wrong sign shows. Floats are drawn twice: small
integers, whose sums are exact in any order and are compared bit by bit, and normal values, which show a
precision lost on the way and are compared within a tolerance.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name, is_float, is_unsigned
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.schedule.nest.tensor_intrinsic import TensorIntrinsic
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.tir.ops import BlockOp, FuncOp
from lamina.errors import InputError
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import Kernel, bind_arguments
from lamina.interpreters.tir_memory import Memory

TOLERANCE = {"float16": 2e-2, "bfloat16": 5e-2, "float32": 1e-4, "float64": 1e-12}
"""Of a sum of normal values, relative to the largest result: other orders and fewer roundings are allowed."""

_COMBINE: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}

_checked: set[str] = set()


def check_intrinsic(op: TensorIntrinOp, intrinsic: TensorIntrinsic) -> None:
    """Raise InputError, with the first differing element, where an implementation computes something else.

    A declaration is checked once in a process.
    """
    text = str(op)
    if text in _checked:
        return
    floats = any(is_float(_dtype(v.type)) for v in intrinsic.operands)
    for normal in (False, True) if floats else (False,):
        _compare(op, intrinsic, normal)
    _checked.add(text)


def _dtype(type_: Attribute) -> str:
    assert isinstance(type_, MemRefType)
    return dtype_name(cast("MemRefType[Attribute]", type_).element_type)


def _draw(type_: Attribute, generator: np.random.Generator, normal: bool) -> np.ndarray[Any, Any]:
    name = _dtype(type_)
    shape = cast("MemRefType[Attribute]", type_).get_shape()
    dtype = element_dtype(type_)
    if is_float(name):
        values = generator.standard_normal(shape) if normal else generator.integers(-4, 5, shape)
        return np.asarray(values).astype(dtype)
    if name == "bool":
        return generator.integers(0, 2, shape).astype(dtype)
    low, high = (0, 255) if is_unsigned(name) else (-128, 127)
    return np.asarray(generator.integers(low, high, shape, endpoint=True)).astype(dtype)


def _compare(op: TensorIntrinOp, intrinsic: TensorIntrinsic, normal: bool) -> None:
    generator = np.random.default_rng(0)
    arrays = [_draw(v.type, generator, normal) for v in intrinsic.operands]
    inputs, start = arrays[:-1], arrays[-1]
    whole = run_te_func(op.desc, inputs)[0]
    tolerance = TOLERANCE[str(whole.dtype)] if normal and str(whole.dtype) in TOLERANCE else 0.0
    if intrinsic.body is not None:
        _agree(op, intrinsic.body, _run(op, intrinsic.body, inputs, None), whole, tolerance)
    if intrinsic.reset is not None:
        _agree(op, intrinsic.reset, _run(op, intrinsic.reset, [], None), _initial(intrinsic), 0.0)
    if intrinsic.update is not None:
        combiner = op.compute.combiner.data if op.compute.combiner is not None else ""
        function = _COMBINE.get(combiner)
        if function is not None and start.dtype.kind != "b":
            added = function(start, whole, dtype=start.dtype) if start.dtype.kind in "iuf" else function(start, whole)
        else:
            added = _run(op, _without_init(intrinsic), inputs, start)
        _agree(op, intrinsic.update, _run(op, intrinsic.update, inputs, start), added, tolerance)


def _run(
    op: TensorIntrinOp, func: FuncOp, inputs: list[np.ndarray[Any, Any]], start: np.ndarray[Any, Any] | None
) -> np.ndarray[Any, Any]:
    """The result of a kernel whose output holds nothing yet, or `start`."""
    values = bind_arguments(func, inputs)
    if start is not None:
        values[-1] = Memory(values[-1].name, start.copy(), True)
    try:
        Kernel(func).run(values)
    except InputError as e:
        raise InputError(f"@{op.sym_name.data}: @{func.sym_name.data} {e.what}", op=e.op or op) from None
    return cast("np.ndarray[Any, Any]", values[-1].array)


def _initial(intrinsic: TensorIntrinsic) -> np.ndarray[Any, Any]:
    """The initial value of a reduction: the description's nest with its init as body."""
    func = intrinsic.desc.clone()
    block = next(o for o in func.walk() if type(o) is BlockOp)
    body = block.body.block
    for dead in reversed(list(body.ops)):
        dead.detach()
        dead.erase(safe_erase=False)
    init = block.init.blocks[0]
    for moved in list(init.ops):
        moved.detach()
        body.add_op(moved)
    block.init.erase_block(init)
    values = bind_arguments(func, [np.zeros(m.get_shape(), element_dtype(m)) for m in _inputs(func)])
    Kernel(func).run(values)
    return cast("np.ndarray[Any, Any]", values[-1].array)


def _inputs(func: FuncOp) -> list[MemRefType[Attribute]]:
    return [cast("MemRefType[Attribute]", a.type) for a in func.body.block.args[:-1]]


def _without_init(intrinsic: TensorIntrinsic) -> FuncOp:
    """The description's nest as it adds to what the result holds."""
    func = intrinsic.desc.clone()
    block = next(o for o in func.walk() if type(o) is BlockOp)
    block.init.erase_block(block.init.blocks[0])
    return func


def _agree(
    op: TensorIntrinOp,
    variant: FuncOp,
    found: np.ndarray[Any, Any],
    wanted: np.ndarray[Any, Any],
    tolerance: float,
) -> None:
    if tolerance:
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        finite = np.isfinite(b)
        limit = tolerance * (1.0 + np.max(np.abs(b), initial=0.0, where=finite))
        wrong = np.where(finite, ~(np.abs(a - b) <= limit), np.asarray(a != b) & ~(np.isnan(a) & np.isnan(b)))
    else:
        wrong = np.asarray((found != wanted) & ~((found != found) & (wanted != wanted)))  # NaN is NaN
    if not wrong.any():
        return
    place = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    index = ", ".join(map(str, place))
    raise InputError(
        f"@{op.sym_name.data}: @{variant.sym_name.data} gives {found[place]} at [{index}], the description "
        f"{wanted[place]} ({int(wrong.sum())} of {wrong.size} elements differ)",
        op=variant,
    )
