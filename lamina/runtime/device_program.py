"""A program of a device and its host code, run: what `tir-split-host-device` leaves, its kernels as OpenCL C.

program = DeviceProgram(module, text, names, device)
with program.call(sizes, inputs, outputs) as call:
    call.run()                            # the launches, in order
    call.read()                           # outputs are written
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, SSAValue

from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.tir.control import IfOp
from lamina.dialects.tir.launch import DEVICE, LaunchOp
from lamina.dialects.tir.memory import AllocOp
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.errors import InputError
from lamina.runtime.opencl import OpenClDevice, OpenClProgram

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


class DeviceProgram:
    """A program that was built for a device."""

    def __init__(self, module: ModuleOp, text: str, names: Mapping[str, str], device: OpenClDevice) -> None:
        """`names` are those of the kernels in the text, by their symbols. Raises LaminaError as OpenClProgram does."""
        self.device = device
        self.host = next(op for op in module.ops if isinstance(op, FuncOp) and DEVICE not in op.attributes)
        self.names = names
        self.kernels = OpenClProgram(device, text)

    @contextmanager
    def call(self, sizes: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array]) -> Generator[DeviceCall]:
        """The program on the device's copies of some arrays, which are compact and fit."""
        self.device.check_process()
        call = DeviceCall(self)
        try:
            call.write(sizes, inputs, outputs)
            yield call
        finally:
            call.close()


class DeviceCall:
    """A program with its arguments on the device."""

    def __init__(self, program: DeviceProgram) -> None:
        self.program = program
        self.device = program.device
        self.sizes: dict[Atom, int] = {}
        self.buffers: dict[SSAValue, ctypes.c_void_p] = {}
        self.written: list[tuple[ctypes.c_void_p, Array]] = []

    def write(self, sizes: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Copy the arguments to the device; outputs too, which a program may write in part."""
        arguments = self.program.host.body.block.args
        self.sizes.update(zip((a for a in arguments if isinstance(a.type, IndexType)), sizes, strict=True))
        tensors = [a for a in arguments if not isinstance(a.type, IndexType)]
        for argument, array in zip(tensors, [*inputs, *outputs], strict=True):
            self.buffers[argument] = buffer = self.device.buffer(array.nbytes)
            self.device.write(buffer, array)
        self.written = [(self.buffers[a], o) for a, o in zip(tensors[len(inputs) :], outputs, strict=True)]

    def run(self) -> None:
        """Start all kernels in order; they are not waited for."""
        self._block(self.program.host.body.block)

    def finish(self) -> None:
        """Wait for what was started."""
        self.device.finish()

    def read(self) -> None:
        """Copy the outputs back, behind what was started."""
        for buffer, array in self.written:
            self.device.read(buffer, array)

    def close(self) -> None:
        """Free the device's memory."""
        for buffer in self.buffers.values():
            self.device.release(buffer)
        self.buffers.clear()

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, LaunchOp):
                self._launch(op)
            elif isinstance(op, AllocOp):
                if op.result not in self.buffers:
                    element = itemsize(dtype_name(op.result.type.element_type))
                    self.buffers[op.result] = self.device.buffer(prod(self._values(op.extents())) * element)
            elif isinstance(op, ForOp):
                for n in range(min(self._values(op.limits()))):
                    self.sizes[op.var] = n
                    self._block(op.body.block)
            elif isinstance(op, IfOp):
                held = [(f.evaluate(self.sizes), equal) for f, equal in op.conditions()]
                if all(v == 0 if equal else v >= 0 for v, equal in held):
                    self._block(op.body.block)
            elif not isinstance(op, arith.ConstantOp):
                raise InputError(f"{op.name} stands outside of all kernels; bind a loop around it", op=op)

    def _values(self, forms: Sequence[Linear]) -> list[int]:
        return [int(f.evaluate(self.sizes)) for f in forms]

    def _launch(self, op: LaunchOp) -> None:
        grid, block = self._values(op.grid_extents()), self._values(op.block_extents())
        if 0 in (*grid, *block):
            return
        given = [self.buffers[a] if a in self.buffers else self.sizes[a] for a in op.arguments]
        self.program.kernels.launch(self.program.names[op.callee.root_reference.data], grid, block, given)


__all__ = ["DeviceCall", "DeviceProgram"]
