"""ONNX models whose extents are open: one program for all sizes, or one for each shape, without being told any."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.cli import command as cli
from lamina.errors import InputError, UnsupportedError, UsageError

pytestmark = pytest.mark.slow

W = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


def model_of(nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any]) -> ModelProto:
    ports = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in side.items()]
        for side in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "g", ports[0], ports[1], [numpy_helper.from_array(W, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


ROWS = ["batch", 4]
PRODUCT = model_of(
    [helper.make_node("Add", ["x", "b"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["y"])],
    {"x": ROWS, "b": ROWS},
    {"y": ["batch", 3]},
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "open-cache"))


def programs_by_shape(exe: Any) -> int:
    """The number of shapes that have programs of their own."""
    return len(exe._beyond.program()._programs._programs)


def test_a_model_is_one_program_for_all_batches(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(PRODUCT.SerializeToString())
    exe = lamina.compile(path, threads=1)
    again = lamina.compile(path, threads=1)
    saved = tmp_path / "m.lamina"
    exe.save(saved)
    assert [p.describe() for p in exe.inputs] == ["float32[batch, 4]"] * 2
    assert [p.describe() for p in exe.outputs] == ["float32[batch, 3]"]
    assert again.cached and "2 kernels" in repr(exe)
    for program in (exe, again, lamina.Executable.load(saved)):
        for rows in (2, 5, 1, 2):
            x, b = np.random.default_rng(rows).standard_normal((2, rows, 4)).astype(np.float32)
            assert np.allclose(program(x, b), (x + b) @ W, atol=1e-5)
            assert "total" in program.profile({"x": x, "b": b}, repeats=2).table()
    assert programs_by_shape(exe) == programs_by_shape(again) == 0
    assert "?x4xf32" in exe.text("te") and "?x4xf32" in again.text("tir")


POOLED = model_of(
    [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3])], {"x": ["n", 1, "length"]}, {"y": ["n", 1, "rest"]}
)


def test_what_no_program_for_all_takes_has_one_of_its_own() -> None:
    """Of no rows, and where an extent that others share is 1 and is repeated."""
    names = {"x": ["n", 4], "b": ["m", 4]}
    exe = lamina.compile(model_of([helper.make_node("Add", ["x", "b"], ["y"])], names, {"y": ["n", 4]}), threads=1)
    x, row = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32), np.ones((1, 4), np.float32)
    assert np.array_equal(exe(x, x), x + x)
    assert programs_by_shape(exe) == 0
    with pytest.warns(UserWarning, match=r"g is compiled for x: float32\[3, 4\], b: float32\[1, 4\] alone"):
        assert np.array_equal(exe(x, row), x + row)
    out = np.empty((3, 4), np.float32)
    assert exe.run({"x": x, "b": row}, out={"y": out})["y"] is out and np.array_equal(out, x + row)
    assert programs_by_shape(exe) == 1
    with pytest.raises(InputError, match="Add"):
        exe(x, x[:2])
    pooled = lamina.compile(POOLED, threads=1)
    for length in (3, 17):
        values = np.random.default_rng(length).standard_normal((2, 1, length)).astype(np.float32)
        assert np.array_equal(pooled(values)[..., 0], values[..., :3].max(-1))
    assert programs_by_shape(pooled) == 0
    with pytest.raises(InputError, match="MaxPool"):
        pooled(np.ones((2, 1, 2), np.float32))


def test_a_saved_program_names_the_sizes_that_it_is_for(tmp_path: Path) -> None:
    lamina.compile(POOLED, threads=1).save(tmp_path / "p.lamina")
    with pytest.raises(InputError, match="size 'length': 2 given, it is from 3 to"):
        lamina.Executable.load(tmp_path / "p.lamina")(np.ones((2, 1, 2), np.float32))


def test_extents_without_names_and_with_names_that_texts_cannot_have() -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["y"])]
    for rows, other in ((None, None), ("x.1 rows", "mod"), ("x", "b")):
        exe = lamina.compile(model_of(nodes, {"x": [rows, 4], "b": [other, 4]}, {"y": [None, 3]}), threads=1)
        for n in (1, 6):
            x, b = np.random.default_rng(n).standard_normal((2, n, 4)).astype(np.float32)
            assert np.allclose(exe(x, b), (x + b) @ W, atol=1e-5)
        assert programs_by_shape(exe) == 0


def image_model(*after: Any) -> ModelProto:
    """A convolution of 3x3 at every other place of an image of any size, and what comes after it."""
    conv = helper.make_node("Conv", ["x", "k"], ["c"], strides=[2, 2])
    model = model_of([conv, *after], {"x": [1, 1, "h", "w"]}, {"y": [1, None]})
    kernel = np.random.default_rng(1).standard_normal((5, 1, 3, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(kernel, "k"))
    return model


def convolved(image: Any) -> Any:
    kernel = np.random.default_rng(1).standard_normal((5, 1, 3, 3)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(image[0, 0], (3, 3))[::2, ::2]
    return np.einsum("yxij,oij->oyx", windows.astype(np.float64), kernel[:, 0])


IMAGES = [np.random.default_rng(h).standard_normal((1, 1, h, w)).astype(np.float32) for h, w in ((5, 6), (33, 70))]


def test_images_of_any_size_are_one_program() -> None:
    pool = helper.make_node("GlobalAveragePool", ["c"], ["p"]), helper.make_node("Flatten", ["p"], ["y"])
    exe = lamina.compile(image_model(*pool), threads=1)
    for image in IMAGES:
        assert np.allclose(exe(image)[0], convolved(image).mean((1, 2)), atol=1e-5)
    assert programs_by_shape(exe) == 0
    with pytest.raises(InputError, match="Conv"):
        exe(np.ones((1, 1, 2, 9), np.float32))


def test_what_can_be_no_program_for_all_is_compiled_by_shape_and_that_is_said() -> None:
    """The product of two quotients, which is no extent."""
    model = image_model(helper.make_node("Flatten", ["c"], ["y"]))
    with pytest.warns(UserWarning, match="one program for each shape, as there is none for all: .*Flatten"):
        exe = lamina.compile(model, threads=1)
    assert "compiled for each shape" in repr(exe)
    for image in IMAGES:
        with pytest.warns(UserWarning, match=r"is compiled for x: float32\[1, 1, .* alone"):
            found = exe(image)
        assert np.allclose(found[0], convolved(image).ravel(), atol=1e-5)
        assert np.array_equal(exe(image), found)
    with pytest.raises(UnsupportedError, match="compiled for each shape: it has no kernels in a fixed order"):
        exe.profile({"x": IMAGES[0]})
    with pytest.raises(UsageError, match="no values can be drawn for the input 'x'"):
        exe.benchmark()


def test_places_of_maxima_are_counted_with_numbers() -> None:
    """Positions in all of the data are constants, which have no symbols."""
    node = helper.make_node("MaxPool", ["x"], ["v", "y"], kernel_shape=[2], strides=[2])
    model = model_of([node], {"x": ["n", 1, "length"]}, {"v": ["n", 1, "half"]})
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.INT64, ["n", 1, "half"]))
    with pytest.raises(UnsupportedError, match="MaxPool"):
        lamina.compile(model, shapes={"n": 1, "length": "2..9"}, threads=1)
    with pytest.warns(UserWarning, match="MaxPool"):
        exe = lamina.compile(model, threads=1)
    x = np.array([[[1, 3, 5, 2]], [[0, -1, -3, -2]]], np.float32)
    with pytest.warns(UserWarning, match="alone"):
        values, places = exe(x)
    assert values.tolist() == [[[3, 5]], [[0, -2]]] and places.tolist() == [[[1, 2]], [[4, 7]]]


def test_check_says_what_becomes_of_open_extents(tmp_path: Path) -> None:
    flat = image_model(helper.make_node("Flatten", ["c"], ["y"]))
    for model, said in (
        (PRODUCT, "open extents batch: one program for batch from 0 on\n"),
        (POOLED, "open extents n, length: one program for n from 0 on, length from 3 on\n"),
        (flat, 'open extents h, w: a program for each shape that it meets; m.onnx: node "y" (Flatten'),
    ):
        path, out = tmp_path / "m.onnx", io.StringIO()
        path.write_bytes(model.SerializeToString())
        assert cli.run(["check", str(path)], out, io.StringIO()) == 0
        assert said in out.getvalue()


def test_state_grows_without_a_range() -> None:
    node = helper.make_node("Concat", ["past", "x"], ["present"], axis=0)
    model = model_of([node], {"past": ["old", 4], "x": ["n", 4]}, {"present": ["all", 4]})
    session = lamina.compile(model, threads=1, states={"past": "present"}).session()
    rows = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    for begin, end in ((0, 1), (1, 4), (4, 6)):
        session.run({"x": rows[begin:end]})
    assert np.array_equal(session.state["past"], rows)


def test_what_does_not_fit_is_named() -> None:
    exe = lamina.compile(PRODUCT, threads=1)
    x = np.ones((2, 4), np.float32)
    for inputs, said in (
        ({"x": x, "b": np.ones((3, 4), np.float32)}, "input 'b' has batch = 3, elsewhere it is 2"),
        ({"x": x, "b": np.ones((2, 5), np.float32)}, "input 'b'.* is float32"),
        ({"x": x}, r"input 'b': missing; expected float32\[batch, 4\]"),
        ({"x": x, "b": x, "c": x}, "input 'c': the model has no such input"),
    ):
        with pytest.raises(InputError, match=said):
            exe.run(inputs)


def test_some_extents_may_be_given() -> None:
    model = model_of([helper.make_node("Add", ["x", "b"], ["y"])], {"x": ["n", "m"], "b": ["m"]}, {"y": ["n", "m"]})
    exe = lamina.compile(model, shapes={"m": 4}, threads=1)
    assert [p.describe() for p in exe.inputs] == ["float32[n, 4]", "float32[4]"]
    x, b = np.ones((3, 4), np.float32), np.arange(4, dtype=np.float32)
    assert np.array_equal(exe(x, b), x + b)
    with pytest.raises(UsageError, match="a shape is given for .*k.*, which is no input"):
        lamina.compile(model, shapes={"k": 4})
    with pytest.raises(InputError, match="input 'x' is float32"):
        exe(np.ones((3, 5), np.float32), b)
    fixed = lamina.compile(model, shapes={"m": 4, "n": 3}, threads=1)
    assert "1 kernels" in repr(fixed)


def test_an_operator_that_is_missing_is_said_when_shapes_are_known() -> None:
    node = helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")
    model = model_of([node], {"x": ROWS}, {"y": ROWS})
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    exe = None
    with pytest.raises(UnsupportedError, match="Frobnicate"):
        exe = lamina.compile(model, threads=1)
        exe(np.ones((2, 4), np.float32))
