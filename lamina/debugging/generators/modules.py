"""Relay modules as people write them: functions, tuples, shapes as operands, devices, parts for external compilers.

An ONNX graph has none of these. One is drawn and imported, and its module is written otherwise: runs of its ops become
functions, reshapes take their shape as an operand, dilated convolutions are TensorFlow's, and so on. What it means
stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from lamina.debugging.generators.blocks import BEGINNINGS, chain_of, image, opset_of
from lamina.debugging.generators.blocks_of_images import detection_head, pyramid
from lamina.debugging.generators.blocks_quantised import BLOCKS as QUANTISED
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph
from lamina.debugging.subgraph import body_of, leaving, part_of
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.dyn.views import DynReshapeOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.grad.facet import constant, r, shape_of
from lamina.dialects.relay.params import ParamStore, array_dense
from lamina.dialects.rules.terms import inserting, term
from lamina.errors import LaminaError
from lamina.frontends.onnx import load_onnx
from lamina.interpreters.relay_reference import main_function
from lamina.ir.printing import module_text

dyn_reshape = term(DynReshapeOp)

SMOOTH = [
    *(
        (begin, [b for b in blocks if b is not detection_head])
        for begin, blocks in BEGINNINGS
        if blocks is not QUANTISED
    ),
    *[(image, [pyramid])] * 2,
]
"""Blocks in which no rounding decides: modules that only the machine runs have no oracle that varies roundings. Dilated
convolutions more often than elsewhere, as only some ways to write them have a pass."""
COMPILERS = ("openblas", "dnnl")
MOST_OPS = 12
"""Ops of a function that is made of a run of them."""


def relay_module(draw: Draw) -> tuple[str, OnnxGraph]:
    """A module's text, and the graph that it was, whose inputs it takes. Raises CannotDraw."""
    graph = OnnxGraph(draw, opset_of(draw), exact=True)
    begin, blocks = draw.choice(SMOOTH)
    chain_of(graph, begin(graph), [draw.choice(blocks) for _ in range(1 if draw.sizes == Sizes.REAL else 2)])
    try:
        imported = load_onnx(graph.model())
    except LaminaError as e:
        raise CannotDraw(str(e)) from None
    write_constants(imported.module, imported.store)
    rewritten(imported.module, draw)
    return module_text(imported.module), graph


def rewritten(module: ModuleOp, draw: Draw) -> None:
    """Write a module otherwise, in some of the ways that there are."""
    main = main_function(module)
    for change, likely in CHANGES.items():
        if draw.chance(likely):
            change(main, draw)
    for n in range(draw.integer(0, 3)):
        outline(module, f"layer{n}", draw)
    if draw.chance(0.6):
        partition(module, draw)


def write_constants(module: ModuleOp, store: ParamStore) -> None:
    """Weights as numbers in the text."""
    for op in module.walk():
        if isinstance(op, ConstantOp):
            op.properties["value"] = array_dense(store.get(op.value))  # type: ignore[arg-type]


# -- changes of @main ------------------------------------------------------------------------------------------------


def tensors_of(main: FuncOp) -> list[SSAValue]:
    """The results of its ops that are tensors and used."""
    values = [v for op in body_of(main) for v in op.results]
    return [v for v in values if isinstance(v.type, TensorType) and v.first_use is not None]


def through(value: SSAValue, make: Callable[[], SSAValue]) -> None:
    """Let what uses a value use what `make` makes of it."""
    users = [(use.operation, use.index) for use in value.uses]
    assert isinstance(value.owner, Operation)
    with inserting(Builder(InsertPoint.after(value.owner))):
        made = make()
    for user, n in users:
        user.operands[n] = made


def some_tensors(main: FuncOp, draw: Draw, most: int = 2) -> Iterator[SSAValue]:
    """One or two values of a function."""
    values = tensors_of(main)
    yield from draw.sample(values, min(len(values), draw.integer(1, most)))


def tuples(main: FuncOp, draw: Draw) -> None:
    """A value goes through a tuple, beside another one."""
    for value in some_tensors(main, draw):
        assert isinstance(value.owner, Operation)
        beside = draw.choice([*value.owner.operands, value])
        place = draw.integer(0, 1)
        users = [(use.operation, use.index) for use in value.uses]
        made = TupleOp.make(*((value, beside) if place == 0 else (beside, value)))
        taken = TupleGetItemOp.make(made.result, place)
        Rewriter().insert_op([made, taken], InsertPoint.after(value.owner))
        for user, n in users:
            user.operands[n] = taken.result


def shapes_as_operands(main: FuncOp, draw: Draw) -> None:
    """Reshapes, or a value that is not reshaped, take their shape as an operand."""
    found = [op for op in body_of(main) if op.name == "relay.reshape"]
    for op in draw.sample(found, min(len(found), 3)):
        with inserting(Builder(InsertPoint.before(op))):
            made = with_shape(op.operands[0], shape_of(op.results[0]))
        op.results[0].replace_all_uses_with(made)
        op.detach()
        op.erase()
    if not found:
        for value in some_tensors(main, draw, 1):
            through(value, lambda value=value: with_shape(value, shape_of(value)))


