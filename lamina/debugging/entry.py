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
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.errors import UsageError

MAIN = "main"

# -- inputs ------------------------------------------------------------------------------------------------------


def draw_inputs(main: MainOp, sizes: Mapping[str, int], given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Small whole numbers for the inputs of `@main` that are not given. Raises UsageError for an unknown size, and for
    extents that have none."""
    generator = np.random.default_rng(seed)
    args = list(main.body.block.args)
    count = main.attributes.get("lamina.outputs")
    names = argument_names(main, args)
    if isinstance(count, IntegerAttr):
        args = args[: len(args) - int(count.value.data)]
    known: dict[str, Any] = {}
    values: dict[int, int] = {}
    for n, (name, argument) in enumerate(zip(names, args, strict=False)):
        if isinstance(argument.type, IndexType):
            known[name] = int(given.get(name, sizes.get(name, generator.integers(3, 10))))
            values[len(values)] = known[name]
        elif name not in given:
            known[name] = _array(main, n, argument.type, values, generator)
    unknown = [s for s in sizes if not isinstance(known.get(s), int)]
    if unknown:
        has = ", ".join(n for n, v in known.items() if isinstance(v, int)) or "none"
        raise UsageError(f"the program has no size {unknown[0]!r}", hint=f"its sizes: {has}")
    return known


def _array(main: MainOp, n: int, type_: Attribute, sizes: Mapping[int, int], generator: np.random.Generator) -> Any:
    shape = shape_of(type_)
    attrs = main.arg_attrs
    if attrs is not None and SHAPE in attrs.data[n].data:
        map_: Any = attrs.data[n].data[SHAPE]
        shape = tuple(int(f.evaluate(sizes)) for f in map_.data.results)
    if DYNAMIC_INDEX in shape:
        hint = "compile it for numbers: --shape with one for each, in a text extents in the place of ?"
        raise UsageError(f"the program leaves extents of {type_} open, which nothing here stands for", hint=hint)
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
