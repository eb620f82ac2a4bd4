"""relay-fake-quantization-to-integer: every rule, on random integers, against the floats it replaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay import find_op
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import array_dense
from lamina.driver.execute import run_module
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline
from lamina.ir.verification import verify_module
from lamina.passes.relay.quantize.affine_rules import RULES

pytestmark = pytest.mark.slow

Shape = tuple[int, ...]

IMAGE, WEIGHT = (1, 4, 6, 5), (6, 4, 3, 3)
X = (2, 3, 4)
CASES: list[tuple[str, list[Shape], dict[str, Any], str]] = [
    ("nn.conv2d", [IMAGE, WEIGHT], {"padding": [1, 1, 1, 1]}, "per channel 0"),
    ("nn.conv2d", [IMAGE, (6, 2, 3, 3)], {"groups": 2, "strides": [2, 1]}, ""),
    ("nn.conv2d", [(1, 5, 4, 4), (3, 3, 4, 6)], {"data_layout": "NHWC", "kernel_layout": "HWIO"}, "per channel 3"),
    ("nn.conv2d_transpose", [IMAGE, (4, 3, 3, 3)], {"strides": [2, 2]}, "per channel 1"),
    ("nn.dense", [(3, 8), (5, 8)], {}, "per channel 0"),
    ("nn.dense", [(2, 3, 8), (5, 8)], {}, ""),
    ("nn.batch_matmul", [(2, 3, 8), (2, 5, 8)], {}, ""),
    ("reshape", [X], {"newshape": [4, 6]}, ""),
    ("squeeze", [(1, 3, 1)], {}, ""),
    ("transpose", [X], {"axes": [2, 0, 1]}, "per channel 1"),
    ("expand_dims", [X], {"axis": 1, "num_newaxis": 2}, "per channel 2"),
    ("strided_slice", [X], {"begin": [0, 1], "end": [2, 3]}, ""),
    ("nn.batch_flatten", [X], {}, ""),
    ("nn.max_pool2d", [IMAGE], {"pool_size": [2, 2], "padding": [1, 1]}, "per channel 1"),
    ("nn.global_max_pool2d", [(2, 4, 2, 1)], {}, ""),
    ("max", [X], {"axis": [1]}, ""),
    ("min", [X], {"axis": [-1], "keepdims": True}, ""),
    ("copy", [X], {}, ""),
    ("reverse", [X], {"axis": 1}, ""),
    ("tile", [X], {"reps": [1, 2, 1]}, ""),
    ("repeat", [X], {"repeats": 2, "axis": 1}, ""),
    ("nn.pad", [X], {"pad_width": [0, 1, 1, 0, 2, 2], "pad_value": -0.7}, ""),
    ("nn.pad", [X], {"pad_width": [0, 1, 1, 0, 2, 2], "pad_mode": "edge"}, ""),
    ("clip", [X], {"a_min": -0.33, "a_max": 0.77}, ""),
    ("nn.relu", [X], {}, "per channel 1"),
    ("nn.avg_pool2d", [IMAGE], {"pool_size": [3, 3], "padding": [1, 1], "count_include_pad": True}, "truncated"),
    ("nn.avg_pool2d", [IMAGE], {"pool_size": [2, 2], "padding": [1, 1]}, "truncated"),
    ("nn.global_avg_pool2d", [IMAGE], {}, "truncated"),
    ("add", [X, (3, 4)], {}, ""),
    ("subtract", [X, X], {}, ""),
    ("multiply", [X, (4,)], {}, ""),
    ("minimum", [X, X], {}, ""),
    ("maximum", [X, X], {}, ""),
    ("concatenate", [X, (2, 5, 4)], {"axis": 1}, ""),
    ("nn.leaky_relu", [X], {"alpha": 0.125}, ""),
    ("sigmoid", [X], {}, ""),
    ("tanh", [X], {}, ""),
    ("exp", [X], {}, ""),
    ("erf", [X], {}, ""),
    ("abs", [X], {}, ""),
]  # fmt: skip


class Model:
    """`@main` on int8 arguments, written op by op."""

    def __init__(self, shapes: list[Shape], random: np.random.Generator) -> None:
        self.random = random
        self.block = Block(arg_types=[tensor_type(s, "int8") for s in shapes])
        self.arrays = [random.integers(-128, 128, s).astype(np.int8) for s in shapes]

    def constant(self, array: Any) -> SSAValue:
        op = ConstantOp.make(array_dense(np.asarray(array)))
        self.block.add_op(op)
        return op.result

    def op(self, name: str, *operands: SSAValue, **attrs: Any) -> Any:
        op_type: Any = find_op(f"relay.{name}")
        made = op_type.make(*operands, **attrs)
        self.block.add_op(made)
        return made.results[0] if len(made.results) == 1 else made.results

    def real(self, argument: SSAValue, axis: int | None = None) -> SSAValue:
        """An argument as floats, by a scale and zero point of its own, or scales along an axis."""
        extent = () if axis is None else (tensor_info(argument.type).shape[axis],)
        scale = self.constant(self.random.uniform(0.005, 0.02, extent).astype(np.float32))
        zero = self.constant(
            self.random.integers(-9, 9, extent if axis is None else ()).astype(np.int32) * (axis is None)
        )
        return self.op("qnn.dequantize", argument, scale, zero, axis=-1 if axis is None else axis)

    def quantized(self, value: SSAValue) -> SSAValue:
        """Quantised so that nothing but outliers saturates."""
        return self.op("qnn.quantize", value, self.constant(np.float32(0.03)), self.constant(np.int32(-3)))

    def run(self, *results: SSAValue) -> tuple[ModuleOp, list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]:
        """The module after the pass, with the results before and after."""
        self.block.add_op(ReturnOp(*results))
        type_ = FunctionType.from_lists(list(self.block.arg_types), [v.type for v in results])
        module = ModuleOp([FuncOp("main", type_, Region(self.block))])
        verify_module(module)
        ctx = LaminaContext()
        before = list(run_module(module, ctx, "main", self.arrays).values())
        for p in parse_pipeline("relay-fake-quantization-to-integer{hard-fail=true},relay-dead-code-elimination"):
            p.apply(ctx, module)
        verify_module(module)
        return module, before, list(run_module(module, ctx, "main", self.arrays).values())


def assert_near(before: Any, after: Any, steps: int) -> None:
    assert before.dtype == after.dtype and before.shape == after.shape
    difference = np.abs(before.astype(int) - after.astype(int))
    assert difference.max(initial=0) <= steps, f"{difference.max()} steps apart"
    assert len(np.unique(after)) > 1 or after.size == 1, "all results are the same: the test sees nothing"


@pytest.mark.parametrize("name, shapes, attrs, kind", CASES, ids=[f"{n}-{i}" for i, (n, *_) in enumerate(CASES)])
def test_integers_give_what_floats_do(name: str, shapes: list[Shape], attrs: dict[str, Any], kind: str) -> None:
    random = np.random.default_rng([5, *name.encode()])
    model = Model(shapes, random)
    channels = int(kind.removeprefix("per channel ")) if kind.startswith("per channel") else None
    axes = [None] * (len(shapes) - 1) + [channels]
    reals = [model.real(a, axis) for a, axis in zip(model.block.args, axes, strict=True)]
    module, (before,), (after,) = model.run(model.quantized(model.op(name, *reals, **attrs)))
    left = {o.name for o in module.walk()}
    assert "relay.qnn.dequantize" not in left and "relay.qnn.quantize" not in left
    # A truncated mean is less than a step of the input off, which is less than one of the output.
    assert_near(before, after, 2 if kind == "truncated" else 1)


def test_every_rule_is_tested() -> None:
    tested = {f"relay.{n}" for n, *_ in CASES} | {"relay.nn.bias_add", "relay.split"}
    untested = {n for n in RULES if find_op(n) is not None} - tested
    # Of the same functions as their tested neighbours.
    assert untested <= {
        *("relay.log", "relay.sqrt", "relay.rsqrt", "relay.nn.softmax", "relay.nn.max_pool1d", "relay.nn.max_pool3d"),
        *("relay.nn.depth_to_space", "relay.nn.space_to_depth"),
    }


def test_a_float_bias_and_a_quantised_one() -> None:
    for quantised in (False, True):
        random = np.random.default_rng(3)
        model = Model([IMAGE, WEIGHT, (6,)], random)
        x, w = model.real(model.block.args[0]), model.real(model.block.args[1], None if quantised else 0)
        bias = (
            model.real(model.block.args[2])
            if quantised
            else model.constant(random.uniform(-1, 1, 6).astype(np.float32))
        )
        y = model.op("nn.relu", model.op("nn.bias_add", model.op("nn.conv2d", x, w), bias))
        module, (before,), (after,) = model.run(model.quantized(y))
        assert not [o for o in module.walk() if o.name == "relay.nn.conv2d"]
        assert_near(before, after, 1)


def test_parts_of_a_split_and_float_constants() -> None:
    random = np.random.default_rng(4)
    model = Model([(4, 6)], random)
    first, second = model.op("split", model.real(model.block.args[0]), indices_or_sections=[2], axis=1)
    total = model.op("add", first, model.constant(random.uniform(-1, 1, (2,)).astype(np.float32)))
    product = model.op("multiply", second, model.constant(random.uniform(-1, 1, (4,)).astype(np.float32)))
    _, before, after = model.run(model.quantized(total), model.quantized(product))
    for b, a in zip(before, after, strict=True):
        assert_near(b, a, 1)


def test_a_value_that_others_use_stays_for_them() -> None:
    random = np.random.default_rng(6)
    model = Model([(2, 8), (3, 8)], random)
    real = model.op("nn.dense", model.real(model.block.args[0]), model.real(model.block.args[1]))
    _, before, after = model.run(model.quantized(real), real)
    np.testing.assert_array_equal(before[1], after[1])
    assert_near(before[0], after[0], 1)


def test_random_chains_stay_near_the_floats() -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        model = Model([(1, 4, 6, 6), (4, 4, 3, 3)], random)
        x, w = (model.real(a) for a in model.block.args)
        for _ in range(int(random.integers(1, 4))):
            step = random.choice(["nn.relu", "nn.conv2d", "add", "nn.max_pool2d", "clip", "quantise"])
            if step == "nn.conv2d":
                x = model.op(step, x, w, padding=[1, 1])
                x = model.op(
                    "qnn.dequantize", model.quantized(x), model.constant(np.float32(0.03)), model.constant(np.int32(-3))
                )
            elif step == "add":
                x = model.op(step, x, x)
            elif step == "nn.max_pool2d":
                x = model.op(step, x, pool_size=[3, 3], padding=[1, 1])
            elif step == "clip":
                x = model.op(step, x, a_min=-0.5, a_max=0.9)
            elif step == "quantise":
                x = model.op(
                    "qnn.dequantize", model.quantized(x), model.constant(np.float32(0.03)), model.constant(np.int32(-3))
                )
            else:
                x = model.op(step, x)
        module, (before,), (after,) = model.run(model.quantized(x))
        assert not [o for o in module.walk() if o.name in ("relay.nn.conv2d", "relay.qnn.dequantize")]
        # An error of a step before a convolution of 36 weights grows with them.
        assert_near(before, after, 12)
