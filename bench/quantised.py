"""Models quantised as exporters do it (QDQ): uint8 activations, int8 weights of a scale per output channel.

    python bench/quantised.py FOLDER [MODEL...]     writes FOLDER/mobilenet_v2_int8.onnx and others

`quantised(model, inputs)` calibrates a float model by one run of onnxruntime with all its values as outputs. Every
convolution, Gemm, Add, pool and Flatten stands between DequantizeLinear and QuantizeLinear; a clip or relu that alone
reads a product or sum stands between the two with it. Biases are int32 of the scale of the products. Weights:
-127..127.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent))

PRODUCTS = ("Conv", "ConvTranspose", "Gemm")
BETWEEN = (*PRODUCTS, "Add", "GlobalAveragePool", "AveragePool", "MaxPool", "Concat")
SAME = ("Flatten", "Reshape", "MaxPool", "Transpose")
"""Ops whose result has the scale of their operand."""
FOLLOWERS = ("Relu", "Clip")

Array = Any


def ranges(model: ModelProto, inputs: Mapping[str, Array]) -> dict[str, tuple[float, float]]:
    """The least and greatest number of every value in a run of the model, zero among them."""
    import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

    names = [o for node in model.graph.node for o in node.output if o]
    opened = ModelProto()
    opened.CopyFrom(model)
    del opened.graph.output[:]
    opened.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names)
    session: Any = onnxruntime.InferenceSession(opened.SerializeToString(), providers=["CPUExecutionProvider"])
    found = dict(zip(names, session.run(None, dict(inputs)), strict=True)) | dict(inputs)
    return {n: (min(float(v.min()), 0.0), max(float(v.max()), 0.0)) for n, v in found.items() if v.dtype == np.float32}


class Writer:
    """The quantised graph under construction."""

    def __init__(self, model: ModelProto, inputs: Mapping[str, Array], signed: bool) -> None:
        self.model = model
        self.limits = ranges(model, inputs)
        self.signed = signed
        self.weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        self.nodes: list[NodeProto] = []
        self.tensors: list[TensorProto] = []
        self.scales: dict[str, Array] = {}
        """The scale of each value that has one."""
        self.done: set[str] = set()

    def constant(self, name: str, array: Array) -> str:
        if name not in self.done:
            self.done.add(name)
            self.tensors.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def activation(self, name: str, like: str = "") -> tuple[str, str]:
        """The names of a value's scale and zero point, those of another value for an op that keeps them."""
        if like in self.scales:
            self.scales[name] = self.scales[like]
            return f"{self.owner(like)}.scale", f"{self.owner(like)}.zero"
        low, high = self.limits[name]
        scale = np.float32(max(high - low, 1e-6) / 255)
        first = -128 if self.signed else 0
        zero = np.clip(np.rint(first - low / scale), first, first + 255)
        self.scales[name] = (scale, name)
        kind = np.int8 if self.signed else np.uint8
        return self.constant(f"{name}.scale", scale), self.constant(f"{name}.zero", np.asarray(zero, kind))

    def owner(self, name: str) -> str:
        return self.scales[name][1]

    def quantise(self, source: str, name: str, like: str = "") -> None:
        """A float value `source` as integers and back, the latter under `{name}.real`."""
        scale, zero = self.activation(name, like)
        self.nodes.append(helper.make_node("QuantizeLinear", [source, scale, zero], [f"{name}.q"], f"{name}.quantize"))
        self.nodes.append(
            helper.make_node("DequantizeLinear", [f"{name}.q", scale, zero], [f"{name}.real"], f"{name}.dequantize")
        )

    def weight(self, name: str, axis: int) -> str:
        """A weight as int8, one scale for each output channel, which are counted by `axis`."""
        w = self.weights[name]
        most = np.abs(w).max(tuple(a for a in range(w.ndim) if a != axis), keepdims=True)
        scale = np.maximum(most / 127, 1e-9).astype(np.float32)
        self.scales[name] = (scale.reshape(-1), name)
        given = [
            self.constant(f"{name}.q", np.clip(np.rint(w / scale), -127, 127).astype(np.int8)),
            self.constant(f"{name}.scale", scale.reshape(-1)),
            self.constant(f"{name}.zero", np.zeros(scale.size, np.int8)),
        ]
        node = helper.make_node("DequantizeLinear", given, [f"{name}.real"], f"{name}.dequantize", axis=axis)
        self.nodes.append(node)
        return f"{name}.real"

    def bias(self, name: str, data: str, weight: str) -> str:
        """A bias in steps of the products."""
        scale = (self.scales[data][0] * self.scales[weight][0]).astype(np.float32)
        integers = np.rint(self.weights[name].astype(np.float64) / scale).astype(np.int32)
        given = [self.constant(f"{name}.q", integers), self.constant(f"{name}.scale", scale)]
        self.nodes.append(helper.make_node("DequantizeLinear", given, [f"{name}.real"], f"{name}.dequantize", axis=0))
        return f"{name}.real"

    def run(self) -> ModelProto:
        graph = self.model.graph
        readers: dict[str, list[NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                readers.setdefault(name, []).append(node)
        for value in graph.input:
            self.quantise(value.name, value.name)
        waiting: dict[str, str] = {}
        for node in graph.node:
            made = NodeProto()
            made.CopyFrom(node)
            if node.op_type in PRODUCTS:
                data = node.input[0]
                axis = int(node.op_type == "ConvTranspose")
                made.input[0], made.input[1] = f"{data}.real", self.weight(node.input[1], axis)
                if len(node.input) > 2:
                    made.input[2] = self.bias(node.input[2], data, node.input[1])
            else:
                for i, name in enumerate(node.input):
                    if name in self.weights:
                        self.constant(name, self.weights[name])
                    elif name not in waiting:
                        made.input[i] = f"{name}.real"
            self.nodes.append(made)
            result = node.output[0]
            after = readers.get(result, [])
            if node.op_type in (*PRODUCTS, "Add") and len(after) == 1 and after[0].op_type in FOLLOWERS:
                waiting[result] = result  # the clip reads the float sums
                continue
            self.quantise(result, result, node.input[0] if node.op_type in SAME else "")
        for output in graph.output:
            self.nodes[-1].output[0] = output.name
            self.nodes[-3].output[0] = self.nodes[-2].input[0] = f"{output.name}.float"
        made_graph = helper.make_graph(self.nodes, graph.name, graph.input, graph.output, self.tensors)
        return helper.make_model(made_graph, opset_imports=self.model.opset_import, ir_version=8)


def quantised(model: ModelProto, inputs: Mapping[str, Array], signed: bool = False) -> ModelProto:
    """The model on uint8 (or int8) activations. It has one output, which its last node gives."""
    return Writer(model, inputs, signed).run()


def mobilenet_v2_int8(signed: bool = False) -> ModelProto:
    """MobileNet-v2 1.0 at 224 of `zoo.py`, quantised."""
    import zoo

    image = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
    return quantised(zoo.mobilenet_v2(), {"image": image}, signed)


def unet_int8() -> ModelProto:
    """U-Net of `zoo.py`, 3 x 256 x 256, quantised; its transposed convolutions as well."""
    import zoo

    image = np.random.default_rng(0).standard_normal((1, 3, 256, 256)).astype(np.float32)
    return quantised(zoo.unet(), {"image": image})


def folded(model: ModelProto) -> ModelProto:
    """The model with its normalisations folded into the convolutions, at an opset that can be quantised."""
    import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
    from onnx.version_converter import convert_version

    engine: Any = onnxruntime
    options = engine.SessionOptions()
    options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_ENABLE_BASIC
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = str(Path(folder) / "folded.onnx")
        data = convert_version(model, 17).SerializeToString()
        engine.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        made = ModelProto()
        made.ParseFromString(Path(options.optimized_model_filepath).read_bytes())
        return made


def resnet50_int8() -> ModelProto:
    """ResNet-50 of onnx's light models, quantised."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
    import models

    model = folded(models.light_model("resnet50"))
    given = model.graph.input[0]
    shape = [d.dim_value for d in given.type.tensor_type.shape.dim]
    image = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return quantised(model, {given.name: image})


QUANTISED = {f.__name__: f for f in (mobilenet_v2_int8, unet_int8, resnet50_int8)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*", default=list(QUANTISED))
    args = parser.parse_args()
    for name in args.models:
        (args.folder / f"{name}.onnx").write_bytes(QUANTISED[name]().SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main())
