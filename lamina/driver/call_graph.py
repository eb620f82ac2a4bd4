"""Kernels and the results that they read: the graph of a program at the te level, as plain values.

    {"nodes": [["x", "", [], [[[4, 8], "float32"]]],                       an input
               ["p0", "", [], ...],                                        a weight, the first one
               ["relu", "fused_nn_dense_nn_relu", [[0, 0], [1, 0]], ...]], a call: node and result of each argument
     "outputs": [[2, 0]],
     "costs": [[144, 128, 160]]}                                           of each call (`kernel_costs.CallCost`)

It is kept with programs: TVM's users ask a library for its graph, and a saved program has no texts below Relay.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.te.ops import CallOp, FuncOp, ParamOp
from lamina.driver.kernel_costs import FunctionCost, call_cost, function_cost
from lamina.driver.relay_source import names_of
from lamina.interpreters.relay_reference import main_function
from lamina.runtime.ports import SIZE


def call_graph(module: ModuleOp) -> dict[str, Any]:
    """The graph of `@main`: inputs, weights and calls in program order. Names are those of values, unique."""
    main = main_function(module)
    inputs, outputs = names_of(main)
    taken = {*inputs, *outputs}
    nodes: list[list[Any]] = []
    places: dict[SSAValue, list[int]] = {}

    def node(name: str, kernel: str, reads: list[list[int]], values: list[SSAValue]) -> None:
        places.update({v: [len(nodes), n] for n, v in enumerate(values)})
        nodes.append([name, kernel, reads, [_described(v.type) for v in values]])

    def unique(wanted: str) -> str:
        name, count = wanted, 0
        while name in taken:
            count += 1
            name = f"{wanted}_{count}"
        taken.add(name)
        return name

    for name, argument in zip(inputs, main.body.block.args, strict=True):
        node(name, "", [], [argument])
    costs: list[list[int | None]] = []
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
    known: dict[str, FunctionCost] = {}
    weights: dict[SSAValue, int] = {}
    for op in main.body.block.ops:
        if isinstance(op, ParamOp):
            weights[op.result] = len(weights)
            node(unique(f"p{weights[op.result]}"), "", [], [op.result])
        elif isinstance(op, CallOp):
            kernel = op.callee.string_value()
            node(unique(kernel), kernel, [places[v] for v in op.arguments], list(op.res))
            if kernel not in known:
                known[kernel] = function_cost(functions[kernel]) if kernel in functions else FunctionCost(None, {})
            costs.append(list(call_cost(op, known[kernel], weights)))
        elif isinstance(op, ReturnOp):
            return {"nodes": nodes, "outputs": [places[v] for v in op.operands], "costs": costs}
    raise AssertionError("@main ends without return")


def _described(type_: Attribute) -> list[Any]:
    """Shape and dtype; an extent that only the run tells is -1, a size a scalar of dtype `index`."""
    if isinstance(type_, IndexType):
        return [[], SIZE]
    tensor = cast("TensorType[Any]", type_)
    return [[max(e, -1) for e in tensor.get_shape()], dtype_name(tensor.element_type)]
