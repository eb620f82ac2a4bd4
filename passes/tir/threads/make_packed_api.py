"""Give a kernel a host function that is called on arrays: the packed calling convention.

The host function `@main` takes what the kernel takes. The module attribute `lamina.packed` says what a caller passes
and what is to be checked before the call: the arrays in the order of the kernel's buffers, outputs last, each with
dtype and rank; which extent gives which size, `(extent - rest) / factor`; and which extents must then agree. Sizes that
no extent gives come first, as numbers. `lamina.runtime.packed` reads it, binds arrays to it and says what does not fit.

Assumes a module of one kernel without `@main`; a module that has a `@main` is not changed.

Before:
    tir.func @f(%n: index, %A: memref<?xf32> {te.shape = #te.map<(d0) -> (d0 * 2)>}, %B: ...) ...
After:
    tir.func @f(...) ...
    func.func @main(%n: index, %A: memref<?xf32> {...}, %B: ...) attributes {lamina.outputs = 1 : i64} {
      tir.call @f(%n, %A, %B) : index, memref<?xf32>, memref<?xf32> ... }
    // lamina.packed = {name = "f", sizes = [{name = "n", argument = 0, axis = 0}], arguments = [{name = "A", ...}]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Region

from lamina.dialects import edit
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.sizes import SHAPE, ArgAttrs, argument_extents, size_arguments
from lamina.dialects.tir.calls import CallOp
from lamina.dialects.tir.ops import FuncOp
from lamina.dialects.value_names import NAME, value_name
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location

PACKED = "lamina.packed"


@dataclass(frozen=True)
class MakePackedApiPass(ModulePass):
    name = "tir-make-packed-api"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(isinstance(o, MainOp) for o in op.ops):
            return
        kernels = [o for o in op.ops if isinstance(o, FuncOp)]
        if len(kernels) != 1:
            names = ", ".join(f"@{k.sym_name.data}" for k in kernels) or "none"
            raise InputError(f"{self.name}: a module of one kernel is packed, here are {names}", op=op)
        (kernel,) = kernels
        main = _host_function(kernel)
        inherit_location(main, kernel)
        edit.insert_after(op.body.block.last_op or kernel, main)
        op.attributes[PACKED] = _description(kernel)


def names_of(kernel: FuncOp) -> list[str]:
    """The names of a kernel's arguments."""
    taken: list[str] = []
    for n, argument in enumerate(kernel.body.block.args):
        name = argument.name_hint or f"arg{n}"
        taken.append(name if name not in taken else f"{name}.{n}")
    return taken


def _host_function(kernel: FuncOp) -> MainOp:
    types = list(kernel.function_type.inputs)
    block = Block(arg_types=types)
    names = names_of(kernel)
    for argument, name in zip(block.args, names, strict=True):
        argument.name_hint = value_name(name)
    call = CallOp.create(operands=list(block.args), properties={"callee": SymbolRefAttr(kernel.sym_name.data)})
    block.add_ops([call, ReturnOp()])
    main = MainOp("main", FunctionType.from_lists(types, []), Region(block))
    old: Sequence[Attribute] = (
        kernel.arg_attrs.data if kernel.arg_attrs is not None else [DictionaryAttr({})] * len(types)
    )
    described = [
        DictionaryAttr({**cast("DictionaryAttr", attrs).data, NAME: StringAttr(name)})
        for attrs, name in zip(old, names, strict=True)
    ]
    main.properties["arg_attrs"] = ArrayAttr(described)
    main.attributes["lamina.outputs"] = IntegerAttr(kernel.outputs.value.data, i64)
    return main


def _description(kernel: FuncOp) -> DictionaryAttr:
    args = kernel.body.block.args
    sizes = size_arguments(args)
    buffers = [a for a in args if not isinstance(a.type, IndexType)]
    names = dict(zip(args, names_of(kernel), strict=True))
    position = {a: Linear.dim(n) for n, a in enumerate(sizes)}
    extents = [
        [e.substitute(position) for e in argument_extents(b, cast("ArgAttrs", kernel.arg_attrs))]  # type: ignore[arg-type]
        for b in buffers
    ]
    found = solve(len(sizes), extents)
    described_sizes: list[Attribute] = []
    for n, size in enumerate(sizes):
        data: dict[str, Attribute] = {"name": StringAttr(names[size])}
        if n in found:
            argument, axis = found[n]
            data |= {"argument": IntegerAttr(argument, i64), "axis": IntegerAttr(axis, i64)}
        described_sizes.append(DictionaryAttr(data))
    first_output = len(buffers) - kernel.outputs.value.data
    described = [
        _argument(b, names[b], len(sizes), e, n >= first_output)
        for n, (b, e) in enumerate(zip(buffers, extents, strict=True))
    ]
    return DictionaryAttr(
        {
            "name": kernel.sym_name,
            "order": ArrayAttr([IntegerAttr(n, i64) for n in found]),
            "sizes": ArrayAttr(described_sizes),
            "arguments": ArrayAttr(described),
        }
    )


def _argument(buffer: BlockArgument, name: str, sizes: int, extents: Sequence[Linear], output: bool) -> DictionaryAttr:
    data: dict[str, Attribute] = {
        "name": StringAttr(name),
        "type": buffer.type,
        SHAPE: IndexMapAttr(IndexMap(sizes, tuple(extents))),
    }
    if output:
        data["output"] = UnitAttr()
    return DictionaryAttr(data)


def solve(sizes: int, extents: Sequence[Sequence[Linear]]) -> dict[int, tuple[int, int]]:
    """The argument and axis whose extent gives each size, in an order in which they can be computed.

    An extent gives a size that is the only unknown in it, once others are known; an extent that is the size itself
    is preferred. A size that stands in divisions only is given by none.
    """
    found: dict[int, tuple[int, int]] = {}
    places = [(a, d, e) for a, shape in enumerate(extents) for d, e in enumerate(shape)]
    while len(found) < sizes:
        candidates: list[tuple[bool, int, tuple[int, int]]] = []
        for argument, axis, extent in places:
            unknown = [d for d in extent.dims() if isinstance(d, int) and d not in found]
            if len(unknown) == 1 and extent.terms.get(unknown[0]):
                rest = Linear({a: c for a, c in extent.terms.items() if a != unknown[0]}, extent.const)
                if unknown[0] not in rest.dims():
                    candidates.append((extent != Linear.dim(unknown[0]), unknown[0], (argument, axis)))
        if not candidates:
            break
        _, size, place = min(candidates)
        found[size] = place
    return found
