"""Quantised operators and models in scripts, against torch on one thread, with FBGEMM's kernels.

Integers are equal to the bit. ATen's vectors round otherwise than what computes the last elements of a tensor, fewer
than a vector has: there a half may go to the other integer (`test_the_last_elements_may_be_one_step_apart`).
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import lamina

torch = pytest.importorskip("torch")
F, nn, Q = torch.nn.functional, torch.nn, torch.ops.quantized

VECTOR = 64 if torch.backends.cpu.get_cpu_capability().startswith("AVX512") else 32
"""Bytes in a vector of ATen's kernels here."""
warnings.filterwarnings("ignore", module="torch")


@pytest.fixture(autouse=True)
def fbgemm() -> Iterator[None]:
    threads, engine = torch.get_num_threads(), torch.backends.quantized.engine
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "fbgemm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_num_threads(threads)
    torch.backends.quantized.engine = engine


class Applied(nn.Module):
    """Functions of quantised tensors, one after the other; each has operands of its own with a scale and zero point."""

    def __init__(self, function: Callable[..., Any], operands: list[list[tuple[float, int]]], dtype: Any) -> None:
        super().__init__()
        self.function, self.operands, self.dtype = function, operands, dtype

    def forward(self, *inputs: Any) -> Any:
        found, given = [], iter(inputs)
        for scales in self.operands:
            made = self.function(*(torch.quantize_per_tensor(next(given), s, z, self.dtype) for s, z in scales))
            for y in made if isinstance(made, (tuple, list)) else [made]:
                found += [y.int_repr(), y.dequantize()] if y.is_quantized else [y]
        return tuple(found)


def compiled(script: Any, inputs: list[Any], numerics: str = "fast") -> list[Any]:
    """What the compiled script gives, as arrays."""
    data = BytesIO()
    torch.jit.save(script, data)
    names = re.findall(r"(\w+): Tensor", script.code.partition("->")[0])
    shapes = {name: tuple(x.shape) for name, x in zip(names, inputs, strict=True)}
    made = lamina.compile(data.getvalue(), threads=1, shapes=shapes, numerics=numerics)(*(x.numpy() for x in inputs))
    return list(made) if isinstance(made, (list, tuple)) else [made]


def arrays(made: Any) -> list[Any]:
    return [v.detach().numpy() for v in (made if isinstance(made, (tuple, list)) else [made])]


def outcomes(module: Any, inputs: list[Any]) -> list[tuple[Any, Any]]:
    """Pairs of what torch gives and what the compiled script gives."""
    script = torch.jit.trace(module.eval(), tuple(inputs), check_trace=False)
    pairs = list(zip(arrays(module(*inputs)), compiled(script, inputs), strict=True))
    assert all(a.shape == b.shape and a.dtype == b.dtype for a, b in pairs)
    return pairs


def drawn(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = torch.quint8, most: int = 256
) -> tuple[Any, float, int]:
    """Real numbers that so many integers of a scale and zero point stand for, and the two."""
    low = 0 if dtype == torch.quint8 else -128
    scale = float(rng.choice([0.25, 0.5, rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.2)]))
    zero = int(rng.integers(low, low + most))
    whole = rng.integers(low, low + most, shape)
    return torch.tensor((whole - zero) * np.float32(scale), dtype=torch.float32), scale, zero


def applied(
    function: Callable[..., Any], shapes: list[list[tuple[int, ...]]], seed: int = 0, dtype: Any = torch.quint8
) -> list[tuple[Any, Any]]:
    """A function of drawn tensors of shapes: each list is the operands of one call."""
    rng = np.random.default_rng(seed)
    calls = [[drawn(rng, shape, dtype) for shape in operands] for operands in shapes]
    module = Applied(function, [[(s, z) for _, s, z in call] for call in calls], dtype)
    return outcomes(module, [x for call in calls for x, _, _ in call])


def equal(pairs: list[tuple[Any, Any]]) -> None:
    assert pairs
    for k, (expected, found) in enumerate(pairs):
        np.testing.assert_array_equal(found, expected, err_msg=f"result {k}")


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
torch.manual_seed(0)
NORM = torch.randn(8), torch.randn(8), torch.randn(8), torch.rand(8) + 0.1
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SLOPES = torch.quantize_per_tensor(torch.randn(8), 0.02, 128, torch.quint8)
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


