"""The operators of a module: how often they are called, how many multiplications they are, how deep they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

from lamina.errors import InputError
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.walk import post_order


def list_op_freqs(mod: Any) -> dict[str, int]:
    """The number of calls of each operator, by its name."""
    from lamina.compat.tvm.ir_module import IRModule

    functions = mod.functions.values() if isinstance(mod, IRModule) else [mod]
    calls = (n for f in functions for n in post_order(f) if isinstance(n, e.Call) and isinstance(n.op, e.Op))
    return dict(Counter(n.op.name for n in calls))


def extract_fused_functions(mod: Any) -> dict[str, Any]:
    """The Primitive functions, by a name made of their operators, in order; a module without any is fused before."""
    if not any(_primitives(f) for f in mod.functions.values()):
        from lamina.compat.tvm.relay import transform

        mod = transform.FuseOps(3)(transform.SimplifyInference()(mod))
    found: dict[str, Any] = {}
    for f in mod.functions.values():
        for n in _primitives(f):
            ops = [c.op.name for c in post_order(n) if isinstance(c, e.Call) and isinstance(c.op, e.Op)]
            found[f"fused_{'_'.join(ops)}_{len(found)}"] = n
    return found


def _primitives(function: e.Function) -> list[e.Function]:
    return [n for n in post_order(function) if isinstance(n, e.Function) and n.attrs.get("Primitive")]


_WINDOWED = ("nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose")


def get_total_mac_number(expr: Any) -> int:
    """The number of multiply-adds in the convolutions and matrix products of a function.

    A convolution counts the elements of its result times its window times the channels that a group reads, a
    transposed one too, as in TVM. Raises LaminaError where types are wrong.
    """
    total = 0
    function = e.as_expr(expr)
    assert function.checked_type is not None
    for call in post_order(function):
        name = call.op.name if isinstance(call, e.Call) and isinstance(call.op, e.Op) else ""
        if name in _WINDOWED:
            total += _window_macs(call)
        elif name == "nn.dense":
            total += prod(_shape(call)) * _shape(call.args[0])[-1]
        elif name == "nn.batch_matmul":
            depth = -2 if call.attrs.get("transpose_a") else -1
            total += prod(_shape(call)) * _shape(call.args[0])[depth]
    return total


def _shape(node: Any) -> tuple[int, ...]:
    return node.checked_type.concrete_shape


def _window_macs(call: Any) -> int:
    data, weight = (_shape(a) for a in call.args[:2])
    layout, kernel = str(call.attrs["data_layout"]), str(call.attrs["kernel_layout"])
    if len(layout) != len(data) or len(kernel) != len(weight):
        raise InputError(f"{call.op.name}: multiplications are counted for plain layouts, not for {layout}, {kernel}")
    window = prod(weight[n] for n, axis in enumerate(kernel) if axis in "DHW")
    return prod(_shape(call)) * window * (data[layout.index("C")] // int(call.attrs["groups"]))


def count_layers(expr: Any, valid_ops: Sequence[str]) -> int:
    """The number of operators of these names stand on the longest way through an expression (or a module's `main`)."""
    from lamina.compat.tvm.ir_module import IRModule
    from lamina.frontends.tvm_text.walk import children

    depth: dict[e.Expr, int] = {}
    root: e.Expr = expr["main"] if isinstance(expr, IRModule) else e.as_expr(expr)
    for node in post_order(root):
        counted = isinstance(node, e.Call) and isinstance(node.op, e.Op) and node.op.name in valid_ops
        depth[node] = max((depth[c] for c in children(node)), default=0) + counted
    return depth[root]


def list_fake_quantized_op_freqs(mod: Any) -> dict[str, int]:
    """The number of calls of each operator between dequantize and quantize, where integers could do their work."""
    counted: Counter[str] = Counter()
    seen: set[e.Expr] = set()
    for function in mod.functions.values():
        for node in post_order(function):
            if _is_call(node, "qnn.quantize"):
                region = _fake_quantized(node)
                fresh = [c for c in region if c not in seen]
                seen.update(fresh)
                counted.update(c.op.name for c in fresh)
    return dict(counted)


def _is_call(node: Any, *names: str) -> bool:
    return isinstance(node, e.Call) and isinstance(node.op, e.Op) and node.op.name in names


def _fake_quantized(quantize: Any) -> list[Any]:
    """The calls between a quantize and the dequantizes above it, none where something else feeds them."""
    region: dict[Any, None] = {}
    stack = [quantize.args[0]]
    dequantized = False
    while stack:
        node = stack.pop()
        if _is_call(node, "qnn.dequantize"):
            dequantized = True
        elif isinstance(node, e.Call) and isinstance(node.op, e.Op):
            if node not in region:
                region[node] = None
                stack.extend(node.args)
        elif isinstance(node, (e.Tuple, e.TupleGetItem)):
            stack.extend(node.fields if isinstance(node, e.Tuple) else [node.tuple_value])
        elif not isinstance(node, e.Constant):
            return []
    return list(region) if dequantized else []


def search_fc_transpose(expr: Any) -> list[str]:
    """The names of the weights that `nn.dense` reads through a transposition."""
    return [
        call.args[1].args[0].name_hint
        for call in post_order(e.as_expr(expr))
        if _is_call(call, "nn.dense") and _is_call(call.args[1], "transpose")  # pyright: ignore[reportAttributeAccessIssue]
        and isinstance(call.args[1].args[0], e.Var)  # pyright: ignore[reportAttributeAccessIssue]
    ]  # fmt: skip


def extract_intermdeiate_expr(mod: Any, expr_id: int) -> Any:
    """A module whose `main` gives the call of a number, counted as they are computed."""
    from lamina.compat.tvm.ir_module import IRModule

    calls = [n for n in post_order(mod["main"]) if isinstance(n, e.Call)]
    if not 0 <= expr_id < len(calls):
        raise InputError(f"there is no call {expr_id}; there are {len(calls)}")
    return IRModule.from_expr(calls[expr_id])


def get_calibration_data(mod: Any, data: Any) -> dict[Any, dict[str, list[Any]]]:
    """Inputs and outputs of the functions that a partitioned module gives to external compilers.

    `data` are the inputs of `main` by their names.
    """
    from lamina.compat.tvm.relay.build_module import create_executor

    main = mod["main"]
    calls = [
        n
        for n in post_order(main)
        if isinstance(n, e.Call) and isinstance(n.op, e.GlobalVar) and mod[n.op].attrs.get("Compiler")
    ]
    values = [e.Tuple([e.Tuple(c.args), c]) for c in calls]
    run = create_executor("graph", mod).evaluate(e.Function(main.params, e.Tuple(values)))
    found = run(*(data[p.name_hint] for p in main.params))
    return {
        c.op: {"inputs": inputs, "outputs": output if isinstance(output, list) else [output]}
        for c, (inputs, output) in zip(calls, found, strict=True)
    }
