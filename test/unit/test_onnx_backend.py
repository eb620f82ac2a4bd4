"""The backend for `onnx.backend`: programs specialised on shape operands, sequences, types, refusals."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from lamina.compat.onnx_backend import LaminaBackend, LaminaRep
from lamina.driver.programs_by_shape import MOST_PROGRAMS, Runs
from lamina.errors import InputError
from lamina.frontends.onnx import ImportedModel

pytestmark = pytest.mark.slow


def tensor(name: str, shape: list[Any] | None, dtype: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes: list[Any], inputs: list[Any], outputs: list[Any], opset: int = 21) -> ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


class Counting(LaminaRep):
    """Counts how often it compiles."""

    built = 0

    def build(self, imported: ImportedModel) -> Runs:
        self.built += 1
        return super().build(imported)


def reshape_model() -> ModelProto:
    nodes = [helper.make_node("Reshape", ["x", "s"], ["r"]), helper.make_node("Relu", ["r"], ["y"])]
    inputs = [tensor("x", ["n", "m"]), tensor("s", ["k"], TensorProto.INT64)]
    return model_of(nodes, inputs, [tensor("y", None)])


def test_other_values_of_a_shape_operand_lead_to_another_program() -> None:
    rep = Counting(reshape_model(), opt_level=1)
    x = np.arange(-3, 3, dtype=np.float32).reshape(2, 3)
    for shape in ([3, 2], [6], [3, 2], [-1, 1]):
        (y,) = rep.run([x, np.array(shape)])
        np.testing.assert_array_equal(y, np.maximum(x, 0).reshape(shape))
    assert rep.built == 3
    rep.run([x + 1, np.array([6])])
    assert rep.built == 3, "other data needs no other program"
    rep.run([x.reshape(1, 6), np.array([6])])
    assert rep.built == 4, "another shape does"


def test_only_some_programs_are_kept() -> None:
    rep = Counting(reshape_model(), opt_level=0)
    x = np.ones((1, 60), np.float32)
    shapes = [[1] * k + [60] for k in range(MOST_PROGRAMS + 1)]
    for shape in shapes:
        rep.run([x, np.array(shape)])
    rep.run([x, np.array(shapes[-1])])
    assert rep.built == len(shapes)
    rep.run([x, np.array(shapes[0])])
    assert rep.built == len(shapes) + 1, "the one unused for longest has gone"


def test_a_shape_that_is_computed_from_inputs_fixes_them_and_much_data_is_never_fixed() -> None:
    nodes = [
        helper.make_node("Cast", ["d"], ["c"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["x", "c"], ["y"]),
    ]
    inputs = [tensor("x", ["n"]), tensor("d", ["k"])]
    rep = LaminaBackend.prepare(model_of(nodes, inputs, [tensor("y", None)]))
    (y,) = rep.run([np.arange(6, dtype=np.float32), np.array([2.0, 3.0], np.float32)])
    assert y.shape == (2, 3)
    (y,) = rep.run([np.ones(1, np.float32), np.ones(17, np.float32)])  # the machine reads it instead
    assert y.shape == (1,) * 17


def test_outputs_have_their_names_and_exact_types() -> None:
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
        helper.make_node("Cast", ["x"], ["small"], to=TensorProto.FLOAT8E4M3FN),
        helper.make_node("Cast", ["x"], ["tiny"], to=TensorProto.INT4),
        helper.make_node("Cast", ["x"], ["brief"], to=TensorProto.BFLOAT16),
    ]
    codes = (TensorProto.FLOAT, TensorProto.FLOAT8E4M3FN, TensorProto.INT4, TensorProto.BFLOAT16)
    outputs = [tensor(name, None, code) for name, code in zip(("total", "small", "tiny", "brief"), codes, strict=True)]
    x = np.array([0.3, -1.7, 500.0], np.float32)
    results = LaminaBackend.prepare(model_of(nodes, [tensor("x", [3])], outputs)).run({"x": x})
    assert results["total"].shape == () and results["total"].dtype == np.float32
    np.testing.assert_array_equal(
        results["small"], np.array([0.3, -1.7, 448], np.float32).astype(ml_dtypes.float8_e4m3fn)
    )
    np.testing.assert_array_equal(results["tiny"], x.astype(ml_dtypes.int4))
    assert results["brief"].dtype == ml_dtypes.bfloat16


def test_float8_is_computed_with_by_nothing_but_casts() -> None:
    model = model_of(
        [helper.make_node("Transpose", ["x"], ["t"]), helper.make_node("Cast", ["t"], ["y"], to=TensorProto.FLOAT)],
        [tensor("x", [2, 3], TensorProto.FLOAT8E5M2)],
        [tensor("y", None)],
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3).astype(ml_dtypes.float8_e5m2)
    np.testing.assert_array_equal(LaminaBackend.run_model(model, [x])[0], x.T.astype(np.float32))
    model.graph.node[0].op_type = "Relu"
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="of float8e5m2 is not supported"):
        LaminaBackend.run_model(model, [x])


@pytest.mark.parametrize("logical", ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1"])
def test_casts_to_narrow_floats_round_as_numpy_does(logical: str) -> None:
    """All float16 numbers, and float32 numbers around each value half way between two of the narrow type."""
    code = getattr(TensorProto, logical)
    dtype = helper.tensor_dtype_to_np_dtype(code)
    values = np.arange(1 << (4 if logical == "FLOAT4E2M1" else 8), dtype=np.uint8).view(dtype).astype(np.float32)
    finite = np.unique(values[np.isfinite(values)])
    middle = (finite[1:] + finite[:-1]) / 2
    x = np.concatenate(
        [
            np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32),
            middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf)),
        ]
    )  # fmt: skip
    if logical == "FLOAT4E2M1":
        x = x[~np.isnan(x)]  # which it has no code for
    for saturate in (0, 1) if logical != "FLOAT4E2M1" else (1,):
        attributes: dict[str, Any] = {"saturate": saturate} if logical != "FLOAT4E2M1" else {}
        node = helper.make_node("Cast", ["x"], ["y"], to=code, **attributes)
        (y,) = LaminaBackend.run_model(model_of([node], [tensor("x", [len(x)])], [tensor("y", None, code)]), [x])
        limits = cast(Any, ml_dtypes).finfo(dtype)
        clipped = np.clip(x, np.float32(limits.min), np.float32(limits.max)) if saturate else x
        expected = clipped.astype(dtype)
        same = (y.view(np.uint8) == expected.view(np.uint8)) | (np.isnan(y) & np.isnan(expected))
        assert same.all(), (saturate, x[~same][:5], y[~same][:5], expected[~same][:5])


def test_sequences_and_missing_values_come_and_go() -> None:
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    out = helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)
    nodes = [
        helper.make_node("SequenceInsert", ["s", "x"], ["t"]),
        helper.make_node("SequenceLength", ["t"], ["n"]),
    ]
    inputs = [sequence, tensor("x", [2])]
    model = model_of(nodes, inputs, [out, tensor("n", [], TensorProto.INT64)])
    parts = [np.ones((2, 3), np.float32), np.zeros((0,), np.float32)]
    last = np.array([4, 5], np.float32)
    made, count = LaminaBackend.run_model(model, [parts, last])
    assert count == 3 and [m.shape for m in made] == [(2, 3), (0,), (2,)]
    np.testing.assert_array_equal(made[2], last)


def test_a_branch_is_taken_at_run_time_where_both_give_the_same_type() -> None:
    def branch(name: str, op: str) -> Any:
        return helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [tensor(name, None)])

    nodes = [
        helper.make_node("ReduceSum", ["x"], ["total"], keepdims=0),
        helper.make_node("Greater", ["total", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch("a", "Relu"), else_branch=branch("b", "Neg")),
    ]
    model = model_of(nodes, [tensor("x", [2])], [tensor("y", None)])
    model.graph.initializer.append(helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0]))
    rep = Counting(model)
    np.testing.assert_array_equal(rep.run([np.array([3, -1], np.float32)])[0], [3, 0])
    np.testing.assert_array_equal(rep.run([np.array([-3, 1], np.float32)])[0], [3, -1])
    assert rep.built == 1


def test_all_operators_that_are_missing_are_named_at_once() -> None:
    nodes = [helper.make_node("StringNormalizer", ["x"], ["a"]), helper.make_node("RandomNormalLike", ["x"], ["b"])]
    model = model_of(nodes, [tensor("x", [2])], [tensor("a", None), tensor("b", None)])
    assert not LaminaBackend.is_compatible(model)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match=r"2 operators .*RandomNormalLike.*StringNormalizer"):
        LaminaBackend.prepare(model)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="CPU is"):
        LaminaBackend.prepare(model, "CUDA")


def test_too_few_inputs() -> None:
    with pytest.raises(InputError, match="1 inputs given, 2 expected"):
        LaminaBackend.prepare(reshape_model()).run([np.ones((1, 1), np.float32)])
