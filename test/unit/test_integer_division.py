"""Integer division in a compiled model: x / 0 is an error that names the node, all else is what NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

import lamina
from lamina.backends.cpu.jit import host_target
from lamina.dialects.target import TARGET
from lamina.driver.execute import run_module
from lamina.errors import LaminaError
from lamina.frontends.onnx import load_onnx
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline, run_pipeline

Array = np.ndarray[Any, Any]

MESSAGE = "integer division by zero"
TIR_PASSES = "te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop"


def division(op: str, dtype: str, shape: list[int], divisor_shape: list[int], **attrs: Any) -> ModelProto:
    """A division between two other nodes."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [
        helper.make_node("Add", ["a", "a"], ["twice"], name="before"),
        helper.make_node(op, ["twice", "b"], ["q"], name="the_division", **attrs),
        helper.make_node("Cast", ["q"], ["y"], name="after", to=TensorProto.FLOAT),
    ]
    inputs = [helper.make_tensor_value_info(n, kind, s) for n, s in (("a", shape), ("b", divisor_shape))]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def operands(dtype: str, shape: list[int], divisor_shape: list[int]) -> dict[str, Array]:
    random = np.random.default_rng(7)
    low = 0 if dtype.startswith("uint") else -40
    a = random.integers(low, 40, shape).astype(dtype)
    b = random.integers(1, 9, divisor_shape) * (1 if low == 0 else random.choice([-1, 1], divisor_shape))
    return {"a": a, "b": np.array(b, dtype)}


def truncated(a: Array, b: Array) -> Array:
    return np.trunc(a.astype(np.float64) / b)


CASES: list[tuple[str, dict[str, int], Any]] = [
    ("Div", {}, truncated),
    ("Mod", {}, np.mod),
    ("Mod", {"fmod": 1}, np.fmod),
]


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8"])
@pytest.mark.parametrize(("op", "attrs", "expected"), CASES, ids=["div", "mod", "fmod"])
def test_a_zero_anywhere_is_an_error_and_its_absence_is_none(
    op: str, attrs: dict[str, int], expected: Any, dtype: str, opt_level: int
) -> None:
    # 83 elements: whole vectors, and a tail whose idle lanes hold zeros that nobody divides by.
    shape = [1, 83]
    exe = lamina.compile(division(op, dtype, shape, shape, **attrs), opt_level=opt_level, threads=1)
    inputs = operands(dtype, shape, shape)
    (found,) = exe.run(inputs).values()
    np.testing.assert_array_equal(found, expected(inputs["a"] + inputs["a"], inputs["b"]).astype(np.float32))
    for place in (0, 40, 82):
        wrong = inputs | {"b": inputs["b"].copy()}
        wrong["b"][0, place] = 0
        with pytest.raises(LaminaError) as raised:
            exe.run(wrong)
        assert str(raised.value) == f"node 'the_division': {MESSAGE}"
    (again,) = exe.run(inputs).values()
    np.testing.assert_array_equal(again, found, "an error leaves nothing behind")


@pytest.mark.parametrize("divisor_shape", [[], [1], [5, 1], [3, 1, 7]])
def test_a_broadcast_divisor_is_checked(divisor_shape: list[int]) -> None:
    shape = [3, 5, 7]
    exe = lamina.compile(division("Div", "int32", shape, divisor_shape), threads=2)
    inputs = operands("int32", shape, divisor_shape)
    exe.run(inputs)
    inputs["b"].reshape(-1)[-1] = 0
    with pytest.raises(LaminaError, match=f"node 'the_division': {MESSAGE}"):
        exe.run(inputs)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_the_smallest_integer_by_minus_one_wraps_as_in_numpy(dtype: str) -> None:
    low = np.iinfo(dtype).min
    exe = lamina.compile(division("Div", dtype, [2], [2]))
    (found,) = exe.run({"a": np.array([low // 2, 3], dtype), "b": np.array([-1, -1], dtype)}).values()
    np.testing.assert_array_equal(found, np.array([low, -6], np.float32))


def test_a_constant_divisor_needs_no_check() -> None:
    model = division("Div", "int32", [4], [4])
    model.graph.initializer.append(helper.make_tensor("b", TensorProto.INT32, [4], [1, 2, 3, 4]))
    del model.graph.input[1]
    assert "check" not in lamina.compile(model).text("relay")


def levels(model: ModelProto) -> dict[str, ModuleOp]:
    """The model before and after each stair, down to vectors."""
    found: dict[str, ModuleOp] = {}
    ctx = LaminaContext()
    for name, pipeline in (
        ("relay", ""),
        ("te", "relay-fuse-ops,relay-to-te"),
        ("naive tir", "relay-fuse-ops,relay-to-te,te-to-tir"),
        ("vectorized tir", f"relay-fuse-ops,relay-to-te,cpu-schedule,{TIR_PASSES}"),
        ("llvm", f"relay-fuse-ops,relay-to-te,cpu-schedule,{TIR_PASSES},tir-plan-memory,tir-to-llvm"),
    ):
        module = load_onnx(model).module
        module.attributes[TARGET] = host_target(1)
        run_pipeline(module, ctx, parse_pipeline(pipeline))
        found[name] = module
    return found


def test_all_levels_agree_on_what_is_an_error() -> None:
    shape = [19]
    modules = levels(division("Mod", "int32", shape, shape))
    right = operands("int32", shape, shape)
    wrong = right | {"b": right["b"].copy()}
    wrong["b"][18] = 0
    for module in modules.values():
        run_module(module, LaminaContext(), "main", right)
        with pytest.raises(LaminaError, match=MESSAGE):
            run_module(module, LaminaContext(), "main", wrong)
