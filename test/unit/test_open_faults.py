"""Models of open extents that a review has broken: each is one program for all sizes, right at every size tried."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina import transform
from lamina.errors import InputError

pytestmark = pytest.mark.slow

F, U8, I32 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT32
node = helper.make_node


def port(name: str, shape: Any, code: int = F) -> Any:
    return helper.make_tensor_value_info(name, code, shape)


def made(nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: dict[str, Any] | None = None) -> Any:
    tensors = [numpy_helper.from_array(np.asarray(a), n) for n, a in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def drawn(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def check(model: Any, fed: list[dict[str, Any]], all_sizes: bool = True, **how: Any) -> None:
    """One program, without a line that says otherwise, and results as onnxruntime's."""
    session = pytest.importorskip("onnxruntime").InferenceSession(model.SerializeToString())
    with warnings.catch_warnings():
        warnings.simplefilter("error" if all_sizes else "ignore")
        exe = lamina.compile(model, threads=1, cache=False, **how)
        for inputs in fed:
            for found, expected in zip(exe.run(inputs).values(), session.run(None, inputs), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_a_mask_over_all_channels_beside_a_convolution() -> None:
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
        node("ReduceMax", ["c"], ["m"], axes=[1], keepdims=1),
        node("Sigmoid", ["m"], ["s"]),
        node("Mul", ["c", "s"], ["y"]),
    ]
    for shape in (["b", 8, 5, 7], ["b", 8, "h", "q"]):
        model = made(nodes, [port("x", shape)], [port("y", None)], {"w": drawn(16, 8, 3, 3)})
        check(model, [{"x": drawn(n, 8, 5, 7)} for n in (1, 3)])


@pytest.mark.parametrize("shape", [["b", 8, 5, 7], [1, 8, "h", "q"]])
def test_convolutions_of_bytes_with_zero_points(shape: list[Any]) -> None:
    weights: dict[str, Any] = {
        "w": np.random.default_rng(0).integers(0, 255, (16, 8, 3, 3)).astype(np.uint8),
        "xz": np.uint8(3),
        "wz": np.uint8(100),
    }
    nodes = [node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], pads=[1] * 4)]
    model = made(nodes, [port("x", shape, U8)], [port("y", None, I32)], weights)
    check(model, [{"x": np.random.default_rng(1).integers(0, 255, (1, 8, 5, 7)).astype(np.uint8)}])


def test_parts_of_the_machine_that_are_no_program_for_all_sizes() -> None:
    weights = {
        "w": np.random.default_rng(0).integers(0, 255, (16, 8, 3, 3)).astype(np.uint8),
        "xz": np.uint8(3),
        "wz": np.uint8(100),
        "z0": np.array([0]),
    }
    nodes = [
        node("NonZero", ["sel"], ["nz"]),
        node("Squeeze", ["nz", "z0"], ["ix"]),
        node("Gather", ["x", "ix"], ["g"]),
        node("ConvInteger", ["g", "w", "xz", "wz"], ["y"], pads=[1] * 4),
    ]
    ports = [port("sel", [3]), port("x", [3, 8, 9, 9], U8)]
    model = made(nodes, ports, [port("y", None, I32)], weights)
    x = np.random.default_rng(1).integers(0, 255, (3, 8, 9, 9)).astype(np.uint8)
    check(model, [{"sel": np.array(s, np.float32), "x": x} for s in ([1, 0, 1], [0, 1, 0], [1, 1, 1])])


def test_stacks_of_matrices_whose_batches_have_other_names() -> None:
    model = made(
        [node("MatMul", ["x", "y"], ["z"])], [port("x", ["a", "n", 8]), port("y", ["b", 8, 6])], [port("z", None)]
    )
    check(model, [{"x": drawn(b, n, 8), "y": drawn(b, 8, 6)} for b, n in ((2, 3), (1, 1), (4, 17))])
    check(model, [{"x": drawn(3, 2, 8), "y": drawn(1, 8, 6)}], all_sizes=False)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_a_batch_that_is_not_resized(mode: str) -> None:
    nodes = [node("Resize", ["x", "", "s"], ["y"], mode=mode, coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor")]  # fmt: skip
    scales = {"s": np.array([1, 1, 2, 2], np.float32)}
    model = made(nodes, [port("x", ["b", 3, 4, 5])], [port("y", None)], scales)
    check(model, [{"x": drawn(b, 3, 4, 5)} for b in (1, 2, 7)])


def test_one_extent_of_many_elements() -> None:
    """What is flattened is no element where there is none; a transposed convolution asks for more than one."""
    flat = made([node("Reshape", ["x", "s"], ["y"])], [port("x", ["n", 6])], [port("y", None)], {"s": np.array([-1])})
    check(flat, [{"x": drawn(n, 6)} for n in (1, 4, 33)])
    parts = made([node("Split", ["x"], ["y", "z"], axis=0)], [port("x", ["w", 3])], [port("y", None), port("z", None)])
    check(parts, [{"x": drawn(n, 3)} for n in (2, 4, 30)])
    wide = made(
        [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])], [port("x", [1, 3, "h", "v"])], [port("y", None)],
        {"w": drawn(3, 4, 2, 2)},
    )  # fmt: skip
    check(wide, [{"x": drawn(1, 3, h, v)} for h, v in ((2, 3), (9, 16), (5, 2))])