def weight_of(rng: np.random.Generator, shape: tuple[int, ...], scheme: str, axis: int) -> Any:
    values = torch.tensor(rng.standard_normal(shape), dtype=torch.float32)
    count = shape[axis]
    if scheme == "tensor":
        return torch.quantize_per_tensor(values, 0.02, int(rng.integers(-9, 9)), torch.qint8)
    zeros = np.zeros(count) if scheme == "channel" else rng.integers(-9, 9, count)
    scales = torch.tensor(rng.uniform(0.01, 0.03, count))
    return torch.quantize_per_channel(values, scales, torch.tensor(zeros, dtype=torch.long), axis, torch.qint8)


class Product(nn.Module):
    def __init__(self, operator: Any, packed: Any, scale: float, zero: int, x: tuple[float, int]) -> None:
        super().__init__()
        self.operator, self.packed, self.scale, self.zero, self.x = operator, packed, scale, zero, x

    def forward(self, x):
        made = self.operator(torch.quantize_per_tensor(x, *self.x, torch.quint8), self.packed, self.scale, self.zero)
        return made.int_repr(), made.dequantize()


REDUCED = 128
"""Integers of the data of a product: of more, FBGEMM's kernels for channels by themselves, and all of them on machines
without VNNI, saturate sums of two products, which is why its quantisers leave a bit unused."""
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


# -- models ----------------------------------------------------------------------------------------


class Residual(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1, self.relu = nn.BatchNorm2d(outputs), nn.ReLU()
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.add = torch.ao.nn.quantized.FloatFunctional()
        self.down = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        self.fused = [["conv1", "bn1", "relu"], ["conv2", "bn2"], ["down.0", "down.1"]]

    def forward(self, x):
        return self.add.add_relu(self.conv2(self.relu(self.conv1(x))), self.down(x))


class Inverted(nn.Module):
    """MobileNetV2's block: to more channels, each by itself, back, and a way around."""

    def __init__(self, count: int) -> None:
        super().__init__()
        wide = count * 4
        self.body = nn.Sequential(
            nn.Conv2d(count, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, count, 1, bias=False), nn.BatchNorm2d(count),
        )  # fmt: skip
        self.add = torch.ao.nn.quantized.FloatFunctional()
        self.fused = [["body.0", "body.1"], ["body.3", "body.4"], ["body.6", "body.7"]]

    def forward(self, x):
        return self.add.add(x, self.body(x))


class Images(nn.Module):
    def __init__(self, *blocks: Any, channels: int) -> None:
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.stem, self.relu, self.pool = nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2)
        self.blocks, self.mean, self.fc = nn.Sequential(*blocks), nn.AdaptiveAvgPool2d(1), nn.Linear(channels, 10)
        self.fused = [["stem", "relu"]]

    def forward(self, x):
        x = self.blocks(self.pool(self.relu(self.stem(self.quant(x)))))
        return self.dequant(self.fc(self.mean(x).flatten(1)))


def quantised(model: Any, x: Any) -> Any:
    """The model in eager mode's static quantisation, calibrated on a few inputs like x."""
    from torch.ao.quantization import convert, fuse_modules, get_default_qconfig, prepare

    model.eval()
    for module in model.modules():
        if hasattr(module, "fused"):
            fuse_modules(module, module.fused, inplace=True)
    model.qconfig = get_default_qconfig("fbgemm")
    model = prepare(model)
    for _ in range(3):
        model(torch.randn_like(x))
    return convert(model)


MODELS: dict[str, Callable[[], Any]] = {
    "ResNet": lambda: Images(Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2), channels=64),
    "MobileNet": lambda: Images(Inverted(16), Inverted(16), channels=16),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", ["traced", "scripted", "frozen"])
def test_models_of_images(name: str, way: str) -> None:
    torch.manual_seed(1)
    x = torch.randn(1, 3, 64, 64)
    model = quantised(MODELS[name](), x)
    script = torch.jit.trace(model, x) if way == "traced" else torch.jit.script(model)
    script = torch.jit.freeze(script) if way == "frozen" else script
    equal(list(zip(arrays(model(x)), compiled(script, [x]), strict=True)))


LAYERS: dict[str, Any] = {
    "Conv1d": (lambda: nn.Conv1d(8, 6, 3, padding=1), (2, 8, 12)),
    "Conv1d with reflections": (lambda: nn.Conv1d(8, 6, 3, padding=1, padding_mode="reflect"), (2, 8, 12)),
    "Conv2d with reflections": (lambda: nn.Conv2d(8, 6, 3, padding=1, padding_mode="reflect"), (2, 8, 9, 10)),
    "Conv3d": (lambda: nn.Conv3d(8, 6, 3, padding=1), (1, 8, 5, 6, 7)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(8), (2, 8, 9, 10)),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(8), (1, 8, 5, 6, 7)),
    "LayerNorm": (lambda: nn.LayerNorm(10), (2, 8, 9, 10)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(8, affine=True), (2, 8, 9, 10)),
    "ELU": (lambda: nn.ELU(), (2, 8, 8, 8)),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.2), (2, 8, 8, 8)),
    "Hardswish": (lambda: nn.Hardswish(), (2, 8, 8, 8)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (2, 8, 8, 8)),
    "Linear, ReLU": (lambda: nn.Sequential(nn.Linear(16, 5), nn.ReLU()), (4, 16)),
}


