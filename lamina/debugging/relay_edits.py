"""Changes that may make a program of the relay level smaller; each gives candidates, best first, all well-typed.

Nothing here asks whether a fault stays: who does takes the first candidate that keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from lamina.debugging.minimise import smallest
from lamina.debugging.program import Program
from lamina.dialects.attributes import from_attribute, to_attribute
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.entry_names import argument_names
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import INLINE_BYTES, array_dense
from lamina.errors import LaminaError

Holds = Callable[[Program], bool]
"""Whether a program still shows the fault."""
Sizes = Mapping[int, int]
"""The extent that stands in the place of each."""


def main_of(program: Program) -> MainOp:
    """`@main`, which the program has."""
    main = program.main
    assert main is not None
    return main


def edited(program: Program, change: Callable[[Program], bool]) -> Program | None:
    """A copy of the program, changed and tidied; None where the change does not apply."""
    copy = program.clone()
    try:
        return copy.tidy() if change(copy) else None
    except LaminaError:
        return None


# -- ops -----------------------------------------------------------------------------------------------------------


def without_ops(program: Program) -> Iterator[Program]:
    """An op gives way to a value of the same type: one that it reads, else an input."""
    for n, op in enumerate(program.body()):
        if len(op.results) != 1:
            continue
        values = [*op.operands, *main_of(program).body.block.args]
        for k, value in enumerate(values):
            if value.type == op.results[0].type:
                found = edited(program, lambda copy, n=n, k=k: _bypass(copy, n, k))
                if found is not None:
                    yield found


def _bypass(program: Program, n: int, k: int) -> bool:
    op = program.body()[n]
    op.results[0].replace_all_uses_with([*op.operands, *main_of(program).body.block.args][k])
    return True


def without_results(program: Program) -> Iterator[Program]:
    """One result alone."""
    last = main_of(program).body.block.last_op
    assert last is not None
    if len(last.operands) > 1:
        for k in range(len(last.operands)):
            found = edited(program, lambda copy, k=k: _keep_result(copy, k))
            if found is not None:
                yield found


def _keep_result(program: Program, k: int) -> bool:
    last = main_of(program).body.block.last_op
    assert last is not None
    last.operands = [last.operands[k]]
    return True


# -- values --------------------------------------------------------------------------------------------------------


def with_inputs(program: Program) -> Iterator[Program]:
    """Constants become inputs: all of them, else one by one."""
    constants = [op.results[0] for op in main_of(program).body.block.ops if isinstance(op, ConstantOp)]
    for given in [constants, *([c] for c in constants if len(constants) > 1)] if constants else []:
        yield program.tidy(given)


def with_one_input(program: Program) -> Iterator[Program]:
    """One input is read where two of the same type were."""
    count = len(main_of(program).body.block.args)
    for a in range(count):
        for b in range(a + 1, count):
            found = edited(program, lambda copy, a=a, b=b: _merge(copy, a, b))
            if found is not None:
                yield found


def _merge(program: Program, a: int, b: int) -> bool:
    first, second = (main_of(program).body.block.args[n] for n in (a, b))
    if first.type != second.type:
        return False
    second.replace_all_uses_with(first)
    return True


def with_constants_in_text(program: Program) -> Iterator[Program]:
    """Weights are written out where they are small, else as one number or as few bits as do."""
    yield from _with_constants(program, _inline)


def _inline(array: Any) -> Iterator[Any]:
    if array.dtype.kind not in "iub" and str(array.dtype) != "bfloat16":
        yield np.rint(np.asarray(array, np.float64) * 4).astype(array.dtype)
    yield array
    if array.size:
        yield np.full_like(array, array.reshape(-1)[0])


def _with_constants(program: Program, values: Callable[[Any], Iterator[Any]]) -> Iterator[Program]:
    constants = [op for op in main_of(program).body.block.ops if isinstance(op, ConstantOp)]
    for n, op in enumerate(constants):
        array = program.store.get(op.value)  # type: ignore[arg-type]
        for value in values(array):
            if value.nbytes > INLINE_BYTES and not _is_splat(value):
                continue
            copy = program.clone()
            ops = [o for o in main_of(copy).body.block.ops if isinstance(o, ConstantOp)]
            made = array_dense(value)
            if ops[n].value != made:
                ops[n].properties["value"] = made
                yield copy


def _is_splat(array: Any) -> bool:
    return bool(array.size) and bool((array == array.reshape(-1)[0]).all())


# -- attributes ----------------------------------------------------------------------------------------------------


def without_attributes(program: Program) -> Iterator[Program]:
    """An attribute has its default; what is no attribute of the op's own is gone."""
    for n, op in enumerate(program.body()):
        for name in [*op.attributes]:
            found = edited(program, lambda copy, n=n, name=name: _drop(copy, n, name))
            if found is not None:
                yield found
        if isinstance(op, RelayOp):
            for name, default in op.defaults().items():
                if op.properties.get(name) != default:
                    found = retyped(program, {}, {(n, name): default})
                    if found is not None:
                        yield found


