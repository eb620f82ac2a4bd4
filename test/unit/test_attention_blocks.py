"""Attention blocks as torch exports them, at the sizes of models, give onnxruntime's numbers.

`inputs/attention/export.py` has made the files, which have no weights: they are drawn here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

import lamina

pytestmark = pytest.mark.slow

ort: Any = pytest.importorskip("onnxruntime")

FOLDER = Path(__file__).parent / "inputs" / "attention"
NAMES = sorted(path.name.removesuffix(".onnx") for path in FOLDER.glob("*.onnx"))
QUICK = {
    "self_with_weights_sequence_first.256.torchscript",
    "cross_without_weights_batch_first.512.dynamo",
    "encoder_layer_sequence_first.512.torchscript",
    "decoder_layer_batch_first.256.dynamo",
    "encoder_layer_key_padding.odd.dynamo",
}


def with_weights(name: str) -> ModelProto:
    """A block with weights that keep its numbers near one."""
    model = ModelProto()
    model.ParseFromString((FOLDER / f"{name}.onnx").read_bytes())
    (named,) = (p.value.split() for p in model.metadata_props if p.key == "weights")
    draw = np.random.default_rng(len(name))
    for port in [p for p in model.graph.input if p.name in named]:
        shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
        values = draw.standard_normal(shape) / np.sqrt(max(min(shape), 4)) if len(shape) > 1 else draw.random(shape)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(np.float32), port.name))
        model.graph.input.remove(port)
    return model


def inputs_of(model: ModelProto) -> dict[str, np.ndarray[Any, Any]]:
    """Normal numbers; of masks, which hide what is true, the second half and a bit."""
    draw = np.random.default_rng(1)
    found: dict[str, np.ndarray[Any, Any]] = {}
    for port in model.graph.input:
        type_ = port.type.tensor_type
        shape = [d.dim_value for d in type_.shape.dim]
        if type_.elem_type == TensorProto.BOOL:
            found[port.name] = np.broadcast_to(np.arange(shape[1]) > shape[1] // 2 - 1, shape).copy()
        else:
            found[port.name] = draw.standard_normal(shape).astype(np.float32)
    return found


def agrees(name: str, target: str, threads: int) -> None:
    """Raise AssertionError where a block differs from onnxruntime by 1e-4."""
    model = with_weights(name)
    feeds = inputs_of(model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    expected = ort.InferenceSession(model.SerializeToString(), options).run(None, feeds)
    exe = lamina.compile(model, target=target, threads=threads, cache=False)
    for found, wanted in zip(exe.run(feeds).values(), expected, strict=True):
        assert np.isfinite(wanted).all()
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.long) for n in NAMES])
def test_block(name: str) -> None:
    agrees(name, "cpu", threads=1)


@pytest.mark.long
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("name", [n for n in NAMES if not n.split(".")[1] == "512"])
def test_block_with_shorter_vectors(name: str, target: str) -> None:
    agrees(name, target, threads=2)


def test_every_form_is_there() -> None:
    """Twelve forms, two sizes, two exporters, and no quick one that is not."""
    forms = {n.split(".")[0] for n in NAMES if n.split(".")[1] != "odd"}
    assert len(forms) == 12
    sized = {(form, size, by) for form in forms for size in ("256", "512") for by in ("dynamo", "torchscript")}
    assert {tuple(n.split(".")) for n in NAMES if n.split(".")[1] != "odd"} == sized
    assert set(NAMES) >= QUICK