def with_shape(value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    """A value reshaped by an operand."""
    made: SSAValue = dyn_reshape(value, constant(np.asarray(shape, np.int64)), allowzero=True)
    type_: Any = value.type
    return Rewriter.replace_value_with_new_type(made, TensorType(type_.element_type, shape))


def devices(main: FuncOp, draw: Draw) -> None:
    """Values are annotated with the only device that there is, or copied to it."""
    for value in some_tensors(main, draw):
        if draw.chance(0.6):
            through(value, lambda value=value: r.on_device(value, virtual_device="cpu"))
        else:
            through(value, lambda value=value: r.device_copy(value))


def as_tensorflow(main: FuncOp, draw: Draw) -> None:
    """Dilated convolutions stand between space_to_batch and batch_to_space."""
    for op in [o for o in body_of(main) if o.name == "relay.nn.conv2d" and isinstance(o, RelayOp)]:
        attrs = attrs_of(op)
        (dilation, *others), strides, padding = attrs["dilation"], attrs["strides"], attrs["padding"]
        if {dilation} != set(others) or dilation == 1 or set(strides) != {1} or len(padding) != 4:
            continue
        x, w = op.operands
        sides = list(zip(padding[:2], padding[2:], shape_of(x)[2:], strict=True))
        more = [-(before + after + extent) % dilation for before, after, extent in sides]
        block, pads, crops = [1, dilation, dilation], [0, 0], [0, 0]
        for (before, after, _), extra in zip(sides, more, strict=True):
            pads += [before, after + extra]
            crops += [0, extra]
        with inserting(Builder(InsertPoint.before(op))):
            blocks = r.nn.space_to_batch_nd(x, block_shape=block, paddings=pads)
            y = r.nn.conv2d(blocks, w, **{**attrs, "dilation": [1, 1], "padding": [0, 0, 0, 0]})
            y = r.nn.batch_to_space_nd(y, block_shape=block, crops=crops)
        op.results[0].replace_all_uses_with(y)
        op.detach()
        op.erase()


def channels_last(main: FuncOp, draw: Draw) -> None:
    """Convolutions of images have the channels last, but for those whose dilation is written apart."""
    for op in [o for o in body_of(main) if o.name == "relay.nn.conv2d" and isinstance(o, RelayOp)]:
        attrs, (x, w) = attrs_of(op), op.operands
        if (attrs["data_layout"], attrs["kernel_layout"], attrs["out_layout"]) != ("NCHW", "OIHW", ""):
            continue
        if isinstance(x.owner, Operation) and x.owner.name == "relay.nn.space_to_batch_nd":
            continue
        with inserting(Builder(InsertPoint.before(op))):
            image, kernel = r.transpose(x, axes=[0, 2, 3, 1]), r.transpose(w, axes=[2, 3, 1, 0])
            y = r.nn.conv2d(image, kernel, **{**attrs, "data_layout": "NHWC", "kernel_layout": "HWIO"})
            y = r.transpose(y, axes=[0, 3, 1, 2])
        op.results[0].replace_all_uses_with(y)
        op.detach()
        op.erase()


CHANGES = {as_tensorflow: 0.9, channels_last: 0.3, shapes_as_operands: 0.5, tuples: 0.5, devices: 0.5}
"""Functions that write parts of `@main` otherwise, with the probability of each."""


# -- functions -------------------------------------------------------------------------------------------------------


def outline(module: ModuleOp, name: str, draw: Draw) -> None:
    """Some ops after each other become a function, which is called; now and then another is left that nobody calls."""
    main = main_function(module)
    ops = body_of(main)
    length = min(len(ops), draw.integer(1, MOST_OPS))
    start = draw.integer(0, len(ops) - length)
    function = put_into_function(module, ops[start : start + length], name)
    if function is not None and draw.chance(0.4):
        unused = function.clone()
        unused.properties["sym_name"] = StringAttr(f"{name}_before")
        module.body.block.add_op(unused)


def partition(module: ModuleOp, draw: Draw) -> None:
    """A product becomes a function for an external compiler, as partitioning leaves it."""
    products = [op for op in body_of(main_function(module)) if op.name in ("relay.nn.dense", "relay.nn.conv2d",
                "relay.nn.matmul", "relay.nn.batch_matmul")]  # fmt: skip
    if products:
        compiler = draw.choice(COMPILERS)
        name = f"tvmgen_default_{compiler}_main_0"
        function = put_into_function(module, [draw.choice(products)], name)
        assert function is not None
        one = IntegerAttr(1, i64)
        marks: dict[str, Attribute] = {"Compiler": StringAttr(compiler), "global_symbol": StringAttr(name)}
        function.attributes.update({**marks, "Inline": one, "Primitive": one})


def put_into_function(module: ModuleOp, ops: list[Operation], name: str) -> FuncOp | None:
    """Put ops that follow each other into a function, and call it; None where they take or give what is no tensor."""
    main = main_function(module)
    results = leaving(main, ops)
    if not results:
        return None
    part = part_of(main, ops, results)
    outside = list(part.arguments)
    if not all(isinstance(v.type, TensorType) for v in [*outside, *results]):
        return None
    types = [v.type for v in results]
    body = part.main.body.detach_block(0)
    function = FuncOp(name, FunctionType.from_lists([v.type for v in outside], types), Region(body), "private")
    module.body.block.add_op(function)
    call = CallOp(name, outside, types)
    Rewriter().insert_op(call, InsertPoint.after(ops[-1]))
    for old, new in zip(results, call.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for op in reversed(ops):
        op.detach()
        op.erase()
    return function
