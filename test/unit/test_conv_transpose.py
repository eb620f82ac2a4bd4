"""Transposed convolutions on drawn geometry: phases give what scattering gives, the adjoint of the convolution."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import np_results, te_func
from lamina.interpreters.te_interpreter import run_te_func

Array = np.ndarray[Any, np.dtype[Any]]


def drawn(random: np.random.Generator, rank: int) -> tuple[Array, Array, dict[str, Any]]:
    """Channel-first data and weight, and attributes that fit them."""

    def numbers(low: int, high: int) -> list[int]:
        return [int(n) for n in random.integers(low, high, rank, endpoint=True)]

    groups = int(random.integers(1, 3))
    x = random.uniform(-1, 1, (int(random.integers(1, 3)), 2 * groups, *numbers(1, 5)))
    w = random.uniform(-1, 1, (2 * groups, int(random.integers(1, 4)), *numbers(1, 4)))
    attrs = {
        "strides": numbers(1, 5),
        "dilation": numbers(1, 4),
        "padding": numbers(0, 2) + numbers(0, 2),
        "output_padding": numbers(0, 2),
        "groups": groups,
    }
    return x, w, attrs


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_phases_give_what_scattering_gives(rank: int) -> None:
    random = np.random.default_rng(rank)
    op: Any = find_op(f"relay.nn.conv{rank}d_transpose")
    spatial = "DHW"[-rank:]
    orders = ["".join(p) for p in permutations("NC" + spatial)]
    done = 0
    while done < 40:
        x, w, attrs = drawn(random, rank)
        layout = str(random.choice(orders))
        data = np.transpose(x, [("NC" + spatial).index(a) for a in layout]).copy()
        attrs |= {"data_layout": layout, "out_layout": str(random.choice(orders))}
        try:
            op.infer_type(*(TensorInfo(a.shape, "float64") for a in (data, w)), **defaults(op, attrs))
        except TypeMismatch as e:
            assert "leaves nothing" in str(e)
            continue
        (expected,) = np_results(op, [data, w], attrs)
        func = te_func(op, [TensorInfo(a.shape, "float64") for a in (data, w)], attrs)
        (actual,) = run_te_func(func, [data, w])
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12, err_msg=f"{data.shape} {w.shape} {attrs}")
        done += 1


def defaults(op: Any, attrs: dict[str, Any]) -> dict[str, Any]:
    from lamina.dialects.relay.meaning import full_attrs

    return full_attrs(op, attrs)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_scattering_is_the_adjoint_of_the_convolution(rank: int) -> None:
    """<conv(x, w), y> = <x, conv_transpose(y, w)> with the same weight, stride, padding, dilation and groups."""
    random = np.random.default_rng(10 + rank)
    conv: Any = find_op(f"relay.nn.conv{rank}d")
    transpose: Any = find_op(f"relay.nn.conv{rank}d_transpose")
    done = 0
    while done < 40:
        x, w, attrs = drawn(random, rank)
        del attrs["output_padding"]
        groups = attrs["groups"]
        # The convolution's weight is [O, C/groups, ...]: the channels that the transpose reads stand first.
        x = random.uniform(-1, 1, (x.shape[0], w.shape[1] * groups, *(e + 3 for e in x.shape[2:])))
        reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], attrs["dilation"], strict=True)]
        sides = np.array(attrs["padding"]).reshape(2, rank).sum(0)
        if any(r > e + p for r, e, p in zip(reach, x.shape[2:], sides, strict=True)):
            continue
        (forward,) = np_results(conv, [x, w], attrs)
        y: Array = random.uniform(-1, 1, [int(e) for e in forward.shape])
        # Where the stride leaves elements at the end unread, the transpose is told that they were there.
        rest = [(e + p - r) % s for e, p, r, s in zip(x.shape[2:], sides, reach, attrs["strides"], strict=True)]
        (back,) = np_results(transpose, [y, w], attrs | {"output_padding": rest})
        assert back.shape == x.shape
        assert abs(float(np.vdot(forward, y)) - float(np.vdot(x, back))) < 1e-10
        done += 1


@pytest.mark.parametrize(("channels", "outs", "stride"), [(5, 3, 3), (16, 32, 2)])
def test_windows_that_do_not_overlap_give_what_scattering_gives(channels: int, outs: int, stride: int) -> None:
    """Compiled: a 1x1 convolution and a rearrangement, with a bias behind and another tensor beside it."""
    from onnx import TensorProto, helper, numpy_helper

    import lamina

    random = np.random.default_rng(channels)
    x, w, bias, skip = (
        random.uniform(-1, 1, shape).astype("float32")
        for shape in ((2, channels, 4, 3), (channels, outs, stride, stride), (outs,), (2, outs, 4 * stride, 3 * stride))
    )
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[stride] * 2, kernel_shape=[stride] * 2),
        helper.make_node("Concat", ["skip", "y"], ["z"], axis=1),
    ]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in (("x", x), ("skip", skip))]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(
        nodes, "up", inputs, [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)], weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = lamina.compile(model, threads=1, cache=False).run({"x": x, "skip": skip})["z"]
    op: Any = find_op("relay.nn.conv2d_transpose")
    (expected,) = np_results(op, [x, w], {"strides": [stride, stride]})
    np.testing.assert_allclose(found, np.concatenate([skip, expected + bias[:, None, None]], 1), rtol=1e-5, atol=1e-5)
