"""Runs a module at any level: relay by its oracles, te and tir by checking interpreters, llvm by the JIT.

`run_module(module, ctx, "main", {"x": array})` gives `{"y": array}`. The entry is `@main`, which calls kernels, or
one te.func or tir.func by itself. Inputs and results are named by the argument and result attribute `lamina.name`,
else by their SSA names, else by position (`arg0`, `out0`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ContainerType,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    ShapedType,
    StringAttr,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.entry_names import argument_names, level_of, result_names
from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.index.linear import Atom
from lamina.dialects.index.sizes import RANGE, SHAPE
from lamina.dialects.index.symbol_range import SymbolRange
from lamina.dialects.index.symbol_ranges import range_text
from lamina.dialects.index.symbols import Symbols, current_symbols, with_symbols
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.symbolic import module_symbols
from lamina.dialects.relay.unknown_extents import checked_tensor
from lamina.dialects.relay.value_types import extents
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.calls import fits
from lamina.dialects.tir.memory import extents_of
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.interpreters.external import declared_outputs, run_declared
from lamina.interpreters.te_interpreter import Program, run_te_func
from lamina.interpreters.tir_interpreter import Kernel, buffer_name
from lamina.interpreters.tir_memory import Memory, UninitialisedError, output_range
from lamina.ir.context import LaminaContext
from lamina.passes.relay.partition.external_backends import is_declaration
from lamina.runtime.ports import SIZE, Extents, Port, infer_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

OUTPUTS = "lamina.outputs"
"""Attribute of a tir @main: how many of its arguments, counted from the last, are results."""


def run_module(
    module: ModuleOp,
    ctx: LaminaContext,
    entry: str = "main",
    inputs: Mapping[str, Array] | Sequence[Array] = (),
) -> dict[str, Array]:
    """The results of a function on arrays given by name or in order.

    Raises InputError where an array does not fit or the program does wrong, UsageError for an unknown entry.
    """
    functions = _functions(module)
    if f"{entry}.program" in functions:
        return _run_llvm(module, ctx, inputs)  # tir-to-llvm makes a table of @main
    function = functions.get(entry)
    if function is None:
        raise UsageError(f"no function @{entry} in the module", hint=did_you_mean(entry, list(functions)))
    if function.name == "llvm.func" or level_of(module) == "llvm":
        return _run_llvm(module, ctx, inputs)
    if isinstance(function, te.FuncOp):
        return _run_te(function, functions, ctx, inputs)
    if isinstance(function, tir.FuncOp):
        return _run_kernel(function, inputs)
    if isinstance(function, MainOp) and len(function.body.blocks) != 1:
        raise InputError(f"@{entry} {'branches' if function.body.blocks else 'has no body'}", op=function)
    if isinstance(function, MainOp):
        level = level_of(function)
        if level == "te":
            return _run_te_main(function, functions, ctx, inputs)
        if level == "tir":
            return _run_tir_main(function, functions, ctx, inputs)
        return _run_relay(function, ctx, inputs)
    raise UnsupportedError(f"@{entry} is a {function.name}, which cannot be run")


def _functions(module: ModuleOp) -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    for op in module.body.block.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            found[name.data] = op
    return found


# -- arrays in and out -----------------------------------------------------------------------------------------


def bind_inputs(
    function: Operation, names: Sequence[str], args: Sequence[SSAValue], inputs: Mapping[str, Array] | Sequence[Array]
) -> list[Any]:
    """One array for each argument, an integer for a size, checked. Raises InputError naming the argument.

    A size that is not given is told by an array.
    """
    attrs = function.properties.get("arg_attrs")
    ports = [_port(n, a, attrs) for n, a in zip(names, args, strict=True)]
    needed = [p.name for p in ports if p.dtype != SIZE]
    if not isinstance(inputs, Mapping):
        if len(inputs) not in (len(names), len(needed)):
            raise InputError(f"{len(names)} inputs are expected ({', '.join(names)}), {len(inputs)} are given")
        inputs = dict(zip(names if len(inputs) == len(names) else needed, inputs, strict=True))
    unknown = [n for n in inputs if n not in names]
    if unknown:
        has = f"the inputs are {', '.join(names)}" if names else "it takes no inputs"
        raise InputError(f"there is no input {unknown[0]!r}", hint=did_you_mean(unknown[0], list(names)) or has)
    missing = [n for n in needed if n not in inputs]
    if missing:
        raise InputError(f"no array is given for the input {', '.join(map(repr, missing))}")
    sizes = infer_sizes(ports, inputs)
    numbers = list(sizes.values())
    return [sizes[p.name] if p.dtype == SIZE else _bind(p, numbers, np.asarray(inputs[p.name])) for p in ports]


def _port(name: str, value: SSAValue, attrs: Attribute | None) -> Port:
    said: Mapping[str, Attribute] = {}
    if isinstance(attrs, ArrayAttr) and isinstance(value, BlockArgument):
        said = cast("ArrayAttr[DictionaryAttr]", attrs).data[value.index].data
    if isinstance(value.type, IndexType):
        values = said.get(RANGE)
        known = SymbolRange(*map(int, values.get_values())) if isinstance(values, DenseArrayBase) else None
        return Port(name, (), SIZE, range=known)
    assert isinstance(value.type, ShapedType) and isinstance(value.type, ContainerType)
    shape = tuple(int(e) for e in value.type.get_shape())
    extents = None
    if DYNAMIC_INDEX in shape:
        found = said.get(SHAPE)
        extents = Extents(found.data.results) if isinstance(found, IndexMapAttr) else None
        if extents is None and current_symbols() is not None:
            shape = tensor_info(value.type).shape
    return Port(name, shape, dtype_name(cast(Attribute, value.type.get_element_type())), extents)


def _bind(port: Port, sizes: Sequence[int], array: Array) -> Array:
    shape = port.shape_for(sizes)
    if array.ndim != len(shape):
        raise InputError(f"input {port.name!r} has rank {array.ndim}, expected {len(shape)} (shape {list(shape)})")
    if array.shape != shape:
        raise InputError(f"input {port.name!r} has shape {list(array.shape)}, expected {list(shape)}")
    if str(array.dtype) != port.dtype:
        raise InputError(f"input {port.name!r} is {array.dtype}, expected {port.dtype}")
    return np.ascontiguousarray(array).reshape(shape)


def _param(ctx: LaminaContext) -> Callable[[Any], Array]:
    return lambda attr: ctx.params.get(attr)


# -- relay, llvm -----------------------------------------------------------------------------------------------


def _run_relay(function: MainOp, ctx: LaminaContext, inputs: Mapping[str, Array] | Sequence[Array]) -> dict[str, Array]:
    from lamina.interpreters.beyond_programs import needs_machine
    from lamina.interpreters.relay_reference import run_relay
    from lamina.vm.vm import ReferenceKernels, VirtualMachine

    args = function.body.block.args
    module = function.parent_op()
    if isinstance(module, ModuleOp) and needs_machine(module):
        values = _by_name(argument_names(function, args), inputs)
        found = VirtualMachine(module, ReferenceKernels(ctx.params)).run(values, function.sym_name.data)
        return dict(zip(_main_results(function), found, strict=True))
    names = argument_names(function, args)
    with _told_symbols(function, names, inputs):
        arrays = bind_inputs(function, names, args, inputs)
        results = run_relay(function, arrays, ctx.params)
    return dict(zip(_main_results(function), results, strict=True))


def _told_symbols(
    function: MainOp, names: Sequence[str], inputs: Mapping[str, Array] | Sequence[Array]
) -> AbstractContextManager[object]:
    """While it lasts the symbols of the module are the numbers that the arrays tell. Raises InputError."""
    module = function.parent_op()
    symbols = module_symbols(module) if module is not None else None
    if symbols is None:
        return nullcontext()
    values: dict[str, int] = {}
    for name, argument, array in zip(names, function.body.block.args, _by_name(names, inputs), strict=False):
        dims = extents(checked_tensor(argument.type))
        for dim, extent in zip(dims, np.shape(array), strict=False):
            if dim in symbols.known and values.setdefault(dim, extent) != extent:
                raise InputError(f"input {name!r} says that {dim} is {extent}, another one that it is {values[dim]}")
    for name, range_ in symbols.known.items():
        value = values.setdefault(name, range_.min if range_.default is None else range_.default)
        if not range_.min <= value <= range_.max or value % range_.divisor:
            raise InputError(f"{name} is {value}, the program is for {range_text(name, range_)}")
    return with_symbols(Symbols({name: SymbolRange(value, value) for name, value in values.items()}))


def _by_name(names: Sequence[str], inputs: Mapping[str, Any] | Sequence[Any]) -> list[Any]:
    """Values in the order of names. Raises InputError for one that is missing or unknown."""
    if not isinstance(inputs, Mapping):
        return [*inputs]
    unknown = [n for n in inputs if n not in names]
    if unknown:
        raise InputError(f"there is no input {unknown[0]!r}", hint=did_you_mean(unknown[0], list(names)))
    missing = [n for n in names if n not in inputs]
    if missing:
        raise InputError(f"no array is given for the input {', '.join(map(repr, missing))}")
    return [inputs[n] for n in names]


def _main_results(function: MainOp) -> list[str]:
    last = function.body.block.last_op
    returned = list(last.operands) if isinstance(last, ReturnOp) else []
    return result_names(function, len(function.function_type.outputs), returned)


def _run_llvm(module: ModuleOp, ctx: LaminaContext, inputs: Mapping[str, Array] | Sequence[Array]) -> dict[str, Array]:
    try:
        from lamina.backends.cpu.runtime.modules import runtime_library
        from lamina.runtime.llvm_module import run_llvm_module  # type: ignore[import-not-found]
        from lamina.store.program_cache import object_cache
    except ImportError as e:
        raise UnsupportedError(f"modules of the llvm level cannot be run: {e}") from e
    # The module is compiled each time, for it may be what a mistake is looked for in; what runs it comes from disk.
    runtime_library(cache=object_cache())
    return run_llvm_module(module, ctx, inputs)  # type: ignore[no-any-return]


# -- te --------------------------------------------------------------------------------------------------------


def _te_functions(functions: Mapping[str, Operation]) -> dict[str, te.FuncOp]:
    return {n: f for n, f in functions.items() if isinstance(f, te.FuncOp)}


def _run_te(
    function: te.FuncOp,
    functions: Mapping[str, Operation],
    ctx: LaminaContext,
    inputs: Mapping[str, Array] | Sequence[Array],
) -> dict[str, Array]:
    args = function.body.block.args
    arrays = bind_inputs(function, argument_names(function, args), args, inputs)
    results = run_te_func(function, arrays, Program(_te_functions(functions), _param(ctx)))
    last = function.body.block.last_op
    assert last is not None
    return dict(zip(result_names(function, len(results), list(last.operands)), results, strict=True))


def _run_te_main(
    function: MainOp,
    functions: Mapping[str, Operation],
    ctx: LaminaContext,
    inputs: Mapping[str, Array] | Sequence[Array],
) -> dict[str, Array]:
    block = function.body.block
    program = Program(_te_functions(functions), _param(ctx))
    arrays = bind_inputs(function, argument_names(function, block.args), block.args, inputs)
    values: dict[SSAValue, Any] = dict(zip(block.args, arrays, strict=True))
    for op in block.ops:
        if isinstance(op, te.CallOp):
            external = functions.get(op.callee.string_value())
            if external is not None and is_declaration(external):
                found = run_declared(external, [values[v] for v in op.arguments], ctx.params)
                values.update(zip(op.res, found, strict=True))
                continue
            callee = program.functions.get(op.callee.string_value())
            if callee is None:
                raise InputError(f"there is no function @{op.callee.string_value()}", op=op)
            results = run_te_func(callee, [values[v] for v in op.arguments], program)
            values.update(zip(op.res, results, strict=True))
        elif isinstance(op, te.ParamOp):
            values[op.result] = ctx.params.get(op.param)  # type: ignore[arg-type]
        elif isinstance(op, ReturnOp):
            return dict(zip(_main_results(function), [values[v] for v in op.operands], strict=True))
        else:
            raise UnsupportedError(f"{op.name} cannot be run in @{function.sym_name.data} at the te level", op=op)
    raise InputError(f"@{function.sym_name.data} ends without return", op=function)


# -- tir -------------------------------------------------------------------------------------------------------


def _buffers(
    function: Operation,
    args: Sequence[SSAValue],
    count: int,
    inputs: Mapping[str, Array] | Sequence[Array],
) -> tuple[list[Any], list[str]]:
    """Sizes and buffers for all arguments, those behind the first `count` still empty, and the names of these."""
    names = argument_names(function, args)
    bound = bind_inputs(function, names[:count], args[:count], inputs)
    sizes = [v for v in bound if isinstance(v, int)]
    given = [v if isinstance(v, int) else Memory(buffer_name(a), v, True) for a, v in zip(args, bound, strict=False)]
    attrs = function.properties.get("arg_attrs")
    results = [_port(n, a, attrs).shape_for(sizes) for n, a in zip(names[count:], args[count:], strict=True)]
    made = [Memory.fresh(buffer_name(a), a.type, shape) for a, shape in zip(args[count:], results, strict=True)]
    return [*given, *made], names[count:]


def _run_kernel(function: tir.FuncOp, inputs: Mapping[str, Array] | Sequence[Array]) -> dict[str, Array]:
    start, end = output_range(function)
    buffers, names = _buffers(function, function.body.block.args, start, inputs)
    Kernel(function).run(buffers)
    return {name: m.array for name, m in zip(names[: end - start], buffers[start:end], strict=True)}


def _run_tir_main(
    function: MainOp,
    functions: Mapping[str, Operation],
    ctx: LaminaContext,
    inputs: Mapping[str, Array] | Sequence[Array],
) -> dict[str, Array]:
    block = function.body.block
    count = function.attributes.get(OUTPUTS)
    outputs = int(count.value.data) if isinstance(count, IntegerAttr) else 0
    buffers, names = _buffers(function, block.args, len(block.args) - outputs, inputs)
    values: dict[Atom, Any] = dict(zip(block.args, buffers, strict=True))
    kernels: dict[str, Kernel] = {}
    for op in block.ops:
        if isinstance(op, tir.CallOp):
            name = op.callee.string_value()
            external = functions.get(name)
            if external is not None and is_declaration(external):
                _call_external(op, external, [values[v] for v in op.arguments], ctx)
                continue
            if name not in kernels:
                callee = functions.get(name)
                if not isinstance(callee, tir.FuncOp):
                    raise InputError(f"there is no kernel @{name}", op=op)
                kernels[name] = Kernel(callee)
            _call(op, kernels[name], [values[v] for v in op.arguments])
        elif isinstance(op, tir.AllocOp):
            shape = tuple(int(e.evaluate(values)) for e in op.extents())
            values[op.result] = Memory.fresh(buffer_name(op.result), op.result.type, shape)
        elif isinstance(op, tir.ViewOp):
            values[op.result] = _view(op, values[op.arena], tuple(int(e.evaluate(values)) for e in op.extents()))
        elif isinstance(op, tir.ParamOp):
            values[op.result] = Memory(buffer_name(op.result), ctx.params.get(op.param), True)  # type: ignore[arg-type]
        elif isinstance(op, tir.CopyOp):
            source, target = values[op.source], values[op.target]
            _check_written(op, source)
            target.flat[:] = source.flat
            target.written[:] = source.written
            _mark_written(target)
        elif not isinstance(op, ReturnOp):
            raise UnsupportedError(f"{op.name} cannot be run in @{function.sym_name.data} at the tir level", op=op)
    found = [values[v] for v in block.args[len(block.args) - outputs :]]
    for memory in found:
        if 0 in memory.written:
            raise UninitialisedError(f"@{function.sym_name.data} never writes its result %{memory.name}", op=function)
    return {name: m.array for name, m in zip(names, found, strict=True)}


def _call(op: tir.CallOp, kernel: Kernel, buffers: list[Any]) -> None:
    """One kernel call; what the caller's buffers are called does not matter inside."""
    args = kernel.func.body.block.args
    if not fits([v.type for v in op.arguments], [a.type for a in args]):
        raise InputError(f"the call of {op.callee} passes other buffers than the kernel takes", op=op)
    given = zip(buffers, op.arguments, args, strict=True)
    sizes: dict[Atom, Any] = {a: b for a, b in zip(args, buffers, strict=True) if isinstance(b, int)}
    buffers = [b if v.type == a.type else _reshaped(op, b, a, sizes) for b, v, a in given]
    start, end = output_range(kernel.func)
    for memory in buffers[:start]:
        if isinstance(memory, Memory):
            _check_written(op, memory)
    for memory in buffers[start:]:
        memory.written[:] = bytes(len(memory.written))
    kernel.run(buffers)
    for memory in buffers[start:end]:
        _mark_written(memory)