def test_a_product_without_rows() -> None:
    weights = {"w": drawn(8, 5)}
    for shape in ([0, 8], ["n", 8]):
        model = made([node("MatMul", ["x", "w"], ["y"])], [port("x", shape)], [port("y", None)], weights)
        check(model, [{"x": drawn(0, 8)}])


def test_a_model_that_has_changed_is_not_mixed_with_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"

    def model(factor: float) -> Any:
        nodes = [node("Add", ["x", "y"], ["a"]), node("Mul", ["a", "c"], ["z"])]
        ports = [port("x", ["n", 3]), port("y", ["m", 3])]
        return made(nodes, ports, [port("z", None)], {"c": np.float32(factor)})

    path.write_bytes(model(2).SerializeToString())
    exe = lamina.compile(path, threads=1, cache=False)
    path.write_bytes(model(5).SerializeToString())
    x = np.ones((4, 3), np.float32)
    assert exe(x, x)[0, 0] == 4
    with pytest.raises(InputError, match="the model has changed since it was compiled"):
        exe(x, x[:1])
    path.write_bytes(model(2).SerializeToString())
    with pytest.warns(UserWarning, match="alone"):
        assert exe(x, x[:1])[0, 0] == 4


def test_sizes_that_are_given_by_name() -> None:
    model = made([node("Add", ["x", "y"], ["z"])], [port("x", ["n", 3]), port("y", ["m", 3])], [port("z", None)])
    exe = lamina.compile(model, threads=1, cache=False)
    with exe, pytest.warns(UserWarning, match="alone"):
        for rows in (4, 1):
            found = exe.run({"n": 4, "x": drawn(4, 3), "y": drawn(rows, 3)})["z"]
            np.testing.assert_array_equal(found, drawn(4, 3) + drawn(rows, 3))


def test_tokens_of_a_sequence_that_may_be_empty() -> None:
    nodes = [node("Gather", ["table", "ids"], ["logits"])]
    ports = [port("ids", [1, "s"], TensorProto.INT64)], [port("logits", [1, "s", 6])]
    table = drawn(20, 6)
    loaded = lamina.load(made(nodes, *ports, {"table": table}), {"s": "?"})
    exe = lamina.compile(transform.SampleToken()(loaded), threads=1, cache=False)
    for ids in ([[3]], [[4, 7, 19]]):
        assert exe.run({"ids": np.array(ids)})["token"][0, 0] == table[ids[0][-1]].argmax()
    with pytest.raises(InputError, match="size 's': 0 given, it is from 1"):
        exe.run({"ids": np.zeros((1, 0), np.int64)})


def test_extents_that_a_narrowed_range_decides() -> None:
    """The second slice is for 46 to 48 elements, of which the first leaves four, whatever their number."""
    names = {"first": -28, "last": 30, "axis": 0, "step": 3, "from": 4, "to": 5}
    nodes = [
        helper.make_node("Slice", ["x", "first", "last", "axis", "step"], ["s"]),
        helper.make_node("Slice", ["s", "from", "to", "axis"], ["y"]),
    ]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.INT32, shape) for name, shape in (("x", ["n"]), ("y", None))
    ]
    weights = [numpy_helper.from_array(np.asarray([n], np.int64), name) for name, n in names.items()]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for level in (0, 3):
        exe = lamina.compile(model, threads=1, cache=False, shapes={"n": f"1..{1 << 30}"}, opt_level=level)
        for n in (46, 48):
            x = np.arange(n, dtype=np.int32)
            np.testing.assert_array_equal(exe.run({"x": x})["y"], x[-28:30:3][4:5])


