"""What programs say of operators: which a compiler takes, their legal forms, their layouts."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay import transform as _transform
from lamina.compat.tvm.relay.op_attributes import reset_op_attr
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.passes.relay.layout.legal_forms import any_registered

relay: Any = _relay
transform: Any = _transform

CHANNELS = 32


@pytest.fixture
def attributes() -> Iterator[list[tuple[str, str]]]:
    """Attributes to be taken back."""
    used: list[tuple[str, str]] = []
    yield used
    for op, key in used:
        reset_op_attr(op, key)
    assert not any_registered()


def net() -> Any:
    x = relay.var("x", shape=(1, CHANNELS, 6, 5))
    w = relay.var("w", shape=(CHANNELS, CHANNELS, 3, 3))
    first = relay.nn.conv2d(x, w, padding=(1, 1), channels=CHANNELS, kernel_size=(3, 3))
    return tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.conv2d(relay.nn.relu(first), w, padding=(1, 0))))


def results(*mods: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    given = [rng.standard_normal((1, CHANNELS, 6, 5)), 0.1 * rng.standard_normal((CHANNELS, CHANNELS, 3, 3))]
    return [relay.create_executor("vm", m).evaluate()(*given).numpy() for m in mods]


def test_a_predicate_says_what_a_compiler_takes(attributes: list[tuple[str, str]]) -> None:
    attributes.append(("nn.conv2d", "target.padded"))

    @tvm.ir.register_op_attr("nn.conv2d", "target.padded")
    def padded_on_all_sides(expr: Any) -> bool:
        assert expr.args[0].checked_type.shape[1] == CHANNELS
        return all(expr.attrs.padding)

    mod = net()
    cut = transform.AnnotateTarget("padded")(mod)
    cut = transform.PartitionGraph()(transform.MergeCompilerRegions()(cut))
    assert [g.name_hint for g in cut.get_global_vars()] == ["main", "tvmgen_default_padded_main_0"]
    assert relay.op.get("nn.conv2d").get_attr("target.padded") is padded_on_all_sides
    reset_op_attr("nn.conv2d", "target.padded")
    without = transform.PartitionGraph()(transform.AnnotateTarget("padded")(mod))
    assert len(without.get_global_vars()) == 1


def test_a_registered_form_stands_in_the_place_of_a_call(attributes: list[tuple[str, str]]) -> None:
    attributes.append(("nn.relu", "FTVMLegalize"))
    seen: list[Any] = []

    @relay.op.register_legalize("nn.relu")
    def as_maximum(attrs: Any, inputs: Any, types: Any) -> Any:
        seen.append(types)
        return relay.maximum(inputs[0], relay.const(0.0))

    legal = transform.Legalize()(net())
    assert relay.analysis.list_op_freqs(legal) == {"nn.conv2d": 2, "maximum": 1}
    assert [t.shape for t in seen[0]] == [(1, CHANNELS, 6, 5)] * 2
    np.testing.assert_array_equal(*results(net(), legal))
    # One of a lower level does not replace it; what returns None leaves the call as it is.
    relay.op.register_legalize("nn.relu", lambda attrs, inputs, types: None, level=1)
    assert "maximum" in relay.analysis.list_op_freqs(transform.Legalize()(net()))
    relay.op.register_legalize("nn.relu", lambda attrs, inputs, types: None, level=11)
    assert "maximum" not in relay.analysis.list_op_freqs(transform.Legalize()(net()))
    relay.op.register_legalize("nn.relu", lambda attrs, inputs, types: relay.sum(inputs[0]), level=12)
    with pytest.raises(InputError, match="the form that <lambda> gives has the type tensor<f32>"):
        transform.Legalize()(net())


@pytest.mark.parametrize("block", [16, 8])
def test_layouts_that_a_form_changes_are_transformed(attributes: list[tuple[str, str]], block: int) -> None:
    attributes.append(("nn.conv2d", "FTVMAlterOpLayout"))

    @relay.op.register_alter_op_layout("nn.conv2d")
    def on_blocks(attrs: Any, inputs: Any, tinfos: Any, out_type: Any) -> Any:
        assert [t.dtype for t in (*tinfos, out_type)] == ["float32"] * 3
        layouts = {"data_layout": f"NCHW{block}c", "kernel_layout": f"OIHW{block}i{block}o"}
        return relay.nn.conv2d(*inputs, **{**attrs, **layouts})

    altered = transform.AlterOpLayout()(net())
    freqs = relay.analysis.list_op_freqs(altered)
    assert (freqs["nn.contrib_conv2d_NCHWc"], freqs["layout_transform"]) == (2, 6)
    plain, blocked = results(net(), altered)
    np.testing.assert_allclose(blocked, plain, rtol=1e-4, atol=1e-4)


def test_attributes_that_have_another_place_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="FTVMCompute of nn.relu is not registered here; use `te_compute`"):
        tvm.ir.register_op_attr("nn.relu", "FTVMCompute", max)
    with pytest.raises(UsageError, match="there is no operator 'nn.rel'"):
        tvm.ir.register_op_attr("nn.rel", "target.mine", True)
    relu = relay.op.get("nn.relu")
    assert not relu.has_attr("my.note")
    relu.set_attr("my.note", "text")
    assert relu.get_attr("my.note") == "text"
    relu.reset_attr("my.note")
    assert relu.get_attr("my.note") is None
