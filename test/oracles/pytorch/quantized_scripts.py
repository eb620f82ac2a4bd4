"""What the tests of quantised operators and of quantised models share: scripts compiled and run beside torch."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import lamina

torch = pytest.importorskip("torch")
nn = torch.nn

VECTOR = 64 if torch.backends.cpu.get_cpu_capability().startswith("AVX512") else 32
"""Bytes in a vector of ATen's kernels here."""
REDUCED = 128
"""Integers of the data of a product: of more, FBGEMM's kernels for channels by themselves, and all of them on machines
without VNNI, saturate sums of two products, which is why its quantisers leave a bit unused."""
torch.manual_seed(0)
NORM = torch.randn(8), torch.randn(8), torch.randn(8), torch.rand(8) + 0.1
"""Of eight channels: weight, bias, mean, variance."""
warnings.filterwarnings("ignore", module="torch")


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


def weight_of(rng: np.random.Generator, shape: tuple[int, ...], scheme: str, axis: int) -> Any:
    values = torch.tensor(rng.standard_normal(shape), dtype=torch.float32)
    count = shape[axis]
    if scheme == "tensor":
        return torch.quantize_per_tensor(values, 0.02, int(rng.integers(-9, 9)), torch.qint8)
    zeros = np.zeros(count) if scheme == "channel" else rng.integers(-9, 9, count)
    scales = torch.tensor(rng.uniform(0.01, 0.03, count))
    return torch.quantize_per_channel(values, scales, torch.tensor(zeros, dtype=torch.long), axis, torch.qint8)
