"""TVM's dataflow patterns on its expressions: matching, rewriting by callbacks, partitioning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.ir import structural_equal
from lamina.compat.tvm.relay import dataflow_pattern as _patterns
from lamina.compat.tvm.relay.dataflow_pattern import DFPatternCallback, is_op, partition, rewrite, wildcard
from lamina.errors import LaminaError

relay: Any = _relay
patterns: Any = _patterns


def variables() -> tuple[Any, Any]:
    return relay.var("x", shape=(2, 3)), relay.var("y", shape=(2, 3))


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        (is_op("add")(wildcard(), wildcard()), True),
        (is_op("subtract")(wildcard(), wildcard()), False),
        (is_op("add")(patterns.is_constant(), patterns.is_var("x")), True),
        (is_op("add")(patterns.is_var("z"), wildcard()), False),
        (wildcard().has_type(relay.TensorType((2, 3), "float32")), True),
        (wildcard().has_type(relay.TensorType((2, 3), "int8")), False),
        (patterns.has_dtype("float32", wildcard()), True),
        (patterns.has_shape((3, 2), wildcard()), False),
        (is_op("exp")(wildcard()) | is_op("add")(wildcard(), wildcard()), True),
    ],
)
def test_patterns_match_expressions(pattern: Any, matches: bool) -> None:
    x, _ = variables()
    expr = x + relay.const(1.0)
    assert pattern.match(expr) is matches
    assert patterns.match(pattern, expr) is matches


class ToClip(DFPatternCallback):
    """max(min(x, 6), 0) is a clip."""

    def __init__(self, rewrite_once: bool = False) -> None:
        super().__init__(rewrite_once=rewrite_once)
        self.x, self.high = wildcard(), patterns.is_constant()
        self.pattern = is_op("nn.relu")(is_op("minimum")(self.x, self.high))
        self.seen: list[Any] = []

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        self.seen.append(post)
        assert node_map[self.pattern] == [post] and pre is post
        return relay.clip(node_map[self.x][0], 0.0, float(node_map[self.high][0].data.numpy()))


def bounded(x: Any) -> Any:
    return relay.nn.relu(relay.minimum(x, relay.const(6.0)))


def test_callbacks_rewrite_all_matches_also_one_below_another() -> None:
    x, y = variables()
    inner = bounded(x + y)
    expr = bounded(inner * inner)
    found = rewrite(ToClip(), expr)
    once = relay.clip(x + y, 0.0, 6.0)
    assert structural_equal(found, relay.clip(once * once, 0.0, 6.0))
    assert relay.analysis.free_vars(found) == [x, y]
    assert relay.analysis.list_op_freqs(rewrite(ToClip(rewrite_once=True), expr)) == {
        "clip": 1, "nn.relu": 1, "minimum": 1, "add": 1, "multiply": 1,
    }  # fmt: skip


def test_what_matches_nowhere_stays_the_same_object() -> None:
    x, y = variables()
    expr = relay.Function([x, y], x - y)
    assert rewrite(ToClip(), expr) is expr
    assert partition(is_op("exp")(wildcard()), expr.body) is expr.body


def test_a_function_keeps_its_parameters_and_attributes() -> None:
    x, y = variables()
    function = relay.Function([x, y], bounded(x) + y).with_attr("mine", 3)
    found = rewrite(ToClip(), function)
    assert found.params == [x, y] and found.attrs["mine"] == 3
    arrays = [np.random.default_rng(0).standard_normal((2, 3)).astype("float32") * 9 for _ in range(2)]
    values = [relay.create_executor("vm").evaluate(f)(*arrays).numpy() for f in (function, found)]
    assert np.array_equal(*values)


def test_a_callback_may_build_on_parts_of_operators_with_several_results() -> None:
    x, _ = variables()
    parts = relay.split(x, 3, axis=1)

    class Swap(DFPatternCallback):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = wildcard(), wildcard()
            self.pattern = is_op("subtract")(self.a, self.b)

        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return relay.negative(relay.add(node_map[self.b][0], node_map[self.a][0]))

    found = rewrite(Swap(), parts[0] - parts[2])
    assert structural_equal(found, relay.negative(parts[2] + parts[0]))
    assert relay.analysis.list_op_freqs(found)["split"] == 1


def test_a_result_of_another_type_is_refused() -> None:
    class Wrong(ToClip):
        def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
            return relay.sum(post)

    with pytest.raises(LaminaError, match="Wrong replaces a value of type tensor<2x3xf32> by one of type tensor<f32>"):
        rewrite(Wrong(), bounded(variables()[0]))


def test_matches_are_put_into_functions() -> None:
    x, y = variables()
    expr = bounded(x + y) * relay.const(2.0)
    pattern: Any = is_op("nn.relu")(is_op("minimum")(wildcard(), patterns.is_constant()))
    seen: list[Any] = []

    def check(expr: Any) -> bool:
        seen.append(expr.op.name)
        return True

    found = partition(pattern, expr, {"Composite": "mine.clip"}, check)
    call = found.args[0]
    assert dict(call.op.attrs) == {"Composite": "mine.clip", "PartitionedFromPattern": "minimum_nn.relu_"}
    assert structural_equal(call.args[0], x + y) and seen == ["nn.relu"]
    assert isinstance(call.op.body.args[0].args[1], relay.Constant)

    def refuse(_: Any) -> bool:
        return False

    assert pattern.partition(expr, check=refuse) is expr


def test_tables_are_registered_and_merged_with_their_checks() -> None:
    def is_sum_of_calls(expr: Any) -> bool:
        return isinstance(expr.args[1], relay.Call)

    @relay.op.contrib.register_pattern_table("tvm_test_backend")
    def table() -> Any:
        sum_ = is_op("add")(wildcard(), wildcard())
        return [("tvm_test_backend.exp_add", is_op("exp")(sum_)), ("tvm_test_backend.add", sum_, is_sum_of_calls)]

    names = [name for name, *_ in relay.op.contrib.get_pattern_table("tvm_test_backend")]
    assert names == ["tvm_test_backend.exp_add", "tvm_test_backend.add"] and callable(table)
    x, y = variables()
    mod = tvm.IRModule.from_expr(relay.exp(x + y) - (y + relay.tanh(x)))
    found = relay.transform.MergeComposite(table())(mod)["main"].body
    assert [a.op.attrs["Composite"] for a in found.args] == names
