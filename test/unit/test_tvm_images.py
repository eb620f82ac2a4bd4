"""Images, boxes and random numbers as TVM's programs write them."""

# The bridge is untyped, as TVM is.
# pyright: basic
from __future__ import annotations

from typing import Any

import numpy as np

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import np_results


def run(expr: Any, *arrays: Any) -> Any:
    """The value of an expression over its free variables, in order, compiled."""
    if isinstance(expr, relay.TupleWrapper):
        expr = expr.astuple()
    function = relay.Function(relay.analysis.free_vars(expr), expr)
    found = relay.create_executor("graph", tvm.IRModule.from_expr(function)).evaluate()(*arrays)
    return [f.numpy() for f in found] if isinstance(found, (list, tuple)) else found.numpy()


def oracle(name: str, *arrays: Any, **attrs: Any) -> list[Any]:
    op = find_op(f"relay.{name}")
    assert op is not None
    return np_results(op, [np.asarray(a) for a in arrays], attrs)


def test_images_are_resized_and_sampled() -> None:
    image = np.random.default_rng(0).random((1, 3, 5, 4), "float32")
    x = relay.var("x", shape=image.shape)
    (wanted,) = oracle("image.resize2d", image, size=[10, 7], method="cubic")
    np.testing.assert_allclose(run(relay.image.resize2d(x, (10, 7), None, "NCHW", "cubic"), image), wanted, atol=1e-5)
    same = relay.const(np.array([[[1, 0, 0], [0, 1, 0]]], "float32"))
    sampled = relay.image.grid_sample(x, relay.image.affine_grid(same, (5, 4)))
    np.testing.assert_allclose(run(sampled, image), image, atol=1e-5)
    wide = relay.nn.upsampling3d(relay.expand_dims(x, 0), 1, 2, 3, coordinate_transformation_mode="asymmetric")
    np.testing.assert_array_equal(run(wide, image), image.repeat(2, 2).repeat(3, 3)[None])


def test_boxes_are_chosen_by_plain_numbers() -> None:
    rows = np.random.default_rng(1).random((2, 7, 6), "float32")
    x = relay.var("x", shape=rows.shape)
    count, good, places = relay.vision.get_valid_counts(x, 0.4)
    kept = relay.vision.non_max_suppression(good, count, places, 3, 0.3, True)
    wanted = oracle("vision.get_valid_counts", rows, np.float32(0.4))
    limits = np.int32(3), np.float32(0.3)
    expected = oracle("vision.non_max_suppression", wanted[1], wanted[0], wanted[2], *limits, force_suppress=True)
    for found, e in zip(run(kept, rows), expected, strict=True):
        np.testing.assert_array_equal(found, e)


def test_random_numbers_come_from_a_key_that_is_passed_on() -> None:
    key = relay.random.threefry_key(5)
    left, right = relay.random.threefry_split(key)
    after, first = relay.random.uniform(left, (9,), low=-1.0, high=4.0)
    _, second = relay.random.normal(after, (3, 5), "float64", 2.0, 0.5)
    _, bits = relay.random.threefry_generate(right, (4,))
    found = run(relay.Tuple([first, second, bits]))
    from lamina.dialects.relay.random.threefry import threefry_key

    one, other = oracle("random.threefry_split", threefry_key(5))
    key_after, wanted = oracle("random.uniform", one, np.float32(-1), np.float32(4), out_shape=[9])
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6)
    bounds = np.float64(2.0), np.float64(0.5)
    _, wanted = oracle("random.normal", key_after, *bounds, out_shape=[3, 5], out_dtype="float64")
    np.testing.assert_allclose(found[1], wanted, rtol=1e-10)
    np.testing.assert_array_equal(found[2], oracle("random.threefry_generate", other, out_shape=[4])[1])
