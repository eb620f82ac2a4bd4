"""Entry of a module: `@main`, made where there is only one kernel, and inputs drawn for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Region

from lamina.dialects.entry_names import argument_names
from lamina.dialects.index.sizes import SHAPE, shape_of
from lamina.dialects.index.symbol_forms import evaluate, form_of
from lamina.dialects.index.symbol_ranges import range_text
from lamina.dialects.relay.symbolic import module_symbols
from lamina.dialects.relay.unknown_extents import checked_tensor
from lamina.dialects.relay.value_types import UNNAMED, extents
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.errors import UsageError

MAIN = "main"

# -- inputs ------------------------------------------------------------------------------------------------------


def draw_inputs(main: MainOp, sizes: Mapping[str, int], given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Small whole numbers for the inputs of `@main` that are not given, of some small sizes where these are not.

    Raises UsageError for an unknown size, or one that the program is not for, and for extents that have no name.
    """
    generator = np.random.default_rng(seed)
    args = list(main.body.block.args)
    count = main.attributes.get("lamina.outputs")
    names = argument_names(main, args)
    if isinstance(count, IntegerAttr):
        args = args[: len(args) - int(count.value.data)]
    symbols = _drawn_symbols(main, sizes, generator)
    known: dict[str, Any] = {}
    values: dict[int, int] = {}
    for n, (name, argument) in enumerate(zip(names, args, strict=False)):
        if isinstance(argument.type, IndexType):
            known[name] = int(given.get(name, sizes.get(name, generator.integers(3, 10))))
            values[len(values)] = known[name]
        elif name not in given:
            known[name] = _array(_shape(main, n, argument.type, values, symbols), argument.type, generator)
    numbers = [*symbols, *(n for n, v in known.items() if isinstance(v, int))]
    unknown = [s for s in sizes if s not in numbers]
    if unknown:
        raise UsageError(f"the program has no size {unknown[0]!r}", hint=f"its sizes: {', '.join(numbers) or 'none'}")
    return known


def _drawn_symbols(main: MainOp, sizes: Mapping[str, int], generator: np.random.Generator) -> dict[str, int]:
    """A value for each symbol of the module, the sizes that are given among them."""
    module = main.parent_op()
    symbols = module_symbols(module) if module is not None else None
    found: dict[str, int] = {}
    for name, range_ in symbols.known.items() if symbols is not None else ():
        allowed = range(-(-range_.min // range_.divisor) * range_.divisor, range_.max + 1, range_.divisor)
        few = allowed[: max(len([n for n in allowed[:10] if n < 10]), 1)]
        found[name] = sizes[name] if name in sizes else int(few[int(generator.integers(0, len(few)))])
        if found[name] not in allowed:
            raise UsageError(f"{range_text(name, range_)} is what the program is for, not {name} = {found[name]}")
    return found


def _shape(
    main: MainOp, n: int, type_: Attribute, sizes: Mapping[int, int], symbols: Mapping[str, int]
) -> tuple[int, ...]:
    shape, attrs = shape_of(type_), main.arg_attrs
    if attrs is not None and SHAPE in attrs.data[n].data:
        map_: Any = attrs.data[n].data[SHAPE]
        return tuple(int(f.evaluate(sizes)) for f in map_.data.results)
    if DYNAMIC_INDEX not in shape:
        return tuple(shape)
    dims = extents(checked_tensor(type_))
    if symbols and UNNAMED not in dims:
        return tuple(evaluate(form_of(d), symbols) if isinstance(d, str) else d for d in dims)
    hint = "compile it for numbers: --shape with one for each, in a text extents in the place of ?"
    raise UsageError(f"the program leaves extents of {type_} open, which nothing here stands for", hint=hint)


def _array(shape: tuple[int, ...], type_: Attribute, generator: np.random.Generator) -> Any:
    dtype = element_dtype(type_)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    # Whole numbers that are not negative where they may be indices.
    low, high = (-4, 5) if dtype.kind not in "iu" or (dtype.kind == "i" and dtype.itemsize < 8) else (0, 3)
    return generator.integers(low, high, shape).astype(dtype)


# -- @main -------------------------------------------------------------------------------------------------------


def entry_of(module: ModuleOp) -> MainOp:
    """`@main`; made to call the only kernel of the module where there is none. Raises UsageError."""
    mains = [op for op in module.ops if isinstance(op, MainOp) and not op.is_declaration]
    found = next((m for m in mains if m.sym_name.data == MAIN), mains[0] if len(mains) == 1 else None)
    if found is not None:
        found.properties["sym_name"] = StringAttr(MAIN)
        return found
    kernels = [op for op in module.ops if isinstance(op, (te.FuncOp, tir.FuncOp))]
    if len(kernels) != 1:
        raise UsageError(f"there is no @main and {len(kernels)} kernels", hint="add a @main that calls them")
    (kernel,) = kernels
    main = _calling(kernel) if isinstance(kernel, te.FuncOp) else _calling_loops(kernel)
    module.body.block.add_op(main)
    main.verify()
    return main


def _calling(kernel: te.FuncOp) -> MainOp:
    from lamina.passes.te_to_tir.te_to_tir import lower_function

    inputs, outputs = kernel.function_type.inputs.data, kernel.function_type.outputs.data
    block = Block(arg_types=inputs)
    for mine, its in zip(block.args, kernel.body.block.args, strict=True):
        mine.name_hint = its.name_hint
    call = te.CallOp.make(kernel.sym_name.data, block.args, outputs)
    returned = kernel.body.block.last_op
    assert returned is not None
    for result, value in zip(call.results, returned.operands, strict=True):
        result.name_hint = value.name_hint
    block.add_ops([call, ReturnOp(*call.results)])
    main = MainOp(MAIN, FunctionType.from_lists(list(inputs), list(outputs)), Region(block))
    if kernel.arg_attrs is not None:
        # The extents of the results are those that their buffers get.
        lowered, _ = lower_function(kernel.clone())
        assert lowered.arg_attrs is not None
        attrs = list(lowered.arg_attrs.data)
        main.properties["arg_attrs"] = ArrayAttr(attrs[: len(inputs)])
        main.properties["res_attrs"] = ArrayAttr(attrs[len(inputs) :])
    return main


def _calling_loops(kernel: tir.FuncOp) -> MainOp:
    inputs = kernel.function_type.inputs.data
    block = Block(arg_types=inputs)
    for mine, its in zip(block.args, kernel.body.block.args, strict=True):
        mine.name_hint = its.name_hint
    callee = SymbolRefAttr(kernel.sym_name.data)
    block.add_ops([tir.CallOp.create(operands=block.args, properties={"callee": callee}), ReturnOp()])
    main = MainOp(MAIN, FunctionType.from_lists(list(inputs), []), Region(block))
    main.attributes["lamina.outputs"] = IntegerAttr(kernel.outputs.value.data, i64)
    main.properties["arg_attrs"] = kernel.arg_attrs or ArrayAttr([DictionaryAttr({}) for _ in inputs])
    return main
