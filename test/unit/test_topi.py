"""topi: the meanings of Relay ops as stages of tensor programs, compiled and compared with the ops' numpy oracles."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina
from lamina import te, topi
from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import arity
from lamina.dialects.relay.meaning import draw, np_results
from lamina.dialects.relay.op_index import OPS
from lamina.dialects.rules.op_protocol import Sample
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.topi.calls import call_op
from lamina.topi.namespaces import names

from .turns import each_second

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, np.dtype[Any]]
RELAY = [n for n in names() if f"relay.{n}" in OPS]
SAMPLES = 1
"""Of each op, from the end; test_facets.py runs all of them on the te level, test_ops_five_ways.py others compiled."""


def run(inputs: list[Any], outputs: list[Any], arrays: list[Array]) -> list[Array]:
    found = [np.zeros([int(e) for e in t.shape], numpy_dtype(t.dtype)) for t in outputs]
    lamina.build(te.create_schedule([t.op for t in outputs]), [*inputs, *outputs])(*arrays, *found)
    return found


def assert_close(found: Array, expected: Array, rtol: float, what: str) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape, what
    dtype = str(expected.dtype)
    if not is_float(dtype):
        np.testing.assert_array_equal(found, expected, what)
        return
    rtol = {"float64": rtol * 1e-7, "float16": max(rtol, 2e-3), "bfloat16": max(rtol, 2e-2)}.get(dtype, rtol)
    a, b = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    np.testing.assert_array_equal(a[~finite], b[~finite], what)
    scale = np.max(np.abs(b[finite]), initial=0.0)
    np.testing.assert_allclose(a[finite], b[finite], rtol=rtol, atol=rtol * scale, err_msg=what)


def test_every_relay_op_with_a_meaning_is_there() -> None:
    missing = [n for n in OPS if hasattr(find_op(n), "samples") and n.removeprefix("relay.") not in RELAY]
    assert not missing
    assert len(RELAY) > 100
    for name in RELAY:
        space: Any = topi
        for part in name.split("."):
            space = getattr(space, part)
        assert callable(space), name


SCANS = ("nn.gru", "nn.lstm", "nn.rnn")
"""Ops of the relay level whose equations are scans, which have no stages to schedule."""


@pytest.mark.parametrize("name", SCANS)
def test_what_is_a_scan_is_refused_by_name(name: str) -> None:
    op: Any = find_op(f"relay.{name}")
    sample: Sample = next(s for s in op.samples() if s.error is None)
    inputs: Any = [te.placeholder(tuple(o.shape), o.dtype, name=f"x{n}") for n, o in enumerate(sample.operands)]
    with pytest.raises(UnsupportedError, match=rf"topi.{name} is made of te.scan"):
        call_op(op, *inputs, **sample.attrs)


@pytest.mark.parametrize("name", each_second(name for name in RELAY if name not in SCANS))
def test_compiled_stages_give_what_numpy_gives(name: str) -> None:
    op: Any = find_op(f"relay.{name}")
    samples: list[Sample] = [s for s in op.samples() if s.error is None]
    for s in samples[-SAMPLES:]:
        r = np.random.default_rng(len(name))
        ranges = s.ranges or (None,) * len(s.operands)
        arrays = [draw(o, b, s.finite, r) for o, b in zip(s.operands, ranges, strict=True)]
        inputs = [te.placeholder(tuple(o.shape), o.dtype, name=f"x{n}") for n, o in enumerate(s.operands)]
        operands: list[Any] = [inputs] if arity(op) is None else inputs
        made = call_op(op, *operands, **s.attrs)
        outputs = list(made) if isinstance(made, list) else [made]
        expected = np_results(op, arrays, s.attrs)
        if any(t in inputs for t in outputs):
            continue  # the op gives what it is given
        for found, wanted in zip(run(inputs, outputs, arrays), expected, strict=True):
            assert_close(found, wanted, s.rtol, f"{name}: {s}")


# -- TVM's own signatures ------------------------------------------------------------------------------------------


def conv_reference(x: Array, w: Array, **attrs: Any) -> Array:
    return np_results(find_op("relay.nn.conv2d"), [x, w], attrs)[0]  # type: ignore[arg-type]


def compare(function: Any, shapes: list[tuple[int, ...]], expected: Any, dtype: str = "float32") -> None:
    """`function` of tensors, built, against `expected` of arrays."""
    r = np.random.default_rng(9)
    arrays = [r.standard_normal(s).astype(dtype) for s in shapes]
    inputs = [te.placeholder(s, dtype, name=f"x{n}") for n, s in enumerate(shapes)]
    y = function(*inputs)
    assert_close(run(inputs, [y], arrays)[0], np.asarray(expected(*arrays), y.dtype), 1e-5, "")


def test_convolutions_in_topis_spelling() -> None:
    compare(
        lambda x, w: topi.nn.conv2d_nchw(x, w, 2, 1, 1),
        [(1, 3, 9, 9), (4, 3, 3, 3)],
        lambda x, w: conv_reference(x, w, strides=[2, 2], padding=[1, 1]),
    )
    compare(
        lambda x, w: topi.nn.conv2d(x, w, 1, "SAME", 1, "NHWC"),
        [(1, 6, 5, 3), (3, 3, 3, 2)],
        lambda x, w: conv_reference(x, w, padding=[1, 1], data_layout="NHWC", kernel_layout="HWIO"),
    )
    compare(
        lambda x, w: topi.nn.depthwise_conv2d_nchw(x, w, (1, 1), "VALID"),
        [(1, 3, 6, 6), (3, 2, 3, 3)],
        lambda x, w: conv_reference(x, w.reshape(6, 1, 3, 3), groups=3),
    )
    compare(
        lambda x, w: topi.nn.group_conv2d_nchw(x, w, 1, 0, 1, 2),
        [(1, 4, 5, 5), (6, 2, 3, 3)],
        lambda x, w: conv_reference(x, w, groups=2),
    )


def test_layers_in_topis_spelling() -> None:
    compare(
        lambda x: topi.nn.pool2d(x, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "max"),
        [(1, 2, 6, 6)],
        lambda x: x.reshape(1, 2, 3, 2, 3, 2).max((3, 5)),
    )
    compare(lambda x: topi.nn.global_pool(x, "avg"), [(1, 2, 4, 4)], lambda x: x.mean((2, 3), keepdims=True))
    compare(lambda x: topi.nn.flatten(topi.nn.relu(x)), [(2, 3, 4)], lambda x: np.maximum(x, 0).reshape(2, 12))
    compare(lambda x, w, b: topi.nn.dense(x, w, b), [(2, 5), (3, 5), (3,)], lambda x, w, b: x @ w.T + b)
    compare(lambda a, b: topi.matmul(a, b, transp_a=True), [(5, 2), (5, 3)], lambda a, b: a.T @ b)
    compare(lambda a, b: topi.nn.batch_matmul(a, b), [(2, 3, 4), (2, 5, 4)], lambda a, b: a @ b.transpose(0, 2, 1))
    compare(
        lambda x: topi.nn.pad(x, (0, 1), (2, 0), 5.0),
        [(2, 3)],
        lambda x: np.pad(x, ((0, 2), (1, 0)), constant_values=5),
    )


def test_windows_and_blocks_in_topis_spelling() -> None:
    def reference(name: str, **attrs: Any) -> Any:
        op: Any = find_op(f"relay.nn.{name}")
        return lambda *arrays: np_results(op, arrays, attrs)[0]  # noqa: ANN202

    compare(lambda x: topi.nn.pool1d(x, 2, 2, 1, "VALID", "avg"), [(1, 2, 6)], lambda x: x.reshape(1, 2, 3, 2).mean(3))
    compare(
        lambda x: topi.nn.pool3d(x, (1, 2, 3), (1, 2, 3), 1, 0, "max"),
        [(1, 2, 2, 4, 6)],
        lambda x: x.reshape(1, 2, 2, 2, 2, 2, 3).max((4, 6)),
    )
    compare(lambda x: topi.nn.adaptive_pool(x, 3, "max"), [(1, 2, 6, 3)], lambda x: x.reshape(1, 2, 3, 2, 3).max(3))
    compare(lambda x: topi.nn.adaptive_pool1d(x, (1,), "avg"), [(1, 2, 6)], lambda x: x.mean(2, keepdims=True))
    compare(
        lambda x, w: topi.nn.conv2d_transpose_nchw(x, w, (2, 2), (1, 1), "float32", (1, 1)),
        [(1, 3, 4, 4), (3, 2, 3, 3)],
        reference("conv2d_transpose", strides=[2, 2], padding=[1, 1], output_padding=[1, 1]),
    )
    compare(
        lambda x, w: topi.nn.conv1d_transpose_ncw(x, w, 2, 1, None, 0),
        [(1, 3, 4), (3, 2, 3)],
        reference("conv1d_transpose", strides=[2], padding=[1]),
    )
    compare(
        lambda x, w: topi.nn.conv3d_ncdhw(x, w, 1, 1, 1, 1),
        [(1, 2, 3, 3, 4), (2, 2, 3, 3, 3)],
        reference("conv3d", padding=[1, 1, 1]),
    )
    compare(lambda x, w: topi.nn.conv1d(x, w), [(1, 2, 6), (3, 2, 3)], reference("conv1d"))
    compare(
        lambda g, x: topi.nn.pool_grad(g, x, 2, 2, 0, "avg"),
        [(1, 2, 3, 3), (1, 2, 6, 6)],
        lambda g, x: np.repeat(np.repeat(g, 2, 2), 2, 3) / 4,
    )
    compare(lambda x: topi.nn.mirror_pad(x, (0, 1)), [(2, 3)], lambda x: np.pad(x, ((0, 0), (1, 1)), "symmetric"))
    compare(
        lambda x: topi.nn.batch_to_space_nd(
            topi.nn.space_to_batch_nd(x, (2, 3), (1, 0), (0, 1)), (2, 3), (1, 0), (0, 1)
        ),
        [(2, 3, 5, 2)],
        lambda x: x,
    )
    compare(lambda x: topi.nn.max_pool1d(x, pool_size=2), [(1, 2, 5)], lambda x: np.maximum(x[..., 1:], x[..., :-1]))


def images(name: str, **attrs: Any) -> Any:
    """The oracle of an op on images."""
    return lambda *arrays: np_results(find_op(f"relay.{name}"), arrays, attrs)[0]  # type: ignore[arg-type]


def test_images_and_boxes_in_topis_spelling() -> None:
    compare(
        lambda x: topi.image.resize2d(x, [0.0] * 4, (6, 8), "NCHW", "cubic", "align_corners", "", -0.75),
        [(1, 2, 3, 4)],
        images(
            "image.resize2d",
            size=[6, 8],
            method="cubic",
            coordinate_transformation_mode="align_corners",
            cubic_alpha=-0.75,
        ),
    )
    compare(lambda x: topi.image.resize1d(x, None, [5]), [(1, 2, 3)], images("image.resize1d", size=[5]))
    compare(
        lambda x, b: topi.image.crop_and_resize(x, b, te.compute((2,), lambda i: te.const(0, "int32")), (3, 2)),
        [(1, 2, 4, 5), (2, 4)],
        lambda x, b: images("image.crop_and_resize", crop_size=[3, 2])(x, b, np.zeros(2, np.int32)),
    )
    pooled = {"pooled_size": [2, 2], "spatial_scale": 1.0}
    compare(
        lambda x, r: topi.vision.rcnn.roi_align_nchw(x, r, 2, 1.0, b"max"),
        [(1, 2, 4, 5), (3, 5)],
        images("vision.roi_align", mode="max", **pooled),
    )
    compare(
        lambda x, r: topi.vision.rcnn.roi_pool_nchw(x, r, (2, 2), 1.0),
        [(1, 2, 4, 5), (3, 5)],
        images("vision.roi_pool", **pooled),
    )
    compare(
        lambda x: topi.vision.get_valid_counts(x, 0.25, -1)[1],
        [(2, 5, 6)],
        lambda x: np_results(find_op("relay.vision.get_valid_counts"), [x, np.float32(0.25)], {"id_index": -1})[1],  # type: ignore[arg-type]
    )
    limits = np.asarray(2), np.float32(0.3), np.float32(0.0)
    compare(
        lambda b, s: topi.vision.all_class_non_max_suppression(b, s, 2, 0.3, 0.0)[0],
        [(1, 6, 4), (1, 2, 6)],
        lambda b, s: images("vision.all_class_non_max_suppression")(b, s, *limits),
    )
    compare(
        lambda x: topi.vision.ssd.multibox_prior(x, (0.5,)),
        [(1, 1, 2, 3)],
        images("vision.multibox_prior", sizes=[0.5]),
    )


def test_tensors_of_any_kind_in_topis_spelling() -> None:
    compare(lambda x: topi.sum(x), [(3, 4)], lambda x: x.sum())
    compare(lambda x: topi.max(x, -1, True), [(3, 4)], lambda x: x.max(-1, keepdims=True))
    compare(lambda x: topi.argmax(x, axis=1), [(3, 4)], lambda x: x.argmax(1))
    compare(lambda x: topi.transpose(x), [(3, 4)], lambda x: x.T)
    compare(lambda x: topi.transpose(x, (1, 0, 2)), [(3, 4, 2)], lambda x: x.transpose(1, 0, 2))
    compare(lambda x: topi.reshape(x, (4, 3)), [(3, 4)], lambda x: x.reshape(4, 3))
    compare(lambda a, b: topi.concatenate((a, b), axis=1), [(2, 3), (2, 1)], lambda a, b: np.hstack([a, b]))
    compare(lambda x: topi.split(x, 2, axis=1)[1], [(2, 6)], lambda x: x[:, 3:])
    compare(lambda x: topi.cast(x, "int32"), [(5,)], lambda x: x.astype(np.int32))
    compare(lambda x: topi.clip(x, 0, 1), [(9,)], lambda x: np.clip(x, 0, 1))
    compare(lambda x: topi.full_like(x, 3.0), [(4,)], lambda x: np.full(4, 3.0))
    compare(lambda a, b, c: topi.elemwise_sum([a, b, c]), [(4,)] * 3, lambda a, b, c: a + b + c)
    compare(lambda x: topi.flip(x, 1), [(2, 3)], lambda x: x[:, ::-1])
    compare(lambda x: topi.strided_slice(x, [1, 0], [3, 4], [1, 2]), [(3, 4)], lambda x: x[1:3, 0:4:2])
    compare(lambda x: topi.broadcast_to(x, (2, 3)), [(3,)], lambda x: np.broadcast_to(x, (2, 3)))
    compare(lambda x: topi.expand_dims(x, 0, 2), [(3,)], lambda x: x[None, None])
    compare(lambda x: topi.subtract(2, x), [(3,)], lambda x: 2 - x)
    compare(lambda x: topi.nn.softmax(x), [(2, 5)], lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True))
    compare(lambda x: topi.arange(3.0, dtype="float32") + x, [(3,)], lambda x: x + np.arange(3, dtype=np.float32))


def test_orders_and_places_in_topis_spelling() -> None:
    compare(lambda x: topi.argsort(x), [(3, 9)], lambda x: np.argsort(x, 1))
    compare(lambda x: topi.argsort(x, None, 0, 0, "int32"), [(9, 3)], lambda x: np.argsort(-x, 0))
    compare(lambda x: topi.sort(x, 0, is_ascend=0), [(9, 3)], lambda x: -np.sort(-x, 0))
    compare(lambda x: topi.topk(x, 2, ret_type="values"), [(3, 9)], lambda x: -np.sort(-x, 1)[:, :2])
    compare(lambda x: topi.topk(x, 2)[1], [(3, 9)], lambda x: np.argsort(-x, 1)[:, :2])
    compare(lambda x: topi.cumsum(x, 1), [(3, 9)], lambda x: np.cumsum(x, 1))
    compare(lambda a, b: topi.einsum("ij,kj->ki", a, b), [(3, 5), (4, 5)], lambda a, b: b @ a.T)
    compare(lambda x: topi.trilu(x, 1, True), [(3, 5)], lambda x: np.triu(x, 1))
    compare(lambda x: topi.collapse_sum(x, (1, 5)), [(3, 5)], lambda x: x.sum(0, keepdims=True))
    compare(lambda x: topi.shape(x), [(3, 5)], lambda x: x.shape)

    def diagonal(x: Array, d: Array) -> Array:
        out = np.copy(x)
        out[[0, 1, 2], [1, 2, 3]] = d
        return out

    compare(lambda x, d: topi.matrix_set_diag(x, d, 1), [(3, 5), (3,)], diagonal)

    def part(x: Array, v: Array) -> Array:
        out = np.copy(x)
        out[1:5:2, 0:2] = v
        return out

    compare(lambda x, v: topi.strided_set(x, v, [1, 0], [5, 2], [2, 1]), [(6, 4), (2, 2)], part)
    at = te.compute((2,), lambda i: i * 2, name="at")
    compare(lambda v: topi.sparse_to_dense(at, (5,), v, 1.5), [(2,)], lambda v: np.array([v[0], 1.5, v[1], 1.5, 1.5]))
    compare(lambda x: topi.adv_index(x, [at]), [(5, 3)], lambda x: x[[0, 2]])


def test_elementwise_ops_take_any_sizes() -> None:
    n = te.var("n")
    x, b = te.placeholder((n, 4), name="x"), te.placeholder((4,), name="b")
    y = topi.maximum(topi.sigmoid(topi.multiply(x, 2.0)), b)
    kernel = lamina.build(te.create_schedule(y.op), [x, b, y])
    for size in (0, 1, 7):
        value, bias = np.random.default_rng(size).standard_normal((size, 4), np.float32), np.full(4, 0.5, np.float32)
        out = np.empty_like(value)
        kernel(value, bias, out)
        np.testing.assert_allclose(out, np.maximum(1 / (1 + np.exp(-2 * value)), 0.5), rtol=1e-5)


def test_stages_of_topi_are_scheduled_like_others() -> None:
    a, b = te.placeholder((32, 16), name="a"), te.placeholder((16, 48), name="b")
    c = topi.nn.relu(topi.matmul(a, b))
    s = te.create_schedule(c.op)
    product = c.op.input_tensors[0]
    i, j = c.op.axis
    _, xo, _, xi = s[c].tile(i, j, 8, 16)
    s[product].compute_at(s[c], xo)
    (k,) = s[product].op.reduce_axis
    s[product].split(k, factor=4)
    s[c].vectorize(xi)
    r = np.random.default_rng(10)
    x, y, out = (r.standard_normal(s).astype(np.float32) for s in ((32, 16), (16, 48), (32, 48)))
    lamina.build(s, [a, b, c])(x, y, out)
    np.testing.assert_allclose(out, np.maximum(x @ y, 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda x: topi.sum(x, axis=7), "topi.sum: axis 7 is out of range for rank 2"),
        (lambda x: topi.sum(x, axes=1), "topi.sum has no attribute 'axes'; did you mean 'axis'"),
        (lambda x: topi.add(x), "topi.add takes 2 tensors (lhs, rhs), got 1"),
        (lambda x: topi.nn.conv2d_nchw(x, x, 1, 0, 1), "rank"),
        (lambda x: topi.add(x, te.placeholder((3,), name="y")), "do not broadcast"),
        (lambda x: topi.reshape(te.placeholder((te.var("n"),), name="z"), (2, 2)), "its extents must be numbers"),
        (lambda x: topi.exp(1.0), "topi.exp takes tensors"),
        (lambda x: topi.argsort(x, x), "valid_count is not there"),
        (lambda x: topi.matrix_set_diag(x, x, align="LEFT"), "align is of the form 'RIGHT_LEFT'"),
    ],
)
def test_a_mistake_is_named_with_its_place(action: Any, message: str) -> None:
    with pytest.raises(LaminaError) as error:
        action(te.placeholder((2, 4), name="x"))
    assert message in str(error.value)
    assert error.value.where.startswith(__file__)


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="topi has no nn.conv4d; did you mean 'nn.conv"):
        topi.nn.conv4d  # noqa: B018
    assert "softmax" in dir(topi.nn) and "nn" in dir(topi)


def test_extents_are_numbers_and_paddings_have_both_sides() -> None:
    from lamina.compat.tvm.topi.nn.utils import get_pad_tuple  # type: ignore[import-not-found]
    from lamina.compat.tvm.topi.utils import get_const_int, get_const_tuple  # type: ignore[import-not-found]

    n = te.var("n")
    x = te.placeholder((4, n, te.const(3)), name="x")
    assert get_const_tuple(x.shape) == (4, n, 3) and get_const_int(x.shape[0]) == 4
    with pytest.raises(InputError, match="a constant integer is wanted"):
        get_const_int(n)
    # Of an odd padding the larger half is before, as in TVM.
    assert get_pad_tuple("SAME", (2, 3)) == (1, 1, 0, 1) and get_pad_tuple("VALID", (2, 3)) == (0, 0, 0, 0)
    assert get_pad_tuple((1, 2), (3, 3)) == (1, 2, 1, 2) and get_pad_tuple(1, (3, 3)) == (1, 1, 1, 1)
    assert topi.nn.utils.get_pad_tuple1d("SAME", 4) == (2, 1)
    assert topi.nn.utils.get_pad_tuple3d((1, 2, 3, 4, 5, 6), (1, 1, 1)) == (1, 2, 3, 4, 5, 6)
    with pytest.raises(InputError, match="padding of 2 axes is 1, 2 or 4 numbers"):
        get_pad_tuple((1, 2, 3), (3, 3))


def test_the_same_size_at_an_even_kernel_has_the_larger_half_before() -> None:
    x, w = te.placeholder((1, 1, 3, 1), name="x"), te.placeholder((1, 1, 2, 1), name="w")
    y = topi.nn.conv2d(x, w, 1, "SAME")
    kernel = lamina.build(te.create_schedule(y.op), [x, w, y])
    out = np.zeros((1, 1, 3, 1), np.float32)
    kernel(
        np.arange(1, 4, dtype=np.float32).reshape(1, 1, 3, 1), np.array([10, 1], np.float32).reshape(1, 1, 2, 1), out
    )
    assert out.ravel().tolist() == [1, 12, 23]