class Layer(nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.layer = layer

    def forward(self, x):
        return self.dequant(self.layer(self.quant(x)))


@pytest.mark.parametrize("name", LAYERS)
def test_layers_that_are_converted(name: str) -> None:
    """Modules of torch.ao.nn.quantized, whose weights a script packs as it is read; traced and scripted alike."""
    make, shape = LAYERS[name]
    torch.manual_seed(6)
    x = torch.randn(shape)
    model = quantised(Layer(make()), x)
    for script in (torch.jit.trace(model, x), torch.jit.script(model)):
        equal([(model(x).numpy(), compiled(script, [x])[0])])


def test_a_model_of_fx() -> None:
    """What convert_fx makes: scales are buffers, sums with numbers, channels cut and put together."""
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.again, self.fc = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(16, 5)

        def forward(self, x):
            x = torch.relu(self.bn(self.conv(x)))
            y = self.again(x)
            x = torch.cat([torch.relu(x + y) * 0.5 + 1, F.hardswish(y)], 1)
            x = F.avg_pool2d(F.interpolate(x, scale_factor=2.0), 2)
            return self.fc(torch.sigmoid(x).mean([2, 3]))

    torch.manual_seed(2)
    x = torch.randn(2, 3, 8, 8)
    model = prepare_fx(Net().eval(), get_default_qconfig_mapping("fbgemm"), (x,))
    for _ in range(3):
        model(torch.randn_like(x))
    equal(outcomes(convert_fx(model), [x]))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)
        self.first, self.second = nn.LayerNorm(32), nn.LayerNorm(32)

    def forward(self, x):
        q, k, v = (t.reshape(2, 6, 4, 8).transpose(1, 2) for t in self.qkv(self.first(x)).chunk(3, -1))
        scores = torch.softmax(q @ k.transpose(-1, -2) * 8**-0.5, -1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(2, 6, 32))
        return x + self.down(torch.relu(self.up(self.second(x))))


@pytest.mark.parametrize("dtype", ["qint8", "float16"])
def test_a_transformer_with_dynamic_layers(dtype: str) -> None:
    """Floats between the layers are rounded otherwise, and a step of the data's scale moves with their ends."""
    torch.manual_seed(3)
    model = torch.ao.quantization.quantize_dynamic(Transformer().eval(), {nn.Linear}, dtype=getattr(torch, dtype))
    for expected, found in outcomes(model, [torch.randn(2, 6, 32)]):
        assert abs(expected - found).max() < 0.01 and np.mean(abs(expected - found)) < 1e-3


@pytest.mark.parametrize("per_channel", [False, True])
def test_dynamic_layers(per_channel: bool) -> None:
    """The scale is chosen from the data: small ones, all of one sign, and none."""
    from torch.ao.quantization import default_dynamic_qconfig, per_channel_dynamic_qconfig, quantize_dynamic

    chosen = per_channel_dynamic_qconfig if per_channel else default_dynamic_qconfig
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(33, 48), nn.ReLU(), nn.Linear(48, 7, bias=False)).eval()
    model = quantize_dynamic(model, {nn.Linear: chosen})
    x = torch.randn(2, 5, 33)
    data = BytesIO()
    torch.jit.save(torch.jit.trace(model, x), data)
    exe = lamina.compile(data.getvalue(), threads=1, shapes={"input": (2, 5, 33)})
    for given in (x, x * 90, x.abs() + 3, -x.abs() - 3, x * 1e-4, x.abs() * 1e-6, x * 0):
        expected = model(given).detach().numpy()
        made: Any = exe(given.numpy())
        np.testing.assert_array_equal(made[0] if isinstance(made, (list, tuple)) else made, expected)


