"""The function of an exported net that tells sizes, shapes of outputs and memory from the shapes of its inputs.

A run in Python works them out in `lamina.runtime.ports` and `program_info`; here the same code runs on the numbers of
the function that it makes (`lamina.backends.cpu.runtime.net_shapes`).
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from lamina.backends.cpu.runtime.net_shapes import ShapesFunction
from lamina.dialects.index.symbol_range import ANY, TIMES
from lamina.errors import UnsupportedError
from lamina.runtime.ports import SIZE

if TYPE_CHECKING:
    from xdsl.dialects.llvm import FuncOp

    from lamina.runtime.ports import Port
    from lamina.runtime.program_info import ProgramInfo


def shapes_function(info: ProgramInfo) -> FuncOp:
    """The function `lamina.shapes` of a program with sizes. Raises UnsupportedError for one that no input tells."""
    function = ShapesFunction()
    tensors = [p for p in info.inputs if p.dtype != SIZE]
    sizes: list[Any] = []
    names: list[str] = []
    for port in info.inputs:
        if port.dtype == SIZE:
            sizes.append(function.check(_size(function, port, tensors, names, sizes), port.range or ANY))
            names.append(port.name)
            for condition in port.conditions:
                function.check_positive(condition.evaluate(dict(enumerate(sizes))))
    for n, tensor in enumerate(tensors):
        for d, extent in enumerate(tensor.shape_for(sizes)):
            function.check_equal(function.extent(n, d), extent)
    memory = info.working_memory(sizes)
    return function.finish([*sizes, *memory.offsets], [p.shape_for(sizes) for p in info.outputs], memory.size)


def _size(function: ShapesFunction, port: Port, tensors: list[Port], names: list[str], sizes: list[Any]) -> Any:
    """A size as `infer_sizes` finds it: a product, an extent of an input, or what it is by default."""
    name = port.name
    if TIMES in name and all(factor in names for factor in name.split(TIMES)):
        return reduce(lambda a, b: a * b, (sizes[names.index(factor)] for factor in name.split(TIMES)))
    for n, tensor in enumerate(tensors):
        dimension = tensor.tells(len(sizes))
        if dimension is not None:
            return function.extent(n, dimension)
    if port.range is None or port.range.default is None:
        what = "no extent of an input is this size, which C has no place for"
        raise UnsupportedError(what, where=f"size {name!r}", hint="give it a value, or write the program for Python")
    return port.range.default
