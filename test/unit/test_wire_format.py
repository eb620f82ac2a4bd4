"""A model that is read with its weights apart is the model that a parser reads, whatever its bytes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from lamina.errors import InputError
from lamina.frontends.onnx import load_onnx, source, tensors
from lamina.frontends.wire_format import LARGE, PLAIN, split


def model(shapes: dict[str, tuple[int, ...]], dtype: str = "float32") -> onnx.ModelProto:
    """A sum of weights."""
    draw = np.random.default_rng(1)
    weights = [numpy_helper.from_array(draw.normal(size=s).astype(dtype), n) for n, s in shapes.items()]
    name = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x = helper.make_tensor_value_info("x", name, [1])
    y = helper.make_tensor_value_info("y", name, None)
    node = helper.make_node("Sum", ["x", *shapes], ["y"])
    graph = helper.make_graph([node], "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def whole(small: bytes, data: bytes, spans: dict[str, tuple[int, int]]) -> onnx.ModelProto:
    """The message with its weights put back."""
    message = onnx.ModelProto()
    message.ParseFromString(small)
    for tensor in message.graph.initializer:
        if tensor.name in spans:
            start, end = spans[tensor.name]
            tensor.raw_data = data[start:end]
    return message


def test_the_parts_make_the_whole() -> None:
    proto = model({"a": (40, 40), "b": (1,), "c": (2, 40, 40)})
    data = proto.SerializeToString()
    small, spans = split(data)
    assert sorted(spans) == ["a", "c"] and len(small) < 1000 < LARGE
    assert whole(small, data, spans) == proto


def test_the_types_are_those_whose_bytes_are_their_values() -> None:
    assert PLAIN == set(tensors._DTYPE)  # pyright: ignore[reportPrivateUsage]


def test_what_is_not_plain_stays() -> None:
    proto = model({"twice": (40, 40), "outside": (40, 40), "narrow": (40, 40), "typed": (40, 40), "left": (40, 40)})
    initializer = {t.name: t for t in proto.graph.initializer}
    initializer["outside"].data_location = TensorProto.EXTERNAL
    initializer["narrow"].data_type = TensorProto.FLOAT8E5M2
    initializer["typed"].ClearField("raw_data")
    initializer["typed"].float_data.extend([1.0] * 1600)
    proto.graph.initializer.append(initializer["twice"])
    data = proto.SerializeToString()
    small, spans = split(data)
    assert sorted(spans) == ["left", "twice"]
    assert whole(small, data, spans) == proto
    two = data + data
    assert split(two) == (two, {}), "two graphs are merged, which is the parser's business"


def test_damaged_bytes_are_left_to_the_parser() -> None:
    data = model({"a": (40, 40), "b": (40, 40)}).SerializeToString()
    draw = random.Random(3)
    for _ in range(300):
        bad = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            at = draw.choice((draw.randrange(60), draw.randrange(len(bad))))
            bad[at] = draw.randrange(256)
        bad = bytes(bad[: draw.choice((len(bad), draw.randrange(len(bad))))])
        small, spans = split(bad)
        expected = onnx.ModelProto()
        try:
            expected.ParseFromString(bad)
        except Exception:
            with pytest.raises(Exception, match="Error parsing"):
                onnx.ModelProto().ParseFromString(small)
            continue
        assert whole(small, bad, spans).SerializeToString(deterministic=True) == expected.SerializeToString(
            deterministic=True
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_files_are_imported_as_ever(dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "APART_FROM", 0)
    proto = model({"a": (80, 80), "b": (80, 1), "c": (1, 80, 80)}, dtype)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    apart = source.read_model(path, apart=True)
    assert sorted(apart.apart) == ["a", "c"]
    text = str(load_onnx(path).module)
    monkeypatch.setattr(source, "APART_FROM", 1 << 30)
    assert str(load_onnx(path).module) == text, "digests of the weights among it"
    assert not source.read_model(path).apart and source.read_model(path).model == proto


def test_a_weight_of_the_wrong_size_is_refused_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "APART_FROM", 0)
    proto = model({"a": (80, 80)})
    proto.graph.initializer[0].raw_data = proto.graph.initializer[0].raw_data[:-4]
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(InputError, match="needs 25600 bytes, the data has 25596"):
        load_onnx(path)