@pytest.mark.parametrize(("upper", "k"), [(0, 0), (1, 1), (1, -2), (0, 3)])
def test_a_triangle_of_an_open_matrix(upper: int, k: int) -> None:
    nodes = [node("Trilu", ["x", "k"], ["y"], upper=upper)]
    model = made(nodes, [port("x", ["b", "n", "m"])], [port("y", ["b", "n", "m"])], {"k": np.int64(k)})
    check(model, [{"x": drawn(*shape)} for shape in ((2, 5, 7), (1, 1, 9), (3, 40, 17))])


@pytest.mark.parametrize("step", [-1, -3, 2])
def test_a_range_down_from_an_open_extent(step: int) -> None:
    ends = ("n", "end") if step < 0 else ("zero", "n")
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Squeeze", ["shape"], ["n"]),
        node("Range", [*ends, "step"], ["r"]),
        node("Cast", ["r"], ["y"], to=F),
        node("Neg", ["x"], ["z"]),
    ]
    weights = {"end": np.int64(-1), "zero": np.int64(0), "step": np.int64(step)}
    model = made(nodes, [port("x", ["n"])], [port("y", None), port("z", ["n"])], weights)
    check(model, [{"x": drawn(n)} for n in (5, 1, 33, 64)])


@pytest.mark.parametrize(
    ("perm", "shape"), [([1, 0, 2, 3], [-1, 12]), ([1, 0, 2, 3], [0, -1, 2, 2, 3]), ([0, 1, 2, 3], [-1, 1, 3])]
)
def test_extents_are_merged_while_numbers_are_split(perm: list[int], shape: list[int]) -> None:
    """Of x[b, n, 4, 3], turned: (n, b, 12) to (n*b, 12), and back to two extents of 12."""
    nodes = [node("Transpose", ["x"], ["t"], perm=perm), node("Reshape", ["t", "shape"], ["y"])]
    model = made(nodes, [port("x", ["b", "n", 4, 3])], [port("y", None)], {"shape": np.asarray(shape)})
    check(model, [{"x": drawn(*extents, 4, 3)} for extents in ((2, 5), (1, 1), (3, 17))])


WHOLE = [(n, target) for target in ("cpu", "x86-64-v3", "x86-64-v2") for n in (4, 8, 16, 24, 48)]
"""Vectors of each width, one and several of them, and one and a half."""


@pytest.mark.parametrize(("width", "target"), WHOLE)
@pytest.mark.parametrize("rows", [1, 9])
def test_columns_of_a_product_are_so_many_times_whole_vectors(rows: int, width: int, target: str) -> None:
    """What is left of tiles of several vectors never has all of these."""
    nodes = [node("Reshape", ["y", "shape"], ["columns"]), node("MatMul", ["x", "columns"], ["z"])]
    inputs = [port("x", [rows, 20]), port("y", [20, "n", width])]
    model = made(nodes, inputs, [port("z", None)], {"shape": np.array([20, -1])})
    fed = [{"x": drawn(rows, 20), "y": drawn(20, n, width)} for n in (1, 2, 3, 7, 20)]
    check(model, fed, target=target)


@pytest.mark.parametrize(("width", "target"), WHOLE)
def test_vectors_of_a_sum_over_rows_that_lie_apart(width: int, target: str) -> None:
    """The first two are multiplied to a matrix of n times `width` columns, read along the other axis."""
    inputs = [port("x", [5, 9]), port("y", ["n", 9, width]), port("z", [5, width])]
    model = made([node("Einsum", ["x", "y", "z"], ["o"], equation="bn,anm,bm->ba")], inputs, [port("o", None)])
    fed = [{"x": drawn(5, 9), "y": drawn(n, 9, width), "z": drawn(5, width)} for n in (1, 2, 3, 7, 20)]
    check(model, fed, shapes={"n": "1..64"}, target=target)


@pytest.mark.parametrize("width", [16, 24, 48])
def test_rows_of_a_depthwise_convolution_are_so_many_times_whole_vectors(width: int) -> None:
    nodes = [node("Reshape", ["x", "shape"], ["image"]), node("Conv", ["image", "w"], ["y"], pads=[1] * 4, group=3)]
    weights = {"shape": np.array([1, 3, 9, -1]), "w": drawn(3, 1, 3, 3)}
    model = made(nodes, [port("x", [1, 3, 9, "n", width])], [port("y", None)], weights)
    check(model, [{"x": drawn(1, 3, 9, n, width)} for n in (1, 2, 3, 7, 20)])
