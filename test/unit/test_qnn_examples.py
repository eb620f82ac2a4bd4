"""The passes of examples/qnn_passes.py: what they leave, when they refrain, and that their equations hold."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lamina.dialects.infos import TensorInfo
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.rules.equations import check_rule

FILE = Path(__file__).parents[2] / "examples" / "qnn_passes.py"


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("qnn_passes", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["qnn_passes"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def one(shape: tuple[int, ...], dtype: str) -> Callable[[Any], TensorInfo]:
    def draw(rng: Any) -> TensorInfo:
        return TensorInfo(shape, dtype)

    return draw


def some(*values: float) -> Callable[[Any], float]:
    def draw(rng: Any) -> float:
        return float(rng.choice(values))

    return draw


def test_the_model_loses_its_float_weights_and_its_clip(example: Any) -> None:
    text = example.main()
    assert "dense<[[64, -32, 96], [127, 0, -64]]> : tensor<2x3xi8>" in text
    assert "qnn.quantize" not in text and "clip" not in text


def test_the_equation_of_constants_holds(example: Any) -> None:
    (rule,) = example.const_fold.equations
    drawn = rule.drawing(x=one((3, 4), "float32"), s=one((), "float32"), z=one((), "int32")).finite()
    assert check_rule(drawn) >= 20


def test_the_equation_of_clips_holds(example: Any) -> None:
    (rule,) = example.remove_clip.equations
    scalars = {"scale": "float32", "zero": "int32", "output_scale": "float32", "output_zero": "int32"}
    draws: dict[str, Any] = {name: one((), dtype) for name, dtype in scalars.items()}
    draws |= {"low": some(-(2.0**31), -128, 0), "y": one((3, 4), "int32")}
    draws["high"] = some(127, 255, 2.0**31)
    assert check_rule(rule.drawing(**draws).finite()) >= 20


def test_a_clip_that_cuts_and_a_quantize_of_no_constant_stay(example: Any) -> None:
    ctx = LaminaContext()
    model = example.MODEL.replace("a_min = 0.0", "a_min = 3.0").replace(
        "%weight = relay.constant dense<[[0.5, -0.25, 0.75], [1.0, 0.0, -0.5]]> : tensor<2x3xf32>",
        '%weight = relay.cast %x {dtype = "float32"} : (tensor<2x3xui8>) -> tensor<2x3xf32>',
    )
    module = parse_text(ctx, model, "model")
    before = str(module)
    example.QnnQuantizeConstFold().apply(ctx, module)
    example.RemoveClipAfterRequantize().apply(ctx, module)
    assert str(module) == before
