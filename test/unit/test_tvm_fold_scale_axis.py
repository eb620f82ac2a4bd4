"""FoldScaleAxis of programs written for TVM: weights, biases and factors that are no constants, and what stays."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay import transform as _transform

relay: Any = _relay
transform: Any = _transform
SCALE = np.linspace(0.5, 2, 4, dtype=np.float32)


def forward(scale: Any, channels: int = 4, bias: bool = True, activation: bool = True) -> Any:
    """conv(relu(x * s) + b, w), of which nothing but the factor is known."""
    x, w = relay.var("x", shape=(2, channels, 6, 5)), relay.var("w", shape=(3, channels, 3, 3))
    b = relay.var("b", shape=(channels, 1, 1))
    y = relay.multiply(x, scale)
    y = relay.nn.relu(y) if activation else y
    y = relay.add(y, b) if bias else y
    return relay.nn.conv2d(y, w, channels=3, kernel_size=(3, 3), padding=(1, 1))


def backward(scale: Any, channels: int = 4) -> Any:
    """relu(bias_add(conv(x, w), b)) * s"""
    x, w = relay.var("x", shape=(2, 3, 6, 5)), relay.var("w", shape=(channels, 3, 3, 3))
    y = relay.nn.conv2d(x, w, channels=channels, kernel_size=(3, 3))
    return relay.multiply(relay.nn.relu(relay.nn.bias_add(y, relay.var("b", shape=(channels,)))), scale)


def folded(body: Any, step: Any) -> tuple[list[str], Any, Any]:
    """The operators in order after a pass, and both modules."""
    mod = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))
    changed = step(mod)
    names: list[str] = []
    relay.analysis.post_order_visit(
        changed["main"], lambda n: names.append(n.op.name) if isinstance(n, relay.Call) else None
    )
    return names, mod, changed


def agree(mod: Any, changed: Any) -> None:
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(p.checked_type.shape).astype("f") for p in mod["main"].params]
    before, after = (relay.create_executor("vm", m).evaluate()(*given).numpy() for m in (mod, changed))
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bias, activation", [(True, True), (False, True), (True, False), (False, False)])
def test_a_factor_goes_forward_into_weights_that_are_parameters(bias: bool, activation: bool) -> None:
    body = forward(relay.const(SCALE.reshape(4, 1, 1)), bias=bias, activation=activation)
    names, mod, changed = folded(body, transform.ForwardFoldScaleAxis())
    left = ["nn.relu"] * activation + ["divide", "add"] * bias
    assert names == [*left, "multiply", "nn.conv2d"] and changed["main"].body.args[1].op.name == "multiply"
    agree(mod, changed)


def test_a_factor_goes_backward_through_a_bias_that_is_a_parameter() -> None:
    names, mod, changed = folded(backward(relay.const(SCALE.reshape(4, 1, 1))), transform.BackwardFoldScaleAxis())
    assert names[-2:] == ["nn.bias_add", "nn.relu"] and names.count("multiply") == 2
    agree(mod, changed)
    agree(mod, transform.FoldScaleAxis()(mod))


def test_factors_that_are_parameters_move_where_their_sign_does_not_matter() -> None:
    scale = relay.var("s", shape=(4, 1, 1))
    plain = forward(scale, bias=False, activation=False)
    names, mod, changed = folded(plain, transform.ForwardFoldScaleAxis())
    assert names == ["reshape", "multiply", "nn.conv2d"]
    agree(mod, changed)
    for body, step in (
        (forward(scale), transform.ForwardFoldScaleAxis()),
        (backward(scale), transform.BackwardFoldScaleAxis()),
        (backward(relay.const(-SCALE.reshape(4, 1, 1))), transform.FoldScaleAxis()),
    ):
        _, mod, changed = folded(body, step)
        assert tvm.ir.structural_equal(mod, changed)


def test_a_dense_layer_takes_a_factor_on_both_sides() -> None:
    x, w, b = relay.var("x", shape=(2, 4)), relay.var("w", shape=(5, 4)), relay.var("b", shape=(5,))
    scale = relay.const(np.linspace(1, 3, 5, dtype="float32"))
    y = relay.nn.dense(relay.multiply(x, relay.const(SCALE)), w)
    body = relay.multiply(relay.nn.relu(relay.add(y, b)), scale)
    names, mod, changed = folded(body, transform.FoldScaleAxis())
    (dense,) = (n for n in nodes(changed["main"]) if isinstance(n, relay.Call) and n.op.name == "nn.dense")
    assert names[-1] == "nn.relu" and isinstance(dense.args[0], relay.Var) and dense.args[1].op.name == "multiply"
    agree(mod, changed)


def test_programs_that_are_built_keep_factors_that_are_computed() -> None:
    """Weights that are constants are packed when a program is made; those that are scaled in each run are not."""
    x, s = relay.var("x", shape=(1, 4, 6, 5)), relay.var("s", shape=(1, 4, 1, 1))
    w = relay.const(np.ones((3, 4, 3, 3), "float32"))
    mod = tvm.IRModule.from_expr(relay.Function([x, s], relay.nn.conv2d(relay.multiply(x, s), w)))
    with tvm.transform.PassContext(opt_level=3):
        built, _ = relay.optimize(mod, "llvm")
    products = [
        n for n in nodes(built["main"]) if isinstance(n, relay.Call) and getattr(n.op, "name", "") == "multiply"
    ]
    assert [p.checked_type.shape[-2:] for p in products] == [(6, 5)]


def nodes(function: Any) -> list[Any]:
    found: list[Any] = []
    relay.analysis.post_order_visit(function, found.append)
    return found