def _drop(program: Program, n: int, name: str) -> bool:
    del program.body()[n].attributes[name]
    return True


# -- shapes --------------------------------------------------------------------------------------------------------


def extents_of(program: Program) -> list[int]:
    """The extents beyond 1 that inputs and constants have, the largest first."""
    block = main_of(program).body.block
    values: list[SSAValue] = [*block.args, *(op.results[0] for op in block.ops if isinstance(op, ConstantOp))]
    types: list[Any] = [v.type for v in values]
    return sorted({e for t in types if type(t) is TensorType for e in t.get_shape() if e > 1}, reverse=True)


def shortened(program: Program, holds: Holds) -> Program:
    """The program with the smallest extents for which the fault stays, each extent wherever it stands."""
    for extent in extents_of(program):
        if extent in extents_of(program):
            program = _with_least(program, extent, holds)
    return program


def _with_least(program: Program, extent: int, holds: Holds) -> Program:
    found: dict[int, Program] = {}

    def fits(size: int) -> bool:
        smaller = retyped(program, {extent: size})
        if smaller is None or not holds(smaller):
            return False
        found[size] = smaller
        return True

    return found.get(smallest(extent, fits), program)


def retyped(
    program: Program, sizes: Sizes, attributes: Mapping[tuple[int, str], Attribute] | None = None
) -> Program | None:
    """The program with other extents and attributes (by op and name), its types inferred again; None if none fit."""
    copy = program.clone()
    main = main_of(copy)
    names = argument_names(main, main.body.block.args)
    for argument, name in zip(tuple(main.body.block.args), names, strict=True):
        if name in copy.arrays:
            copy.arrays[name] = _shorter(np.asarray(copy.arrays[name]), sizes)
        type_ = _shorter_type(argument.type, sizes)
        if argument.type != type_:
            Rewriter.replace_value_with_new_type(argument, type_)
    body = {op: n for n, op in enumerate(copy.body())}
    changed = {n: {name: a for (m, name), a in (attributes or {}).items() if m == n} for n, _ in attributes or {}}
    for op in tuple(main.body.block.ops):
        if isinstance(op, ConstantOp):
            _shorten_constant(copy, op, sizes)
        elif not _infer(op, sizes, changed.get(body.get(op, -1), {})):
            return None
    last = main.body.block.last_op
    assert last is not None
    inputs = [a.type for a in main.body.block.args]
    main.properties["function_type"] = FunctionType.from_lists(inputs, [v.type for v in last.operands])
    return copy


def _shorter_type(type_: Attribute, sizes: Sizes) -> Attribute:
    if not isinstance(type_, TensorType):
        return type_
    tensor = cast("TensorType[Any]", type_)
    return TensorType(tensor.element_type, [sizes.get(e, e) for e in tensor.get_shape()])


def _shorter(array: Any, sizes: Sizes) -> Any:
    """The first elements along each axis; the array itself where that is all."""
    if not any(e in sizes for e in array.shape):
        return array
    return np.ascontiguousarray(array[tuple(slice(sizes.get(e, e)) for e in array.shape)])


