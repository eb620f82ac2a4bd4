"""Kernels of the device, and the host code that launches them, as CUDA C.

    extern "C" __global__ void __launch_bounds__(64) f_kernel0(const float* __restrict__ x, float* __restrict__ y) {
      const index_t t = threadIdx.x;
      const float v = x[t];
      y[t] = v;
    }

Ops on scalars are written by the table of `rows.py`, statements by methods; what has neither is refused by
name. A vector is loaded and stored as `float4` and the like where its address is a multiple of its size
(`backends/c/device.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation, SSAValue

from lamina.backends.c.device import WIDEST, DeviceFunction, prepared_functions, prepared_kernels
from lamina.backends.c.expressions import INDEX_TYPE, index, name_of
from lamina.backends.c.source import KEYWORDS
from lamina.backends.cuda.expressions import c_type, compute, literal
from lamina.backends.cuda.rows import BARRIERS, PRELUDE, WIDE
from lamina.dialects.dtypes import dtype_name, itemsize, scalar_type
from lamina.dialects.schedule.nest.threads import is_real
from lamina.dialects.tir.control import IfOp
from lamina.dialects.tir.launch import DEVICE, LaunchOp
from lamina.dialects.tir.memory import AllocOp, type_of
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.errors import InputError

_TAKEN = KEYWORDS | frozenset(
    "bool class delete new private public template this virtual min max "
    "threadIdx blockIdx blockDim gridDim warpSize".split()
)


def compile_device(module: ModuleOp, arch: str) -> str:
    """CUDA C of all kernels of a module, which is not changed. Raises InputError where an op has no row.

    `arch` (`sm_90`) is noted at the top; the text is the same for all.
    """
    return _with_prelude([Function(k).text() for k in prepared_kernels(module)], arch)


def compile_module(module: ModuleOp, arch: str) -> str:
    """CUDA C of a module: kernels, and for each host function one that launches them."""
    return _with_prelude([Function(f).text() for f in prepared_functions(module)], arch)


def _with_prelude(texts: Sequence[str], arch: str) -> str:
    body = "\n".join(texts)
    head = [f"// for {arch}"]
    for word, header in (("__half", "cuda_fp16.h"), ("__nv_bfloat16", "cuda_bf16.h")):
        if word in body:
            head.append(f"#include <{header}>")
    head.append("")
    head += [text for name, text in PRELUDE.items() if f"{name}(" in body or f"{name}<" in body]
    return "\n".join(head) + "\n" + body


class Function(DeviceFunction):
    """One function of the device or of the host as text."""

    language = "cuda"
    wide = WIDE

    def __init__(self, func: FuncOp) -> None:
        super().__init__(func, _TAKEN)
        self.device = DEVICE in func.attributes
        self.temporaries: list[str] = []

    # -- the whole ---------------------------------------------------------------------------------------------

    def text(self) -> str:
        func = self.func
        stored = self.stored_buffers()
        for op in func.walk():
            if isinstance(op, LaunchOp):
                stored |= set(list(op.arguments)[-_outputs(op) :]) if _outputs(op) else set()
        parameters: list[str] = []
        for argument in func.body.block.args:
            name = self.name(argument)
            if isinstance(argument.type, IndexType):
                parameters.append(f"long long {name}_")
                self.line(f"const {INDEX_TYPE} {name} = {name}_;")
                continue
            const = "" if argument in stored else "const "
            restrict = " __restrict__" if self.device and self.is_apart(argument) else ""
            parameters.append(f"{const}{self.element_type(argument, func)}*{restrict} {name}")
        self.block(func.body.block)
        for name in reversed(self.temporaries):
            self.line(f"cudaFree({name});")
        head = f"{self.head()}{func.sym_name.data}({', '.join(parameters)}) {{"
        type_ = "int" if self.index_is_small() else "long long"
        return "\n".join([head, f"  typedef {type_} {INDEX_TYPE};", *self.lines, "}", ""])

    def head(self) -> str:
        if not self.device:
            return 'extern "C" void '
        threads = self.block_threads()
        bounds = "" if threads is None else f"__launch_bounds__({prod(threads)}) "
        return f'extern "C" __global__ void {bounds}'

    # -- spelling ----------------------------------------------------------------------------------------------

    def c_type(self, name: str, op: Operation) -> str:
        return c_type(name, op)

    def element_type(self, buffer: SSAValue, op: Operation) -> str:
        return c_type(name_of(scalar_type(type_of(buffer).element_type)), op)

    def literal(self, value: float | int, name: str) -> str:
        return literal(value, name)

    def compute(self, op: Operation, operands: Sequence[str]) -> str:
        return compute(op, operands)

    def thread(self, kind: str, axis: str) -> str:
        return f"{kind}.{axis}"

    def barrier(self, scope: str) -> str:
        return BARRIERS[scope]

    def declare(self, op: AllocOp, element: str, size: int) -> None:
        where = "__shared__ " if op.scope.data == "shared" else ""
        self.line(f"{where}__align__({WIDEST}) {element} {self.name(op.result)}[{size}];")

    def minimum(self, a: str, b: str) -> str:
        return f"lamina_min<{INDEX_TYPE}>({a}, {b})"

    def wide_load(self, type_: str, buffer: str, place: str) -> str:
        return f"*reinterpret_cast<const {type_}*>({buffer} + {place})"

    def wide_store(self, type_: str, buffer: str, place: str, values: Sequence[str]) -> str:
        return f"*reinterpret_cast<{type_}*>({buffer} + {place}) = make_{type_}({', '.join(values)});"

    def component(self, lane: int) -> str:
        return "xyzw"[lane]

    # -- host ------------------------------------------------------------------------------------------------------

    def statement(self, op: Operation) -> None:
        if isinstance(op, LaunchOp):
            self.launch(op)
        elif self.device or isinstance(op, (IfOp, arith.ConstantOp)):
            super().statement(op)
        elif isinstance(op, AllocOp):
            self.temporary(op)
        elif not isinstance(op, ForOp):
            where = f"@{self.func.sym_name.data} outside of all kernels"
            raise self.fail(f"{op.name} stands in {where}; bind a loop around it", op)
        elif is_real(op):
            raise self.fail(f"{op.axis.data!r} is a kernel still; run tir-split-host-device", op)
        else:
            super().statement(op)

    def temporary(self, op: AllocOp) -> None:
        """A buffer of the device that lives while the function runs."""
        name = self.name(op.result)
        size = " * ".join(f"(size_t){index(e, self.atom(), self.ranges)}" for e in op.extents()) or "1"
        self.line(f"{c_type(name_of(scalar_type(op.result.type.element_type)), op)}* {name};")
        self.line(f"cudaMalloc((void**)&{name}, {size} * {itemsize(dtype_name(op.result.type.element_type))});")
        self.temporaries.append(name)

    def launch(self, op: LaunchOp) -> None:
        extents = [[index(e, self.atom(), self.ranges) for e in es] for es in (op.grid_extents(), op.block_extents())]
        variable = [t for es in extents for t in es if not t.isdecimal()]
        test = " && ".join(f"{t} > 0" for t in variable)
        grid, block = (f"dim3({', '.join(es)})" for es in extents)
        arguments = ", ".join(self.name(a) for a in op.arguments)
        prefix = f"if ({test}) " if test else ""
        self.line(f"{prefix}{op.callee.root_reference.data}<<<{grid}, {block}>>>({arguments});")


def _outputs(op: LaunchOp) -> int:
    """The number of a launch's arguments that its kernel writes."""
    module = op.parent_op()
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    name = op.callee.root_reference.data
    for top in module.ops if module is not None else ():
        if isinstance(top, FuncOp) and top.sym_name.data == name:
            return top.outputs.value.data
    raise InputError(f"cuda: there is no kernel @{name}", op=op)


__all__ = ["compile_device", "compile_module"]
