"""Quantised operators in scripts, against torch on one thread, with FBGEMM's kernels.

Integers are equal to the bit. ATen's vectors round otherwise than what computes the last elements of a tensor, fewer
than a vector has: there a half may go to the other integer (`test_the_last_elements_may_be_one_step_apart`).
`test_quantized_models.py` has the models.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from quantized_scripts import NORM, REDUCED, VECTOR, applied, drawn, equal, outcomes, weight_of

torch = pytest.importorskip("torch")
F, nn, Q = torch.nn.functional, torch.nn, torch.ops.quantized

pytestmark = pytest.mark.usefixtures("fbgemm")

LINES: list[list[tuple[int, ...]]] = [[(64,)], [(4, 256)], [(1, 2, 8, 64)]]
IMAGES: list[list[tuple[int, ...]]] = [[(1, 3, 8, 9)], [(2, 64, 7, 7)]]
UNARY: dict[str, Any] = {
    "relu": (torch.relu, LINES),
    "relu6": (F.relu6, LINES),
    "quantized relu6": (lambda x: Q.relu6(x), LINES),
    "clamp": (lambda x: torch.clamp(x, -0.33, 1.2), LINES),
    "clamp below": (lambda x: torch.clamp(x, max=0.4), LINES),
    "hardtanh": (lambda x: F.hardtanh(x, -0.7, 0.6), LINES),
    "threshold": (lambda x: F.threshold(x, 0.3, -0.5), LINES),
    "sigmoid": (torch.sigmoid, LINES),
    "quantized sigmoid": (lambda x: Q.sigmoid(x, 0.01, 3), LINES),
    "tanh": (torch.tanh, LINES),
    "hardsigmoid": (F.hardsigmoid, LINES),
    "hardswish": (lambda x: Q.hardswish(x, 0.1, 7), LINES),
    "gelu": (F.gelu, LINES),
    "gelu by tanh": (lambda x: F.gelu(x, approximate="tanh"), LINES),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.1), LINES),
    "quantized leaky_relu": (lambda x: Q.leaky_relu(x, 0.25, False, 0.5, 101), LINES),
    "elu": (lambda x: Q.elu(x, 0.05, 31), LINES),
    "elu of factors": (lambda x: Q.elu(x, 0.05, 31, 1.5, 2.0, 0.7), LINES),
    "celu": (lambda x: Q.celu(x, 0.05, 31, 1.5), LINES),
    "dropout": (lambda x: Q.dropout(x, 0.1, 3, 0.5, False), LINES),
    "flatten": (lambda x: x.flatten(1), IMAGES),
    "reshape": (lambda x: x.reshape(x.shape[0], -1, 1), IMAGES),
    "permute": (lambda x: x.permute(0, 2, 3, 1), IMAGES),
    "transpose": (lambda x: x.transpose(1, 3), IMAGES),
    "slice": (lambda x: x[:, 1:3, ::2], IMAGES),
    "select": (lambda x: x[:, 1], IMAGES),
    "unsqueeze": (lambda x: x.unsqueeze(1).squeeze(1), IMAGES),
    "chunk": (lambda x: x.chunk(2, 2), IMAGES),
    "split": (lambda x: x.split([2, x.shape[3] - 2], 3), IMAGES),
    "flip": (lambda x: x.flip([2]), IMAGES),
    "index_select": (lambda x: x.index_select(1, PLACES), IMAGES),
    "index": (lambda x: x[:, [2, 0]], IMAGES),
    "repeat": (lambda x: x.repeat(1, 2, 1, 1), IMAGES[:1]),
    "expand": (lambda x: x[:, :1].expand(-1, 3, -1, -1), IMAGES),
    "unfold": (lambda x: x.unfold(2, 3, 2), IMAGES),
    "topk": (lambda x: x.topk(3, -1)[0], IMAGES),
    "sort": (lambda x: x.sort(-1)[0], IMAGES),
    "masked_fill": (lambda x: x.masked_fill(x > 0.4, -0.2), IMAGES),
    "elsewhere": (lambda x: x.to("cpu").clone().detach().contiguous(), IMAGES),
    "in place": (lambda x: F.hardtanh_(F.relu_(x.clone()), 0.1, 0.9), IMAGES),
    "its own scale": (
        lambda x: torch.quantize_per_tensor(x.dequantize() * x.q_scale(), 0.1, x.q_zero_point(), torch.quint8), IMAGES
    ),
    "channel_shuffle": (lambda x: torch.channel_shuffle(x[:, :2], 2), [[(1, 4, 3, 3)]]),
    "shuffle by hand": (lambda x: x.reshape(2, 2, 32, 49).transpose(1, 2).contiguous().view(2, 64, 7, 7), IMAGES[1:]),
    "reflection_pad2d": (lambda x: F.pad(x, (1, 2, 0, 1), mode="reflect"), IMAGES),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 1), value=0.3), IMAGES),
    "max_pool1d": (lambda x: F.max_pool1d(x[0], 3, 2, 1), IMAGES),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), IMAGES),
    "quantized max_pool2d": (lambda x: Q.max_pool2d(x, [2, 3], [2, 1], [0, 1], [1, 1], False), IMAGES),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3), IMAGES),
    "avg_pool2d of even": (lambda x: F.avg_pool2d(x, (2, 3), (1, 2)), IMAGES),
    "avg_pool2d padded": (lambda x: F.avg_pool2d(x, 3, 2, 1), IMAGES),
    "avg_pool2d of data": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), IMAGES),
    "avg_pool2d to the end": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), IMAGES),
    "avg_pool2d by a number": (lambda x: F.avg_pool2d(x, 2, divisor_override=3), IMAGES),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), [[(1, 64, 4, 5, 4)]]),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (3, 2)), IMAGES),
    "adaptive_avg_pool2d to one": (lambda x: F.adaptive_avg_pool2d(x, 1), IMAGES),
    "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, (2, 2, 1)), [[(1, 3, 4, 5, 4)]]),
    "mean": (lambda x: x.mean([2, 3]), IMAGES),
    "mean kept": (lambda x: x.mean([1], keepdim=True), IMAGES),
    "upsample_nearest2d": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), IMAGES),
    "interpolate to a size": (lambda x: F.interpolate(x, size=(5, 11), mode="nearest"), IMAGES),
    "upsample_bilinear2d": (
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False), IMAGES
    ),
    "max": (lambda x: x.max(1), IMAGES),
    "greater": (lambda x: x > 0.4, IMAGES),
    "plus": (lambda x: Q.add(x, 0.7), LINES),
    "plus much": (lambda x: Q.add(x, 90.0), LINES),
    "minus much": (lambda x: Q.add_relu(x, -90.0), LINES),
    "plus, relu": (lambda x: Q.add_scalar_relu(x, -0.7), LINES),
    "times": (lambda x: Q.mul(x, 0.5), LINES),
    "times less than zero": (lambda x: Q.mul_scalar(x, -1.7), LINES),
    "times zero": (lambda x: Q.mul_scalar(x, 0.0), LINES),
    "times, relu": (lambda x: Q.mul_scalar_relu(x, -2.0), LINES),
    "softmax": (lambda x: Q.softmax(x, -1, 1 / 256, 0), LINES),
    "softmax over channels": (lambda x: Q.softmax(x, 1, 1 / 128, 3), [[(4, 16, 5)]]),
    "batch_norm2d": (lambda x: Q.batch_norm2d(x, *NORM, 1e-5, 0.07, 99), [[(2, 8, 8, 8)]]),
    "batch_norm2d, relu": (lambda x: Q.batch_norm2d_relu(x, *NORM, 1e-5, 0.07, 99), [[(2, 8, 8, 8)]]),
    "batch_norm1d": (lambda x: Q.batch_norm1d(x, *NORM, 1e-5, 0.07, 99), [[(2, 8, 32)]]),
    "batch_norm3d": (lambda x: Q.batch_norm3d(x, *NORM, 1e-5, 0.07, 99), [[(1, 8, 4, 4, 8)]]),
    "prelu": (lambda x: Q.prelu(x, SLOPES, 0.06, 100), [[(2, 8, 64)]]),
    "requantised": (lambda x: torch.quantize_per_tensor(x.dequantize(), 0.13, 77, torch.quint8), LINES),
    "layer_norm": (lambda x: Q.layer_norm(x, [64], None, None, 1e-5, 0.03, 128), [[(2, 5, 64)]]),
    "group_norm": (lambda x: Q.group_norm(x, 4, *NORM[:2], 1e-5, 0.03, 128), [[(2, 8, 4, 8)]]),
    "instance_norm": (lambda x: Q.instance_norm(x, *NORM[:2], 1e-5, 0.03, 128), [[(2, 8, 8, 8)]]),
}  # fmt: skip
PLACES = torch.tensor([2, 0])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SLOPES = torch.quantize_per_tensor(
        torch.randn(8, generator=torch.Generator().manual_seed(0)), 0.02, 128, torch.quint8
    )
ONE_STEP = ("layer_norm", "group_norm", "instance_norm", "upsample_bilinear2d", "softmax")
"""Operators of which one element in a thousand may be one step apart: their sums are floats, in another order."""


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor(name: str) -> None:
    function, shapes = UNARY[name]
    pairs = applied(function, shapes * 3, sum(map(ord, name)))
    if name not in ONE_STEP:
        equal(pairs)
        return
    whole = [(a.astype(np.int64), b.astype(np.int64)) for a, b in pairs if a.dtype == np.uint8]
    apart = [abs(a - b) for a, b in whole]
    assert max(d.max() for d in apart) <= 1
    assert sum(map(np.count_nonzero, apart)) <= 1e-3 * sum(d.size for d in apart)


PAIRS: list[list[tuple[int, ...]]] = [[(64,), (64,)], [(2, 3, 4, 32), (2, 3, 4, 32)], [(8, 32), (8, 32)]]
BINARY: dict[str, Any] = {
    "add": (lambda x, y: Q.add(x, y, 0.31, 77), PAIRS),
    "add of round scales": (lambda x, y: Q.add(x, y, 0.5, 101), PAIRS),
    "add, relu": (lambda x, y: Q.add_relu(x, y, 0.11, 5), PAIRS),
    "add to itself": (lambda x, _: Q.add(x, x, 0.21, 9), PAIRS),
    "mul": (lambda x, y: Q.mul(x, y, 0.71, 88), PAIRS),
    "mul, relu": (lambda x, y: Q.mul_relu(x, y, 0.5, 101), PAIRS),
    "cat": (lambda x, y: Q.cat([x, y], 1, 0.17, 55), PAIRS[1:]),
    "cat, relu": (lambda x, y: Q.cat_relu([x, y, x], 0, 0.5, 101), PAIRS),
    "cat of the first one's scale": (lambda x, y: torch.cat([x, y], -1), PAIRS),
    "stack": (lambda x, y: torch.stack([x, y], 1), PAIRS),
    "mul of channels": (lambda x, y: Q.mul(x, y, 0.5, 101), [[(2, 8, 8, 8), (2, 8, 1, 1)]]),
    "matmul": (lambda x, y: Q.matmul(x, y, 0.9, 128), [[(2, 3, 5, 16), (2, 3, 16, 7)], [(4, 8), (8, 3)]]),
}


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors(name: str) -> None:
    function, shapes = BINARY[name]
    equal(applied(function, shapes * 3, sum(map(ord, name))))


@pytest.mark.parametrize("name", ["relu", "clamp", "sigmoid", "tanh", "leaky_relu", "max_pool2d", "mean", "plus much"])
def test_signed_bytes(name: str) -> None:
    function, shapes = UNARY[name]
    equal(applied(function, shapes, 7, torch.qint8))


def test_the_last_elements_may_be_one_step_apart() -> None:
    """Round scales: a sum of two tensors lies in the middle of two integers every other time."""
    pairs = applied(lambda x, y: Q.add(x, y, 0.5, 101), [[(1, 100), (1, 100)]] * 8, 3)
    apart = np.concatenate([a.astype(int) - b for a, b in pairs[::2]])
    assert abs(apart).max() == 1 and not apart[:, :VECTOR].any()


# -- products --------------------------------------------------------------------------------------


class Product(nn.Module):
    def __init__(self, operator: Any, packed: Any, scale: float, zero: int, x: tuple[float, int]) -> None:
        super().__init__()
        self.operator, self.packed, self.scale, self.zero, self.x = operator, packed, scale, zero, x

    def forward(self, x):
        made = self.operator(torch.quantize_per_tensor(x, *self.x, torch.quint8), self.packed, self.scale, self.zero)
        return made.int_repr(), made.dequantize()


CONVOLUTIONS: dict[str, Any] = {
    # data, weight, stride, padding, dilation, groups
    "conv1d": ((2, 3, 17), (8, 3, 5), [2], [1], [1], 1),
    "conv1d in groups": ((1, 4, 17), (8, 2, 3), [1], [1], [2], 2),
    "conv2d": ((2, 3, 9, 11), (8, 3, 3, 3), [2, 1], [1, 0], [1, 1], 1),
    "conv2d wide": ((1, 32, 14, 14), (48, 32, 3, 3), [1, 1], [1, 1], [1, 1], 1),
    "conv2d of points": ((1, 24, 7, 7), (40, 24, 1, 1), [1, 1], [0, 0], [1, 1], 1),
    "conv2d dilated": ((1, 3, 12, 12), (8, 3, 3, 3), [1, 1], [2, 2], [2, 2], 1),
    "conv2d by channel": ((1, 16, 9, 9), (16, 1, 3, 3), [1, 1], [1, 1], [1, 1], 16),
    "conv2d in groups": ((1, 8, 9, 9), (16, 2, 3, 3), [1, 1], [1, 1], [1, 1], 4),
    "conv3d": ((1, 3, 5, 6, 7), (4, 3, 3, 3, 3), [1, 2, 1], [1, 1, 0], [1, 1, 1], 1),
    "conv_transpose1d": ((1, 4, 9), (4, 6, 3), [2], [1], [1], 1),
    "conv_transpose2d": ((1, 4, 5, 6), (4, 6, 3, 3), [2, 2], [1, 1], [1, 1], 1),
    "conv_transpose2d with room": ((1, 4, 5, 6), (4, 3, 3, 3), [2, 3], [0, 1], [1, 1], 2),
    "conv_transpose3d": ((1, 4, 3, 4, 3), (4, 6, 2, 2, 2), [2, 2, 2], [0, 0, 0], [1, 1, 1], 1),
}


@pytest.mark.parametrize("scheme", ["tensor", "channel", "channels with zero points"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str, scheme: str) -> None:
    if "transpose" in name and scheme != "tensor":
        pytest.skip("torch has transposed convolutions with one scale only")
    x_shape, w_shape, stride, padding, dilation, groups = CONVOLUTIONS[name]
    rng, kind = np.random.default_rng(len(name)), name.split()[0]
    for relu, biased in (("", True), ("_relu", True), ("", False)):
        if relu and "transpose" in kind:
            continue
        weight = weight_of(rng, w_shape, scheme, 0)
        units = w_shape[1] * groups if "transpose" in kind else w_shape[0]
        bias = torch.tensor(rng.standard_normal(units), dtype=torch.float32) if biased else None
        more = [[int("room" in name)] * len(stride)] if "transpose" in kind else []
        packed = getattr(Q, f"{kind}_prepack")(weight, bias, stride, padding, *more, dilation, groups)
        x, s, z = drawn(rng, x_shape, most=REDUCED)
        scale = float(abs(s * 0.02 * 128 * 3))
        equal(outcomes(Product(getattr(Q, kind + relu), packed, scale, int(rng.integers(0, 255)), (s, z)), [x]))


@pytest.mark.parametrize("scheme", ["tensor", "channel", "channels with zero points"])
@pytest.mark.parametrize("shape", [(1, 33), (5, 64), (2, 3, 20)])
def test_dense_layers(shape: tuple[int, ...], scheme: str) -> None:
    rng = np.random.default_rng(sum(shape))
    for operator, biased in ((Q.linear, True), (Q.linear_relu, True), (Q.linear, False)):
        bias = torch.tensor(rng.standard_normal(24), dtype=torch.float32) if biased else None
        packed = Q.linear_prepack(weight_of(rng, (24, shape[-1]), scheme, 0), bias)
        x, s, z = drawn(rng, shape, most=REDUCED)
        equal(outcomes(Product(operator, packed, s * 4, int(rng.integers(0, 255)), (s, z)), [x]))


@pytest.mark.parametrize("axis", [0, 1, 3])
def test_one_scale_a_channel(axis: int) -> None:
    class Channels(nn.Module):
        def __init__(self, count: int) -> None:
            super().__init__()
            self.scales, self.zeros = torch.linspace(0.02, 0.5, count), torch.arange(count) * 7 % 200

        def forward(self, x):
            q = torch.quantize_per_channel(x, self.scales, self.zeros, axis, torch.quint8)
            return q.int_repr(), q.dequantize()

    x = torch.randn(5, 6, 4, 8) * 9
    equal(outcomes(Channels(x.shape[axis]), [x]))


def test_quantising_rounds_as_fbgemm_does() -> None:
    """Of a million numbers a few lie so near a half that a product with 1 / scale and a quotient differ."""

    class Quantize(nn.Module):
        def forward(self, x):
            return torch.quantize_per_tensor(x, 0.17795540617506417, 193, torch.quint8).int_repr()

    equal(outcomes(Quantize(), [torch.randn(1000000, generator=torch.Generator().manual_seed(1)) * 8]))
