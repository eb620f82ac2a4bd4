"""`@main`: calls on tensors become calls on buffers, and results trailing arguments."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IndexType, IntegerAttr, TensorType, i64
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects import edit
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.sizes import SHAPE, verify_shapes
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.errors import InputError, did_you_mean
from lamina.passes.base import inherit_location
from lamina.passes.te_to_tir.lowering import memref
from lamina.passes.te_to_tir.reshapes import share_buffers
from lamina.passes.te_to_tir.rules import calls


def is_lowered(main: MainOp) -> bool:
    """Whether the function is on buffers already."""
    return "lamina.outputs" in main.attributes and not main.function_type.outputs


def _check_main(main: MainOp) -> None:
    """Raise InputError for a function that is not one block on tensors and sizes."""
    name = main.sym_name.data
    if len(main.body.blocks) != 1:
        raise InputError(f"te-to-tir: @{name} branches; it is one list of calls", op=main)
    for n, type_ in enumerate(main.function_type.inputs):
        if not isinstance(type_, (IndexType, TensorType)):
            raise InputError(f"te-to-tir: argument {n} of @{name} is {type_}, neither a tensor nor a size", op=main)
    for n, type_ in enumerate(main.function_type.outputs):
        if not isinstance(type_, TensorType):
            raise InputError(f"te-to-tir: result {n} of @{name} is {type_}, not a tensor", op=main)
    try:
        verify_shapes(main.body.block.args, main.arg_attrs)
    except VerifyException as e:
        raise InputError(f"te-to-tir: @{name}: {e}", op=main) from None


def _check_call(op: te.CallOp, functions: dict[str, tir.FuncOp]) -> None:
    """Raise InputError where the function is not there or takes something else."""
    name = op.callee.root_reference.data
    callee = functions.get(name)
    if callee is None:
        hint = did_you_mean(name, list(functions))
        raise InputError(f"te-to-tir: there is no function @{name} to call", hint=hint, op=op)
    for t in [*op.operand_types, *op.result_types]:
        if not isinstance(t, (IndexType, TensorType)):
            raise InputError(f"te-to-tir: the call of @{name} has {t}, neither a tensor nor a size", op=op)
    given = [t if isinstance(t, IndexType) else memref(t) for t in [*op.operand_types, *op.result_types]]
    taken = list(callee.function_type.inputs)
    if given != taken or callee.outputs.value.data != len(op.results):
        inputs, outputs = (
            taken[: len(taken) - callee.outputs.value.data],
            taken[len(taken) - callee.outputs.value.data :],
        )
        raise InputError(
            f"te-to-tir: the call does not fit @{name}, which takes ({_texts(inputs)}) and gives ({_texts(outputs)})",
            op=op,
        )


def _texts(types: Sequence[Attribute]) -> str:
    return ", ".join(str(t).replace("memref", "tensor", 1) for t in types)


class MainBuffers:
    """The buffers that the tensors of `@main` have become so far."""

    def __init__(self, main: MainOp, functions: dict[str, tir.FuncOp], reshapes: Container[str]) -> None:
        block = main.body.block
        returns = block.last_op
        assert isinstance(returns, MainReturnOp)
        self.functions = functions
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.outs: list[SSAValue] = []
        """The arguments that results are written to."""
        for arg in list(block.args):
            type_ = arg.type if isinstance(arg.type, IndexType) else memref(arg.type)
            new = block.insert_arg(type_, len(block.args))
            new.name_hint = arg.name_hint
            self.buffers[arg] = new
        for value in returns.operands:
            out = block.insert_arg(memref(value.type), len(block.args))
            if isinstance(value.owner, te.CallOp) and value not in self.buffers:
                self.buffers[value] = out
            self.outs.append(out)
        own = {name for name, kernel in functions.items() if kernel.body.block.ops}
        self.shared = share_buffers(block, reshapes, own, self.buffers)
        """The calls that are none, each with the tensor in whose buffer its result is."""


@calls.lowers(te.CallOp)
def call(op: te.CallOp, main: MainBuffers) -> Iterable[Operation]:
    """tir.call, behind a tir.alloc for each result that has no buffer; nothing where it only gives another shape."""
    _check_call(op, main.functions)
    buffers = main.buffers
    if op in main.shared:
        buffers[op.results[0]] = buffers[main.shared[op]]
        return
    for result in op.results:
        if result not in buffers:
            name = op.callee.root_reference.data
            sizes = [buffers[v] for v in op.operands if isinstance(v.type, IndexType)]
            extents = _result_extents(main.functions.get(name), result.index, sizes)
            alloc = tir.AllocOp.make(name, memref(result.type), extents=extents)
            alloc.result.name_hint = result.name_hint
            buffers[result] = alloc.result
            yield alloc
    operands = [buffers[v] for v in [*op.operands, *op.results]]
    yield tir.CallOp.create(operands=operands, properties={"callee": op.callee}, attributes=dict(op.attributes))


@calls.lowers(te.ParamOp)
def param(op: te.ParamOp, main: MainBuffers) -> Iterable[Operation]:
    """tir.param of the same parameter."""
    new = tir.ParamOp.create(properties={"param": op.param}, result_types=[memref(op.result.type)])
    new.results[0].name_hint = op.result.name_hint
    main.buffers[op.result] = new.results[0]
    yield new


@calls.lowers(MainReturnOp)
def returns(op: MainReturnOp, main: MainBuffers) -> Iterable[Operation]:
    """func.return of nothing, behind a tir.copy of each result that is computed elsewhere."""
    for value, out in zip(op.operands, main.outs, strict=True):
        if main.buffers[value] is not out:
            yield tir.CopyOp.create(operands=[main.buffers[value], out])
    yield MainReturnOp()


def lower_main(main: MainOp, functions: dict[str, tir.FuncOp], reshapes: Container[str] = ()) -> None:
    """Calls on tensors become calls on buffers; results become trailing arguments.

    What a function of `reshapes` gives is, where that can be, in the buffer that it is given: nothing is called.
    """
    _check_main(main)
    block = main.body.block
    state = MainBuffers(main, functions, reshapes)
    old = list(block.ops)
    for op in old:
        for new in calls.lower(op, state, f"@{main.sym_name.data}"):
            inherit_location(new, op)
            edit.insert_before(op, new)
    for op in reversed(old):
        edit.erase(op, safe=False)
    count = len(main.function_type.inputs)
    for arg in list(block.args)[:count]:
        block.erase_arg(arg)
    types = list(block.arg_types)
    arg_attrs = list(main.arg_attrs.data) if main.arg_attrs else None
    res_attrs = list(main.res_attrs.data) if main.res_attrs else None
    main.properties["function_type"] = FunctionType.from_lists(types, [])
    main.properties.pop("res_attrs", None)
    if arg_attrs is not None or res_attrs is not None:
        empty = DictionaryAttr({})
        attrs = [*(arg_attrs or [empty] * count), *(res_attrs or [empty] * len(state.outs))]
        main.properties["arg_attrs"] = ArrayAttr(attrs)
    main.attributes["lamina.outputs"] = IntegerAttr(len(state.outs), i64)


def _result_extents(callee: tir.FuncOp | None, index: int, sizes: list[SSAValue]) -> list[Linear] | None:
    """The extents of a call's result over the sizes that it is called with; None where they are all numbers."""
    if callee is None or callee.arg_attrs is None:
        return None
    attrs = callee.arg_attrs.data[len(callee.arg_attrs.data) - callee.outputs.value.data + index]
    map_ = cast("DictionaryAttr", attrs).data.get(SHAPE)
    return over_values(map_.data.results, sizes) if isinstance(map_, IndexMapAttr) else None
