"""Kernels of the device as OpenCL C.

    __kernel __attribute__((reqd_work_group_size(64, 1, 1)))
    void f_kernel0(__global const float* restrict x, __global float* restrict y) {
      const index_t t = get_local_id(0);
      const float v = x[t];
      y[t] = v;
    }

Ops on scalars are written by the table of `rows.py`, statements by methods (`backends/c/device.py`); what has neither
is refused by name. A block of threads is a work-group, shared memory is `__local`. Where the threads of a warp would
wait for each other, all of the group do: OpenCL tells nobody how wide a warp is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation, SSAValue

from lamina.backends.c.device import WIDEST, DeviceFunction, prepared_kernels
from lamina.backends.c.expressions import INDEX_TYPE, c_type, compute, literal, name_of
from lamina.backends.c.prelude import prelude_of
from lamina.backends.c.source import KEYWORDS as OF_C
from lamina.backends.c.source import Names
from lamina.backends.opencl.rows import (
    FUNCTIONS,
    IN_MEMORY,
    KEYWORDS,
    LEAST,
    NUMBERS,
    OPENCL,
    PRELUDE,
    STDINT,
    WIDE,
)
from lamina.dialects.dtypes import scalar_type
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import AllocOp, type_of
from lamina.dialects.tir.ops import FuncOp

_TAKEN = OF_C | KEYWORDS | FUNCTIONS | PRELUDE.keys() | STDINT.keys() | LEAST.keys()
_DOUBLE = re.compile(r"\bdouble\d*\b")


def compile_device(module: ModuleOp) -> str:
    """OpenCL C of all kernels of a module, which is not changed. Raises LaminaError where an op has no row."""
    kernels = prepared_kernels(module)
    names = kernel_names(module)
    functions = [OpenClFunction(k, names[k.sym_name.data]) for k in kernels]
    texts = [f.text() for f in functions]
    called, _ = prelude_of(texts, PRELUDE)
    whole = "\n".join([*called, *texts])
    head = ["#pragma OPENCL FP_CONTRACT OFF"]
    if _DOUBLE.search(whole):
        head.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    head.append("")
    head += [f"#define {name} {own}" for name, own in LEAST.items() if re.search(rf"\b{name}\b", whole)]
    head += [f"typedef {own} {name};" for name, own in STDINT.items() if re.search(rf"\b{name}\b", whole)]
    head.append(f"typedef {'int' if all(f.index_is_small() for f in functions) else 'long'} {INDEX_TYPE};")
    return "\n".join([*head, "", *called, *texts])


def kernel_names(module: ModuleOp) -> dict[str, str]:
    """The names that the kernels of a module have in the text, by their symbols."""
    names = Names(_TAKEN)
    symbols = [op.sym_name.data for op in module.ops if isinstance(op, FuncOp) and DEVICE in op.attributes]
    return {symbol: names.fresh(symbol, "kernel_of_device") for symbol in symbols}


class OpenClFunction(DeviceFunction):
    """A kernel as OpenCL C."""

    language = "opencl"
    wide = WIDE

    def __init__(self, func: FuncOp, name: str) -> None:
        super().__init__(func, _TAKEN | {name})
        self.symbol = name
        self.shared: list[str] = []
        """Declarations of shared buffers, which may stand at the head of a kernel alone."""
        stored = self.stored_buffers()
        exchanged = any(a in stored and not self.is_apart(a) for a in func.body.block.args)
        self.fence = "CLK_LOCAL_MEM_FENCE" + (" | CLK_GLOBAL_MEM_FENCE" if exchanged else "")

    def text(self) -> str:
        func = self.func
        stored = self.stored_buffers()
        parameters: list[str] = []
        for argument in func.body.block.args:
            name = self.name(argument)
            if isinstance(argument.type, IndexType):
                parameters.append(f"const long {name}")
                continue
            const = "" if argument in stored else "const "
            restrict = " restrict" if self.is_apart(argument) else ""
            parameters.append(f"__global {const}{self.element_type(argument, func)}*{restrict} {name}")
        self.block(func.body.block)
        threads = self.block_threads()
        size = f" __attribute__((reqd_work_group_size({', '.join(map(str, threads))})))" if threads else ""
        head = [f"__kernel{size}", f"void {self.symbol}({', '.join(parameters)}) {{"]
        return "\n".join([*head, *self.shared, *self.lines, "}", ""])

    # -- spelling ----------------------------------------------------------------------------------------------

    def c_type(self, name: str, op: Operation) -> str:
        return c_type(name, op, OPENCL)

    def element_type(self, buffer: SSAValue, op: Operation) -> str:
        name = name_of(scalar_type(type_of(buffer).element_type))
        self.c_type(name, op)
        return IN_MEMORY[name]

    def literal(self, value: float | int, name: str) -> str:
        return literal(value, name, OPENCL)

    def compute(self, op: Operation, operands: Sequence[str]) -> str:
        return compute(op, operands, OPENCL)

    def loaded(self, element: str, name: str) -> str:
        return f"({element} & 1)" if name == "i1" else element

    def thread(self, kind: str, axis: str) -> str:
        return f"{NUMBERS[kind]}({'xyz'.index(axis)})"

    def barrier(self, scope: str) -> str:
        return f"barrier({self.fence});"

    def declare(self, op: AllocOp, element: str, size: int) -> None:
        text = f"{element} {self.name(op.result)}[{size}] __attribute__((aligned({WIDEST})));"
        if op.scope.data == "shared":
            self.shared.append(f"  __local {text}")
        else:
            self.line(text)

    def minimum(self, a: str, b: str) -> str:
        return f"min(({INDEX_TYPE}){a}, ({INDEX_TYPE}){b})"

    def wide_load(self, type_: str, buffer: str, place: str) -> str:
        return f"vload{_count(type_)}(0, {buffer} + {place})"

    def wide_store(self, type_: str, buffer: str, place: str, values: Sequence[str]) -> str:
        return f"vstore{len(values)}(({type_})({', '.join(values)}), 0, {buffer} + {place});"

    def component(self, lane: int) -> str:
        return f"s{lane:x}"


def _count(type_: str) -> str:
    return type_.lstrip("abcdefghijklmnopqrstuvwxyz")


__all__ = ["compile_device", "kernel_names"]