def _shorten_constant(program: Program, op: ConstantOp, sizes: Sizes) -> None:
    array: Any = program.store.get(op.value)  # type: ignore[arg-type]
    shorter = _shorter(array, sizes)
    if shorter is array:
        return
    small = shorter.nbytes <= INLINE_BYTES or _is_splat(shorter)
    key = getattr(getattr(op.value, "key", None), "data", "constant")
    op.properties["value"] = array_dense(shorter) if small else program.store.add(key, shorter)
    result = op.results[0]
    Rewriter.replace_value_with_new_type(result, tensor_type(shorter.shape, str(shorter.dtype)))


def _infer(op: Operation, sizes: Sizes, attributes: Mapping[str, Attribute]) -> bool:
    """Give the results of an op the types that follow from its operands', with attributes that fit."""
    if not isinstance(op, RelayOp) or op.regions:
        return op.next_op is None  # the return takes whatever there is
    operands = [v.type for v in op.operands]
    for properties in _fitting({**op.properties, **attributes}, op, sizes):
        try:
            types = op.infer_types(operands, properties)
        except (TypeMismatch, LaminaError, ValueError, ZeroDivisionError, IndexError):
            continue
        if len(types) != len(op.results):
            continue
        op.properties.update(properties)
        for result, type_ in zip(tuple(op.results), types, strict=True):
            if result.type != type_:
                Rewriter.replace_value_with_new_type(result, type_)
        return True
    return False


def _fitting(properties: dict[str, Attribute], op: Operation, sizes: Sizes) -> Iterator[dict[str, Attribute]]:
    """The properties as they are, and with their numbers changed as the extents are."""
    if sizes:
        shaped = _reshaped(properties, op, sizes)
        if shaped is not None:
            yield shaped
            return
        yield _numbers(properties, lambda v: sizes.get(v, v))
    yield properties
    if sizes:
        ((old, new),) = sizes.items()
        yield _numbers(properties, lambda v: max(v * new // old, 1) if v > 1 else v)


def _numbers(properties: Mapping[str, Attribute], change: Callable[[int], int]) -> dict[str, Attribute]:
    """The properties with each integer changed, also those in lists."""
    found = dict(properties)
    for name, attr in properties.items():
        value: Any = from_attribute(attr)
        if type(value) is int:
            found[name] = to_attribute(change(value))
        elif isinstance(value, Sequence) and value and all(type(v) is int for v in cast("Sequence[Any]", value)):
            found[name] = to_attribute([change(v) for v in cast("Sequence[int]", value)])
    return found


def _reshaped(properties: Mapping[str, Attribute], op: Operation, sizes: Sizes) -> dict[str, Attribute] | None:
    """The properties of a reshape for shorter operands: extents that were merged or split are so again."""
    if op.name != "relay.reshape":
        return None
    now = cast("TensorType[Any]", op.operands[0].type).get_shape()
    result = cast("TensorType[Any]", op.results[0].type).get_shape()
    wanted = [sizes.get(e, e) for e in result]
    if prod(wanted) != prod(now):
        # An extent that holds others as factors: 3072 of 768 * 4.
        ((old, new),) = sizes.items()
        for n, e in enumerate(result):
            others = prod(wanted[:n]) * prod(wanted[n + 1 :])
            if e % old == 0 and others and prod(now) % others == 0 and (e // old * new) == prod(now) // others:
                wanted[n] = prod(now) // others
                break
        else:
            split = next(
                (n for n in range(len(wanted)) if _rest(wanted, n) and prod(now) % _rest(wanted, n) == 0), None
            )
            if split is None:
                return None
            wanted[split] = prod(now) // _rest(wanted, split)
    return {**properties, "newshape": to_attribute(wanted)}


def _rest(extents: Sequence[int], n: int) -> int:
    return prod(extents[:n]) * prod(extents[n + 1 :])


# -- inputs --------------------------------------------------------------------------------------------------------


def with_drawn_inputs(program: Program) -> Program:
    """The program with small whole numbers as inputs, as `lamina debug compare` draws them."""
    from lamina.debugging.entry import draw_inputs

    return replace(program, arrays=draw_inputs(main_of(program), {}, {}, 0))
