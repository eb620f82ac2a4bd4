"""Quantised functions of one tensor give LiteRT's integers, to the bit, for every byte there is."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from ai_edge_litert.interpreter import (  # noqa: E402  # pyright: ignore[reportMissingTypeStubs]
    Interpreter,
    OpResolverType,
)
from litert import check, ours, run, same  # noqa: E402
from quantized_cases import integers, q  # noqa: E402
from tflite_build import T, one  # noqa: E402

SCALES = [(0.031, -7), (0.11, 40), (0.003, -128)]


def every(dtype: str) -> Any:
    """All integers of a type of bytes, or some thousands of 16 bits."""
    if dtype == "int16":
        return np.append(integers((1, 8000), dtype), np.arange(-2000, 2000)).astype(np.int16).reshape(1, -1)
    low = 0 if dtype == "uint8" else -128
    return np.arange(low, low + 256).astype(dtype).reshape(1, 256)


def check_every(name: str, dtype: str, source: tuple[float, int], target: tuple[float, int], **options: Any) -> None:
    def at(point: int) -> int:
        return 0 if dtype == "int16" else point + 128 if dtype == "uint8" else point

    x = every(dtype)
    operand, made = (q(x.shape, s, at(z), dtype) for s, z in (source, target))
    check(one(name, [operand], [made], **options), [x])


@pytest.mark.parametrize("name", ["RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("source", SCALES)
@pytest.mark.parametrize("target", SCALES)
def test_rectifiers(name: str, dtype: str, source: Any, target: Any) -> None:
    check_every(name, dtype, source, target)


@pytest.mark.parametrize("name", ["RELU", "RELU6"])
def test_rectifiers_of_16_bits(name: str) -> None:
    check_every(name, "int16", (0.0003, 0), (0.0004, 0))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.7])
@pytest.mark.parametrize("target", SCALES)
def test_leaky_relu(dtype: str, alpha: float, target: Any) -> None:
    check_every("LEAKY_RELU", dtype, (0.031, -7), target, alpha=alpha)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("target", SCALES)
def test_prelu(dtype: str, target: Any) -> None:
    shift = 128 if dtype == "uint8" else 0
    x, y = q((1, 16, 16, 5), 0.031, shift - 7, dtype), q((1, 16, 16, 5), target[0], shift + target[1], dtype)
    alpha = T.of(integers((1, 1, 5), dtype, 3), scale=0.017, zero_point=shift + 4)
    check(one("PRELU", [x, alpha], [y]), [integers(x.shape, dtype)])


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("target", SCALES)
def test_abs(dtype: str, target: Any) -> None:
    check_every("ABS", dtype, (0.031, -7), target)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("source", SCALES)
def test_logistic(dtype: str, source: Any) -> None:
    check_every("LOGISTIC", dtype, source, (1 / 256, -128))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("source", SCALES)
def test_tanh(dtype: str, source: Any) -> None:
    check_every("TANH", dtype, source, (1 / 128, 0))


@pytest.mark.parametrize("name", ["LOGISTIC", "TANH"])
@pytest.mark.parametrize("unit", [2.0**-12, 2.0**-11, 0.0003, 0.00011, 0.0021])
def test_sigmoids_of_16_bits(name: str, unit: float) -> None:
    check_every(name, "int16", (unit, 0), (2.0**-15, 0))


@pytest.mark.parametrize("source", SCALES)
@pytest.mark.parametrize("target", SCALES)
@pytest.mark.parametrize("name", ["EXP", "LOG"])
def test_tables(name: str, source: Any, target: Any) -> None:
    check_every(name, "int8", source, target)


@pytest.mark.parametrize("name", ["EXP", "LOG", "RSQRT"])
@pytest.mark.parametrize(("unit", "out"), [(0.0003, 0.0004), (0.00011, 0.002), (0.002, 0.01)])
def test_tables_of_16_bits(name: str, unit: float, out: float) -> None:
    if name == "RSQRT":
        x, y = q((1, 4000), unit, 0, "int16"), q((1, 4000), out, 0, "int16")
        check(one(name, [x], [y]), [np.arange(0, 32000, 8).astype(np.int16).reshape(1, -1)])
    else:
        check_every(name, "int16", (unit, 0), (out, 0))


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("source", SCALES)
def test_gelu(dtype: str, approximate: bool, source: Any) -> None:
    check_every("GELU", dtype, source, (0.02, 5), approximate=approximate)


def test_neg() -> None:
    check_every("NEG", "int8", (0.03, 5), (0.06, -7))


@pytest.mark.parametrize("target", SCALES)
@pytest.mark.parametrize("unit", [0.031, 0.4])
def test_sqrt(unit: float, target: Any) -> None:
    check_every("SQRT", "int8", (unit, -128), target)


@pytest.mark.parametrize("source", SCALES)
@pytest.mark.parametrize("target", SCALES)
def test_elu(source: Any, target: Any) -> None:
    # It has one kernel, which is not among the reference ones.
    x = every("int8")
    data = one("ELU", [q(x.shape, *source)], [q(x.shape, *target)])
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    it: Any = Interpreter(model_content=data, experimental_op_resolver_type=kind)
    it.allocate_tensors()
    same(ours(data, [x]), run(it, [x]))


@pytest.mark.parametrize("target", SCALES)
@pytest.mark.parametrize("unit", [0.031, 0.4])
def test_rsqrt(unit: float, target: Any) -> None:
    check_every("RSQRT", "int8", (unit, -128), target)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(("unit", "out"), [(0.031, 0.031), (0.11, 0.1), (0.003, 0.003), (0.4, 0.7), (0.05, 0.3)])
@pytest.mark.parametrize("point", [-7, 40, -128])
def test_hard_swish(dtype: str, unit: float, out: float, point: int) -> None:
    check_every("HARD_SWISH", dtype, (unit, point), (out, -100))