def _reshaped(op: tir.CallOp, memory: Memory, argument: SSAValue, sizes: Mapping[Atom, int]) -> Memory:
    """A buffer in the shape of a kernel's argument, whose extents may be forms over the sizes that are given."""
    shape = tuple(int(e.evaluate(sizes)) for e in extents_of(argument))
    if prod(shape) != memory.array.size:
        what = f"%{buffer_name(argument)} of {prod(shape)} elements is given {memory.array.size}"
        raise InputError(f"the call of {op.callee}: {what}", op=op)
    return memory.reshaped(shape)


def _call_external(op: tir.CallOp, external: Operation, buffers: list[Memory], ctx: LaminaContext) -> None:
    """The call of a function that an external backend runs."""
    start = len(buffers) - declared_outputs(external)
    for memory in buffers[:start]:
        _check_written(op, memory)
    found = run_declared(external, [m.array for m in buffers[:start]], ctx.params)
    for memory, array in zip(buffers[start:], found, strict=True):
        memory.flat[:] = array.reshape(-1)
        memory.written[:] = b"\1" * len(memory.written)
        _mark_written(memory)


class _View(Memory):
    """A buffer inside an arena: they share the bytes, and the arena remembers which of them hold a value."""

    __slots__ = ("arena", "bytes")

    def __init__(self, name: str, array: Array, arena: Memory, offset: int) -> None:
        super().__init__(name, array, False)
        self.arena = arena
        self.bytes = slice(offset, offset + array.nbytes)


