"""The functions of `relay` take their arguments in TVM's order and by TVM's names."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.op_composites import function_of
from lamina.compat.tvm.relay.op_functions import LATER
from lamina.errors import UsageError

relay: Any = _relay
LISTED = [
    line.split()
    for line in (Path(__file__).parent / "tvm_signatures.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
X = relay.var("x", shape=(1, 3, 4, 4))


@pytest.mark.parametrize("words", LISTED, ids=lambda words: words[0])
def test_parameters_stand_in_tvms_order(words: list[str]) -> None:
    name, *listed = words
    wanted = [w.removeprefix("?") for w in listed]
    found = list(inspect.signature(function_of(name)).parameters)  # type: ignore[arg-type]
    # What is ours alone comes behind.
    assert found[: len(wanted)] == wanted
    later = [w[1:] for w in listed if w[0] == "?"]
    assert not later or later == [LATER[name][0]]


def test_arguments_are_taken_in_the_order_of_old_and_of_new_releases() -> None:
    old = relay.image.resize2d(X, (8, 6), "NCHW", "nearest_neighbor", "asymmetric", "floor")
    new = relay.image.resize2d(X, (8, 6), None, "NCHW", "nearest_neighbor", "asymmetric", "floor")
    assert tvm.ir.structural_equal(old, new) and old.checked_type.shape == (1, 3, 8, 6)
    roi = relay.image.resize2d(X, (8, 6), (0.0, 0.0, 1.0, 1.0), "NCHW", "linear")
    assert roi.attrs.roi == (0.0, 0.0, 1.0, 1.0)
    scalars = [relay.const(v) for v in (0.5, 0, 0.25, 0)]
    data = relay.var("q", shape=(2,), dtype="int32")
    old = relay.qnn.op.requantize(data, *scalars, -1, "UPWARD", "uint8")
    new = relay.qnn.op.requantize(data, *scalars, -1, "UPWARD", "int64", "uint8")
    assert (old.checked_type.dtype, new.checked_type.dtype, new.attrs.compute_dtype) == ("uint8", "uint8", "int64")
    pooled = relay.nn.max_pool2d(X, (3, 3), (2, 2), (1, 1), (0, 0), "NCHW", True)
    assert pooled.attrs.ceil_mode is True
    deconvolved = relay.nn.conv2d_transpose(X, relay.var("w"), (1, 1), (0, 0), (1, 1), 1, 5, (2, 2))
    assert deconvolved.checked_type.shape == (1, 5, 5, 5)
    assert relay.exp(data=X).checked_type.shape == X.checked_type.shape


def test_packed_weights_go_by_tvms_layouts() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 6)).astype("f"), rng.standard_normal((16, 6)).astype("f")
    packed = np.ascontiguousarray(w.reshape(2, 8, 6).transpose(0, 2, 1))
    data = relay.var("x", shape=x.shape)
    for body in (
        relay.nn.contrib_dense_pack(data, relay.const(packed), "NC8n", 16),
        relay.nn.contrib_dense_pack(data, relay.const(packed), "NC8n"),
        relay.nn.contrib_dense_pack(data, relay.const(w)),
    ):
        mod = tvm.IRModule.from_expr(relay.Function([data], body))
        again = tvm.parser.parse(relay.transform.InferType()(mod).astext())
        for each in (mod, again):
            found = relay.create_executor("vm", each).evaluate()(x).numpy()
            np.testing.assert_allclose(found, x @ w.T, rtol=1e-4, atol=1e-5)
    text = str(relay.nn.contrib_dense_pack(data, relay.const(packed), "NC8n", 16))
    assert 'weight_layout="NC8n"' in text


def test_simulated_dtypes_are_names() -> None:
    scalars = [relay.const(np.float32(0.5)), relay.const(3)]
    data = relay.var("x", shape=(3,))
    quantised = relay.qnn.op.simulated_quantize(data, *scalars, -1, "uint8")
    back = relay.qnn.op.simulated_dequantize(quantised, *scalars, in_dtype="uint8")
    mod = tvm.IRModule.from_expr(relay.Function([data], relay.Tuple([quantised, back])))
    given = np.array([-9.0, 0.6, 200.0], "float32")
    found = relay.create_executor("vm", mod).evaluate()(given)
    assert [v.numpy().tolist() for v in found] == [[0, 4, 255], [-1.5, 0.5, 126]]
    with pytest.raises(UsageError, match="a simulated dtype is disable, int8, uint8, int32, not 'int4'"):
        relay.qnn.op.simulated_quantize(data, *scalars, -1, "int4")