class Recurrent(nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        made = self.layer(x)
        if isinstance(made, torch.Tensor):
            return made
        rest = made[1] if isinstance(made[1], tuple) else made[1:]
        return (made[0], *rest)


RECURRENT: dict[str, Any] = {
    "LSTM": (lambda: nn.LSTM(5, 6), (7, 2, 5)),
    "LSTM of layers": (lambda: nn.LSTM(5, 6, 2, bidirectional=True, batch_first=True), (2, 4, 5)),
    "GRU": (lambda: nn.GRU(5, 6, 2), (5, 3, 5)),
    "LSTMCell": (lambda: nn.LSTMCell(5, 6), (3, 5)),
    "GRUCell": (lambda: nn.GRUCell(5, 6), (3, 5)),
    "RNNCell": (lambda: nn.RNNCell(5, 6, nonlinearity="relu"), (3, 5)),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers(name: str) -> None:
    """Sigmoids differ by a unit in the last place, which a step of the state's scale seldom shows."""
    make, shape = RECURRENT[name]
    torch.manual_seed(5)
    kinds = {nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell}
    model = torch.ao.quantization.quantize_dynamic(Recurrent(make()).eval(), kinds)
    for expected, found in outcomes(model, [torch.randn(shape)]):
        assert abs(expected - found).max() < 0.01 and np.mean(abs(expected - found) > 1e-5) <= 0.05


class Chained(nn.Module):
    """Two convolutions, whose results have the channels last in memory, and what is done with them."""

    def __init__(self, function: Callable[[Any, Any], Any], count: int) -> None:
        super().__init__()
        rng = np.random.default_rng(count)
        self.function = function
        self.first, self.second = (
            Q.conv2d_prepack(weight_of(rng, (count, 3, 3, 3), "channel", 0), None, [1, 1], [1, 1], [1, 1], 1)
            for _ in range(2)
        )

    def forward(self, x):
        q = torch.quantize_per_tensor(x, 0.05, 60, torch.quint8)
        made = self.function(Q.conv2d(q, self.first, 0.5, 101), Q.conv2d(q, self.second, 0.25, 77))
        return [v.int_repr() for v in (made if isinstance(made, (tuple, list)) else [made])]


CHAINS: dict[str, Callable[[Any, Any], Any]] = {
    "pool": lambda x, y: (F.avg_pool2d(x, 2), F.avg_pool2d(y, 3, 2, 1), F.avg_pool2d(F.max_pool2d(x, 3, 1, 1), 2)),
    "one mean": lambda x, y: (F.adaptive_avg_pool2d(x, 1), y.mean([2, 3])),
    "cat": lambda x, y: (Q.cat([x, y], 1, 0.5, 3), torch.cat([x, y], 1), torch.cat([x, y], 2)),
    "sums": lambda x, y: (Q.add(x, y, 0.5, 31), Q.add_relu(Q.mul(x, y, 4.0, 9), y, 2.0, 1)),
    "sums with what lies otherwise": lambda x, y: (
        Q.add(x, y.contiguous(), 0.5, 31),
        Q.add_relu(x.contiguous(), y, 0.5, 1),
    ),
    "functions": lambda x, y: (F.avg_pool2d(Q.hardswish(x, 0.5, 7), 2), F.avg_pool2d(torch.sigmoid(y), 2)),
    "pool of what was moved": lambda x, y: (
        F.avg_pool2d(x.flip([2]), 2),
        F.avg_pool2d(F.interpolate(y, scale_factor=2.0), (2, 1), 1),
        F.avg_pool2d(F.interpolate(x, scale_factor=2.0, mode="nearest-exact"), (1, 2), 1),
        F.avg_pool2d(F.interpolate(y, scale_factor=2.0, mode="bilinear"), (1, 2), 1),
    ),
    "pool of other formats": lambda x, y: (
        F.avg_pool2d(Q.elu(x, 0.5, 31), 2),
        F.avg_pool2d(torch.channel_shuffle(y, 4), 2),
        F.avg_pool2d(torch.cat([x, y], 2), 2),
        F.avg_pool2d(F.pad(x, (1, 1, 1, 1), value=0.5), 2),
        F.avg_pool2d(Q.batch_norm2d(y.contiguous(), *(v.repeat(8) for v in NORM), 1e-5, 0.5, 31), 2),
        F.avg_pool2d(Q.layer_norm(x, [8], None, None, 1e-5, 0.5, 31), (1, 2)),
    ),
    "pool of a clone": lambda x, y: (F.avg_pool2d(torch.relu(x).contiguous(), 2), F.avg_pool2d(y.clone(), 2)),
}


@pytest.mark.parametrize("name", CHAINS)
def test_images_that_lie_with_their_channels_last(name: str) -> None:
    """Halves go the way of ATen's kernels for them, which have vectors of channels."""
    whole = np.random.default_rng(1).integers(0, REDUCED, (1, 3, 8, 8))
    x = torch.tensor((whole - 60) * 0.05, dtype=torch.float32)
    equal(outcomes(Chained(CHAINS[name], VECTOR), [x]))
