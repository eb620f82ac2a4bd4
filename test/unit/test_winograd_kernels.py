"""Winograd's kernels as machine code give the numbers of the direct sum, whatever the shape and the threads."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.jit import named_target
from lamina.dialects.relay import find_op
from lamina.dialects.relay.meaning import np_results
from lamina.dialects.target import TargetAttr
from lamina.driver.api import texts
from lamina.driver.settings import Settings
from lamina.transform import PassContext

pytestmark = pytest.mark.slow


def model(
    shape: tuple[int, ...], channels: int, pads: list[int], residual: bool = False, used_twice: bool = False
) -> Any:
    """y = relu(conv(x, w) + b) (+ x), or also the convolution by itself."""
    random = np.random.default_rng(sum(shape) + channels)
    w = random.uniform(-1, 1, (channels, shape[1], 3, 3)).astype(np.float32)
    b = random.uniform(-1, 1, channels).astype(np.float32)
    conv = find_op("relay.nn.conv2d")
    assert conv is not None
    out = (shape[0], channels, shape[2] + pads[0] + pads[2] - 2, shape[3] + pads[1] + pads[3] - 2)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=pads)]
    nodes += [helper.make_node("Add", ["c", "x"], ["s"])] if residual else []
    nodes += [helper.make_node("Relu", ["s" if residual else "c"], ["y"])]
    nodes += [helper.make_node("Neg", ["c"], ["z"])] if used_twice else []
    info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, out) for n in ("y", "z")[: 1 + used_twice]]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    made = helper.make_model(
        helper.make_graph(nodes, "g", info, results, weights), opset_imports=[helper.make_opsetid("", 17)]
    )
    x = random.uniform(-1, 1, shape).astype(np.float32)
    (c,) = np_results(conv, [x.astype(np.float64), w.astype(np.float64)], {"padding": pads})
    c = c + b.astype(np.float64)[:, None, None]
    return made, x, [np.maximum(c + x if residual else c, 0), -c][: 1 + used_twice]


CASES: dict[str, tuple[tuple[int, ...], int, list[int], dict[str, bool]]] = {
    "a_row_of_tiles": ((1, 16, 56, 12), 32, [1, 1, 1, 1], {}),
    "tails_both_ways": ((1, 32, 14, 14), 32, [1, 1, 1, 1], {}),
    "odd_image_residual": ((1, 32, 7, 9), 32, [1, 1, 1, 1], {"residual": True}),
    "channels_beyond_a_block": ((1, 20, 13, 11), 35, [0, 1, 2, 1], {}),
    "batch": ((3, 16, 9, 8), 48, [1, 1, 1, 1], {}),
    "two_readers": ((1, 16, 12, 12), 16, [1, 1, 1, 1], {"used_twice": True}),
    "tiles_left_over": ((1, 16, 20, 17), 64, [1, 1, 1, 1], {}),
    "rows_that_no_register_tile_divides": ((1, 16, 56, 148), 32, [1, 1, 1, 1], {}),
    "no_padding": ((1, 16, 10, 22), 64, [0, 0, 0, 0], {}),
}


USUAL = {
    (4, 1): ["channels_beyond_a_block", "two_readers", "tiles_left_over", "no_padding"],
    (4, 2): ["a_row_of_tiles", "odd_image_residual", "rows_that_no_register_tile_divides"],
    (2, 1): ["tails_both_ways", "batch"],
}


@pytest.mark.parametrize(
    ("name", "tile", "threads"),
    [
        pytest.param(name, tile, threads, marks=[] if name in USUAL.get((tile, threads), ()) else pytest.mark.long)
        for name in CASES
        for tile in (4, 2)
        for threads in (1, 2)
    ],
)
def test_kernel_gives_the_convolution(name: str, tile: int, threads: int) -> None:
    shape, channels, pads, more = CASES[name]
    made, x, expected = model(shape, channels, pads, **more)
    context = PassContext(opt_level=3, config={"cpu-winograd.tile-size": tile})
    executable = lamina.compile(made, threads=threads, opt_level=context)
    found = executable.run({"x": x})
    for value, wanted in zip(found.values(), expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=0, atol=3e-5 * np.abs(wanted).max())


def test_products_leave_their_accumulators_in_registers() -> None:
    """For a processor whose model would have LLVM load ahead: no step of the reduction goes by way of the stack."""
    named = named_target("x86-64-v4")
    target = TargetAttr.get(named.triple.data, "znver4", named.features.data, 512, 32, 1)
    made, _, _ = model((1, 64, 14, 14), 64, [1, 1, 1, 1])
    code = texts(made, Settings.of(target, 1)).get("asm")
    hot = max(re.split(r"^\.L\w+:", code, flags=re.MULTILINE), key=lambda block: block.count("vfmadd"))
    assert hot.count("vfmadd") >= 128
    assert hot.count("(%rsp)") <= 8
