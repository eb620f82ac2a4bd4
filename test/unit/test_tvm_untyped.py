"""Expressions of variables without types, as in TVM's documents: matched, partitioned and rewritten as they stand."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.dataflow_pattern import (
    DFPatternCallback,
    FunctionPattern,
    dominates,
    is_constant,
    is_expr,
    is_if,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    rewrite,
    wildcard,
)
from lamina.errors import InputError

relay: Any = _relay


def variables(names: str) -> list[Any]:
    return [relay.var(n) for n in names.split()]


X, Y, W, B = variables("x y w b")
CONV = is_op("nn.conv2d")(wildcard(), wildcard())
BIASED = is_op("nn.bias_add")(CONV, wildcard())
BRANCH = relay.If(X < Y, X, Y)


@pytest.mark.parametrize(
    "pattern, expr, wanted",
    [
        (is_op("nn.relu")(BIASED), relay.nn.relu(relay.nn.bias_add(relay.nn.conv2d(X, W), B)), True),
        (is_op("nn.relu")(CONV), relay.nn.relu(relay.nn.bias_add(relay.nn.conv2d(X, W), B)), False),
        (BIASED.optional(is_op("nn.relu")), relay.nn.bias_add(relay.nn.conv2d(X, W), B), True),
        (is_op("add")(is_var("x"), is_var("y")), Y + X, True),
        (is_op("subtract")(is_var("x"), is_var("y")), Y - X, False),
        (is_var("x") * (is_var("y") / is_var("w")), (X * Y) / W, True),
        (is_op("add")(wildcard(), is_constant()), X + relay.const(1.0), True),
        (is_op("add")(wildcard(), is_constant()), X + Y, False),
        (is_expr(X), X, True),
        (is_expr(X), Y, False),
        (is_tuple([is_var("x"), wildcard()]), relay.Tuple([X, Y]), True),
        (is_tuple([is_var("y"), wildcard()]), relay.Tuple([X, Y]), False),
        (is_op("concatenate")(wildcard()), relay.concatenate((X, Y), axis=1), True),
        (is_tuple_get_item(is_op("split")(wildcard()), 1), relay.split(X, 3)[1], True),
        (is_tuple_get_item(is_op("split")(wildcard()), 0), relay.split(X, 3)[1], False),
        (is_tuple_get_item(is_op("nn.batch_norm")(None), 0), relay.nn.batch_norm(X, Y, Y, Y, Y)[0], True),
        (is_if(is_op("less")(is_var("x"), is_var("y")), is_var("x"), is_var("y")), BRANCH, True),
        (is_if(is_op("greater")(wildcard(), wildcard()), wildcard(), wildcard()), BRANCH, False),
        (FunctionPattern(None, is_op("nn.relu")(wildcard())), relay.Function([X], relay.nn.relu(X)), True),
        (wildcard()(wildcard()), relay.Call(relay.Function([X], relay.nn.relu(X)), [Y]), True),
        (is_op("nn.conv2d")(wildcard(), wildcard()).has_attr({"data_layout": "NHWC"}), relay.nn.conv2d(X, W), False),
        (wildcard().has_shape((1, 2)), X, False),
    ],
)
def test_a_pattern_matches_what_is_written(pattern: Any, expr: Any, wanted: bool) -> None:
    assert pattern.match(expr) is wanted


def test_what_uses_say_of_a_variable_is_known() -> None:
    image = relay.var("image", shape=(1, 3, 6, 6))
    conv = relay.nn.conv2d(image, relay.var("w"), channels=4, kernel_size=(3, 3))
    assert wildcard().has_shape((1, 4, 4, 4)).match(conv) and not wildcard().has_shape((1, 4, 6, 6)).match(conv)
    with pytest.raises(InputError, match="input has 3 channels, weight expects 5"):
        wildcard().match(relay.nn.relu(X) + relay.nn.conv2d(image, relay.var("w", shape=(4, 5, 3, 3))))


def test_a_dominator_is_found() -> None:
    elementwise = wildcard().has_attr({"TOpPattern": 0})(wildcard())
    diamond = dominates(CONV, elementwise, is_op("add")(wildcard(), wildcard()))
    conv = relay.nn.conv2d(X, W)
    assert diamond.match(relay.nn.relu(relay.nn.relu(conv)) + relay.nn.leaky_relu(conv, alpha=0.0))
    assert not diamond.match(relay.nn.relu(conv) + relay.nn.conv2d(X, Y))


class ToBatchNorm(DFPatternCallback):
    """TVM's example: arithmetic that is a batch normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = [wildcard() for _ in range(6)]
        x, gamma, beta, mean, var, eps = self.parts
        self.pattern = gamma * (x - mean) / is_op("sqrt")(var + eps) + beta

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        *args, eps = (node_map[p][0] for p in self.parts)
        return relay.op.nn.batch_norm(*args, epsilon=eps.data.numpy().item())[0]