def _check_written(op: Operation, memory: Memory) -> None:
    if isinstance(memory, _View) and 0 not in memory.arena.written[memory.bytes]:
        memory.written[:] = b"\1" * len(memory.written)
    missing = memory.written.find(0)
    if missing >= 0:
        what = f"{op.name} reads %{memory.name}{memory.place(missing)}, which nothing has written"
        raise UninitialisedError(what, op=op)


def _mark_written(memory: Memory) -> None:
    if isinstance(memory, _View):
        memory.arena.written[memory.bytes] = b"\1" * memory.array.nbytes


def _view(op: tir.ViewOp, arena: Memory, shape: tuple[int, ...]) -> Memory:
    dtype = element_dtype(op.result.type)
    offset, size = op.offset.value.data * prod(arena.array.shape[1:]), prod(shape) * dtype.itemsize
    name = buffer_name(op.result)
    if arena.array.itemsize != 1:
        raise InputError(f"the view %{name} is made of %{arena.name}, which is no buffer of bytes", op=op)
    if offset + size > arena.array.nbytes:
        raise InputError(f"the view %{name} ends at byte {offset + size} of an arena of {arena.array.nbytes}", op=op)
    if offset % dtype.itemsize:
        raise InputError(f"the view %{name} is not aligned to its elements", op=op)
    raw = arena.array.reshape(-1).view(np.uint8)[offset : offset + size]
    return _View(name, raw.view(dtype).reshape(shape), arena, offset)
