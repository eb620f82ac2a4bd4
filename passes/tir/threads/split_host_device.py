"""Each kernel becomes a function of the device; what is left is host code that launches them.

A kernel takes the sizes and buffers that it uses: sizes first, then what it reads, then what it writes. The extents of
the launch are those of the loops of threads, which stay in the kernel, as forms of the sizes.

Assumes `tir-unify-thread-binding`.

Before:
    tir.func @f(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
      tir.for %b = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x" "y.0" {
        tir.for %t = 0 to 64 thread "threadIdx.x" "y.1" { ... } } }
After:
    tir.func @f_kernel0(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) attributes {device} {
      tir.for %b = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x" "y.0" { ... } }
    tir.func @f(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
      tir.launch @f_kernel0 grid [(%n + 63) floordiv 64] block [64] (%n, %x, %y) : ... }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import bytes_of_type
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.index.sizes import shape_attrs, symbolic_shape
from lamina.dialects.schedule.nest.edits import stands_in
from lamina.dialects.schedule.nest.threads import is_thread, kernels_of, tag_of, thread_extent, thread_loops
from lamina.dialects.tir.launch import DEVICE, LaunchOp
from lamina.dialects.tir.memory import AllocOp, StoreOp, extents_of
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location

NAME = "tir-split-host-device"


@dataclass(frozen=True)
class SplitHostDevicePass(ModulePass):
    name = "tir-split-host-device"

    max_threads: int = 1024
    """The threads that a block can have."""
    max_shared: int = 48 * 1024
    """The bytes of shared memory that a block can have."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.ops):
            if isinstance(func, FuncOp) and DEVICE not in func.attributes:
                for number, root in enumerate(list(kernels_of(func))):
                    self.check(root)
                    with edit.transaction(root):
                        kernel, launch = outline(func, root, f"{func.sym_name.data}_kernel{number}")
                        inherit_location(launch, root)
                        kernel.location = func.location
                        edit.insert_before(func, kernel)
                        edit.insert_before(root, launch)
                        edit.move_into(kernel.body.block, [root])

    def check(self, root: ForOp) -> None:
        """Raises InputError for a kernel that no device can run."""
        extents = {tag_of(v): thread_extent(v) for v in thread_loops(root, "threadIdx")}
        threads = prod(e.const for e in extents.values() if e.is_constant)
        if threads > self.max_threads:
            shown = " * ".join(str(e.const) for e in extents.values() if e.is_constant)
            raise InputError(
                f"{NAME}: a block of {root.axis.data!r} has {shown} threads; at most {self.max_threads} are possible",
                op=root,
            )
        shared = 0
        for alloc in root.walk():
            if isinstance(alloc, AllocOp) and alloc.scope.data == "shared":
                if DYNAMIC_INDEX in alloc.result.type.get_shape():
                    raise InputError(
                        f"{NAME}: the size of the shared buffer {alloc.stage.data!r} is not known", op=alloc
                    )
                shared += bytes_of_type(alloc.result.type)
        if shared > self.max_shared:
            raise InputError(
                f"{NAME}: a block of {root.axis.data!r} has {shared} bytes of shared memory; at most "
                f"{self.max_shared} are possible",
                op=root,
            )


def outline(func: FuncOp, root: ForOp, name: str) -> tuple[FuncOp, LaunchOp]:
    """A function for a kernel, whose body is yet to be moved there, and its launch."""
    _bring_constants(root)
    used = _free_values(root)
    buffers = [v for v in used if isinstance(v.type, MemRefType)]
    for buffer in buffers:
        for extent in extents_of(buffer):
            used |= {d: None for d in extent.dims() if isinstance(d, SSAValue)}
    written = {op.buffer for op in root.walk() if isinstance(op, StoreOp)}
    sizes = [v for v in used if isinstance(v.type, IndexType)]
    for v in used:
        if not isinstance(v.type, (IndexType, MemRefType)):
            raise InputError(f"{NAME}: the kernel {name!r} uses a value of type {v.type} of the host", op=root)
    order: dict[SSAValue, int] = {v: n for n, v in enumerate(func.body.block.args)}

    def in_order(values: Iterable[SSAValue]) -> list[SSAValue]:
        return sorted(values, key=lambda v: order.get(v, len(order)))

    read_only = [v for v in buffers if v not in written]
    ordered = [*in_order(sizes), *in_order(read_only), *in_order(v for v in buffers if v in written)]
    outputs = sum(v in written for v in buffers)
    kernel = FuncOp.make(name, [v.type for v in ordered], outputs)
    kernel.attributes[DEVICE] = UnitAttr()
    grid, block = _extents(root)
    launch = LaunchOp.make(name, grid, block, ordered)
    inner = kernel.body.block.args
    mapping = dict(zip(ordered, inner, strict=True))
    renamed: dict[Atom, Linear] = {old: Linear.dim(new) for old, new in mapping.items()}
    shapes = [
        symbolic_shape(inner, [e.substitute(renamed) for e in extents_of(v)])
        if isinstance(v.type, MemRefType)
        else None
        for v in ordered
    ]
    if any(s is not None for s in shapes):
        kernel.properties["arg_attrs"] = shape_attrs(shapes)
    for old, new in mapping.items():
        new.name_hint = old.name_hint
        for use in list(old.uses):
            if stands_in(use.operation, root):
                use.operation.operands[use.index] = new
    return kernel, launch


def _extents(root: ForOp) -> tuple[list[Linear], list[Linear]]:
    """The extents of grid and block along x, y and z, those at the end left out where they are 1."""
    found: dict[str, Linear] = {}
    for loop in thread_loops(root):
        if not is_thread(loop, "vthread"):
            found.setdefault(tag_of(loop), thread_extent(loop))
    result: list[list[Linear]] = []
    for prefix in ("blockIdx", "threadIdx"):
        extents = [found.get(f"{prefix}.{axis}", constant(1)) for axis in "xyz"]
        while len(extents) > 1 and extents[-1] == constant(1):
            extents.pop()
        result.append(extents)
    return result[0], result[1]


def _free_values(root: Operation) -> dict[SSAValue, None]:
    """The values that an op uses and does not define, in order of use."""
    found: dict[SSAValue, None] = {}
    for op in root.walk():
        for value in op.operands:
            owner = value.owner
            holder = owner.parent_op() if isinstance(owner, Block) else owner
            if holder is None or not stands_in(holder, root):
                found[value] = None
    return found


def _bring_constants(root: ForOp) -> None:
    """Constants of the host are copied into the kernel."""
    first = root.body.block.first_op
    for value in _free_values(root):
        if isinstance(value.owner, arith.ConstantOp) and first is not None:
            copy = value.owner.clone()
            edit.insert_before(first, copy)
            for use in list(value.uses):
                if stands_in(use.operation, root):
                    use.operation.operands[use.index] = copy.result
            copy.result.name_hint = value.name_hint
            if not value.uses:
                edit.erase(value.owner)
