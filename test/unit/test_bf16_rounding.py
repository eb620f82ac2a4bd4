"""Floats rounded to bf16, and arithmetic in it, on machines with an instruction for it and without."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lamina
from lamina.errors import LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

BF16 = ml_dtypes.bfloat16


def compiled(body: str, arguments: str, result: str, target: str) -> Any:
    text = f"func.func @main({arguments}) -> {result} {{ {body}\n return %y : {result} }}"
    model = lamina.load(parse_text(LaminaContext(), text, "bf16.mlir"))
    try:
        return lamina.compile(model, target, threads=1, cache=False)
    except LaminaError as e:
        pytest.skip(str(e))


def floats() -> Any:
    """Every upper half with lower halves around a tie: all exponents, zeros, denormals, infinities, NaN."""
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    return (upper[:, None] | lower).reshape(-1).view(np.float32)


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
def test_floats_are_rounded_as_ml_dtypes_does(target: str) -> None:
    x = floats()
    program = compiled(
        f'%y = relay.cast %x {{dtype = "bfloat16"}} : (tensor<{x.size}xf32>) -> tensor<{x.size}xbf16>',
        f"%x: tensor<{x.size}xf32>",
        f"tensor<{x.size}xbf16>",
        target,
    )
    got = program(x)
    with np.errstate(all="ignore"):
        expected = x.astype(BF16)
    nan = np.isnan(x)
    assert np.isnan(got[nan].astype(np.float32)).all()
    assert (got[~nan].view(np.uint16) == expected[~nan].view(np.uint16)).all()


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "maximum"])
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "cpu"])
def test_an_operation_is_rounded_once(op: str, target: str) -> None:
    rng = np.random.default_rng(7)
    x, y = (np.ldexp(rng.uniform(-2, 2, 4099), rng.integers(-9, 9, 4099)).astype(BF16) for _ in range(2))
    program = compiled(
        f"%y = relay.{op} %a, %b : (tensor<4099xbf16>, tensor<4099xbf16>) -> tensor<4099xbf16>",
        "%a: tensor<4099xbf16>, %b: tensor<4099xbf16>",
        "tensor<4099xbf16>",
        target,
    )
    got = program(x, y)
    expected = getattr(np, op)(x.astype(np.float64), y.astype(np.float64)).astype(np.float32).astype(BF16)
    assert (got.view(np.uint16) == expected.view(np.uint16)).all()


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "cpu"])
@pytest.mark.parametrize("shape, split", [((2, 19, 10, 20), (2, 2)), ((1, 3, 26, 14), (2, 7)), ((1, 2, 9, 39), (3, 3))])
def test_elements_are_moved_as_they_are(shape: tuple[int, ...], split: tuple[int, int], target: str) -> None:
    """LLVM 22 shuffles some vectors of bf16 wrongly; of these extents lanes are put together from two loads."""
    n, c, h, w = shape
    a, b = split
    blocks, moved = (n, c, h // a, a, w // b, b), (n, a, b, c, h // a, w // b)
    kinds = ["x".join(map(str, s)) + "xbf16" for s in (shape, blocks, moved)]
    program = compiled(
        f"%0 = relay.reshape %x {{newshape = {[*blocks]}}} : (tensor<{kinds[0]}>) -> tensor<{kinds[1]}>\n"
        f"%y = relay.transpose %0 {{axes = [0, 3, 5, 1, 2, 4]}} : (tensor<{kinds[1]}>) -> tensor<{kinds[2]}>",
        f"%x: tensor<{kinds[0]}>",
        f"tensor<{kinds[2]}>",
        target,
    )
    x = np.random.default_rng(3).integers(0, 1 << 16, shape).astype(np.uint16).view(BF16)
    expected = x.view(np.uint16).reshape(blocks).transpose(0, 3, 5, 1, 2, 4)
    np.testing.assert_array_equal(program(x).view(np.uint16), expected)