def test_arithmetic_is_rewritten_and_variables_stay_who_they_are() -> None:
    x, gamma, beta, mean, var = variables("x gamma beta mean var")
    written = gamma * (x - mean) / relay.op.sqrt(var + relay.const(1e-5)) + beta
    wanted = relay.op.nn.batch_norm(x, gamma, beta, mean, var, epsilon=1e-5)[0]
    assert tvm.ir.structural_equal(rewrite(ToBatchNorm(), written), wanted)
    function = rewrite(ToBatchNorm(), relay.Function([x, gamma, beta, mean, var], relay.nn.relu(written) * x))
    assert tvm.ir.structural_equal(function, relay.Function([x, gamma, beta, mean, var], relay.nn.relu(wanted) * x))
    assert "Tensor" not in str(function)


def test_attributes_that_are_numbers_are_compared_with_a_tolerance() -> None:
    found = [relay.nn.leaky_relu(X, alpha=a) for a in (0.2, float(np.float32(0.2)), 0.2001)]
    assert not tvm.ir.structural_equal(found[0], found[2]) and not tvm.ir.structural_equal(found[0], found[1])
    found = [relay.nn.batch_norm(X, *[Y] * 4, epsilon=a)[0] for a in (1e-5, float(np.float32(1e-5)), 1.1e-5)]
    assert tvm.ir.structural_equal(found[0], found[1]) and not tvm.ir.structural_equal(found[0], found[2])


def test_what_a_callback_gives_may_have_a_type_that_the_program_has_not() -> None:
    class ToNumber(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__()
            self.pattern = is_op("exp")(wildcard())

        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return relay.const(1.0) + relay.const(2.0)

    assert tvm.ir.structural_equal(rewrite(ToNumber(), relay.exp(X) * Y), (relay.const(1.0) + relay.const(2.0)) * Y)


def diamond(x: Any, w: Any) -> Any:
    conv = relay.nn.conv2d(x, w)
    return relay.nn.relu(conv) + relay.nn.leaky_relu(conv, alpha=0.1)


def test_a_match_is_put_into_a_function() -> None:
    pattern = is_op("add")(is_op("nn.relu")(CONV), is_op("nn.leaky_relu")(CONV))
    name = "nn.conv2d_nn.relu_nn.leaky_relu_add_"
    inner = variables("x w")
    wanted = relay.Function(inner, diamond(*inner)).with_attr("PartitionedFromPattern", name)
    found = pattern.partition(diamond(X * X, W * W))
    tvm.ir.assert_structural_equal(found, wanted(X * X, W * W))
    refused = pattern.partition(diamond(X, W), check=lambda pre: isinstance(pre, relay.Tuple))
    assert tvm.ir.structural_equal(refused, diamond(X, W))


def test_composites_are_merged_in_modules_whose_parameters_have_no_types() -> None:
    body = relay.nn.relu(relay.nn.bias_add(relay.nn.conv2d(X, W), B)) + X
    mod = tvm.IRModule.from_expr(relay.Function([X, W, B], body))
    table = [
        ("mine.never", is_op("exp")(wildcard())),
        ("mine.refused", is_op("nn.relu")(BIASED), lambda pre: False),
        ("mine.conv", is_op("nn.relu")(BIASED), lambda pre: pre.op.name == "nn.relu"),
        ("mine.relu", is_op("nn.relu")(wildcard())),
    ]
    merged = relay.transform.MergeComposite(table)(mod)
    function = merged["main"].body.args[0].op
    assert function.attrs.Composite == "mine.conv" and merged["main"].body.args[1] is X
    assert relay.analysis.list_op_freqs(merged) == relay.analysis.list_op_freqs(mod)
    with pytest.raises(InputError, match="the type of %x is not known"):
        relay.transform.FoldConstant()(mod)
