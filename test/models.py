"""Models to test with: real topologies with random weights, an encoder block, a long chain.

The light models of the onnx package keep their topologies, but each weight is one number repeated, so that a wrong
channel order would pass. `light_model` puts random values there instead, chosen by what each weight is used for.
Everything is a function of the seed and of the weights' names.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

LIGHT_MODELS = (
    *("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50"),
    *("shufflenet", "squeezenet", "vgg19", "zfnet512"),
)
_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
# What only moves or reshapes a weight on its way to the operator that uses it.
_TRANSPARENT = ("Unsqueeze", "Reshape", "Identity", "Squeeze", "Transpose")


def _read(name: str) -> ModelProto:
    model = ModelProto()
    model.ParseFromString(light_path(name).read_bytes())
    return model


def light_path(name: str) -> Path:
    """The file of a light model as the onnx package ships it."""
    return _DATA / f"light_{name}.onnx"


def stored_input(name: str) -> dict[str, np.ndarray]:
    """The input that the stored output belongs to: k/n for element k of n, as onnx's backend test makes it."""
    model = _read(name)
    return {
        i.name: (np.arange(s := math.prod(_dims(i))).reshape(_dims(i)) / s).astype(np.float32) for i in _inputs(model)
    }


def stored_output(name: str) -> np.ndarray:
    """The output that the onnx package stores for a light model as shipped."""
    tensor = TensorProto()
    tensor.ParseFromString((_DATA / f"light_{name}_output_0.pb").read_bytes())
    return numpy_helper.to_array(tensor)


def shipped_with_sums(name: str) -> ModelProto:
    """A light model as shipped that also gives what goes into its softmax, as its last output."""
    model = _read(name)
    return with_extra_outputs(model, [before_softmax(model)])


def assert_stored_outputs(name: str, outputs: Sequence[np.ndarray]) -> None:
    """The outputs of `shipped_with_sums` are what the onnx package stores.

    As shipped all weights are equal, and squeezenet's sums reach 1e10: there a step of a float is 1024, which a softmax
    makes all or nothing of. What goes into it is compared, which probabilities tell but for a constant.
    """
    probabilities, sums = outputs[0], outputs[-1]
    expected = np.log(stored_output(name).astype(np.float64)).ravel()
    found = sums.astype(np.float64).ravel()
    near = 1e-6 * np.abs(found).max() + 1e-3
    np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), rtol=0, atol=near)
    if len(outputs) > 1:
        np.testing.assert_allclose(probabilities.sum(), 1, rtol=0, atol=1e-5)


def random_input(model: ModelProto, seed: int = 0) -> dict[str, np.ndarray]:
    """Standard normal values for float inputs, ones for integers (masks)."""
    feeds: dict[str, np.ndarray] = {}
    for i in _inputs(model):
        kind = helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        random = _generator(seed, i.name)
        feeds[i.name] = random.standard_normal(_dims(i)).astype(kind) if kind.kind == "f" else np.ones(_dims(i), kind)
    return feeds


def _inputs(model: ModelProto) -> list[Any]:
    weights = {i.name for i in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in weights]


def _dims(value: Any) -> tuple[int, ...]:
    return tuple(d.dim_value for d in value.type.tensor_type.shape.dim)


def _generator(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


# -- light models ----------------------------------------------------------------------------------


def light_model(name: str, seed: int = 0) -> ModelProto:
    """A light model with random weights: He-normal factors, scales and variances in 0.5-1.5, small biases.

    The few trained weights in the files are replaced too: beside random ones their near-dead channels blow up.
    """
    model = _read(name)
    graph = model.graph
    arrays = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    weights: dict[str, tuple[int, ...]] = {
        n: a.shape for n, a in arrays.items() if a.dtype == np.float32 and a.size > 1
    }
    shapes: set[str] = set()
    nodes: list[Any] = []
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            weights[node.output[0]] = tuple(int(e) for e in arrays[node.input[0]])
            shapes.add(node.input[0])
        else:
            nodes.append(node)
    uses = _uses(nodes)
    made = [numpy_helper.from_array(_weight(weight, shape, uses, seed), weight) for weight, shape in weights.items()]
    kept = [i for i in graph.initializer if i.name not in weights and i.name not in shapes and i.name in uses]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend([*kept, *made])
    graph.node.extend(nodes)
    inputs = [i for i in graph.input if i.name not in arrays and i.name not in weights]
    del graph.input[:]
    graph.input.extend(inputs)
    model.ir_version = 8  # before 4, initialisers had to be inputs as well
    return model


def small_model(name: str, size: int = 64) -> ModelProto:
    """A light model with random weights for images of another size: the last average is one over the whole image."""
    model = light_model(name)
    for dim in model.graph.input[0].type.tensor_type.shape.dim[2:]:
        dim.dim_value = size
    del model.graph.value_info[:]
    for node in reversed(model.graph.node):
        if node.op_type in ("AveragePool", "GlobalAveragePool"):
            node.op_type = "GlobalAveragePool"
            del node.attribute[:]
            break
    cast(Any, onnx.checker).check_model(onnx.shape_inference.infer_shapes(model, strict_mode=True))
    return model


def _uses(nodes: Sequence[Any]) -> dict[str, list[tuple[Any, int]]]:
    uses: dict[str, list[tuple[Any, int]]] = {}
    for node in nodes:
        for place, name in enumerate(node.input):
            uses.setdefault(name, []).append((node, place))
    return uses


def _weight(name: str, shape: tuple[int, ...], uses: dict[str, list[tuple[Any, int]]], seed: int) -> np.ndarray:
    random = _generator(seed, name)
    role, fan_in = _role(name, shape, uses)
    if role == "factor":
        return random.standard_normal(shape, np.float32) * np.float32(math.sqrt(2 / fan_in))
    if role == "scale":
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    return random.standard_normal(shape, np.float32) * np.float32(0.1)


def _role(name: str, shape: tuple[int, ...], uses: dict[str, list[tuple[Any, int]]]) -> tuple[str, int]:
    """What the operator that uses a weight takes it for, and how many products each of its sums has."""
    for node, place in uses.get(name, []):
        if node.op_type in _TRANSPARENT and place == 0:
            return _role(node.output[0], shape, uses)
        if node.op_type == "Conv" and place == 1:
            return "factor", math.prod(shape[1:])
        if node.op_type in ("Gemm", "MatMul") and place < 2:
            transposed = [a.i for a in node.attribute if a.name == ("transB" if place else "transA")] == [1]
            return "factor", shape[-1 if transposed == bool(place) else 0]
        if node.op_type == "BatchNormalization":
            return ("scale", 1) if place in (1, 4) else ("bias", 1)
        if node.op_type == "Mul":
            return "scale", 1
    return "bias", 1


# -- looking inside --------------------------------------------------------------------------------


def named_inner_tensors(model: ModelProto, n: int = 10) -> list[str]:
    """Names of n float tensors that nodes compute, spread over the graph."""
    weights = {i.name for i in model.graph.initializer}
    outputs = {o.name for o in model.graph.output}
    types = _float_tensors(model)
    names: list[str] = []
    for node in model.graph.node:
        if any(i and i not in weights for i in node.input):
            name = node.output[0]
            if name not in outputs and name in types:
                names.append(name)
            elif name not in outputs:
                weights.add(name)  # integers: shapes on their way to a reshape
        else:
            weights.update(node.output)
    if len(names) <= n:
        return names
    return [names[(2 * k + 1) * len(names) // (2 * n)] for k in range(n)]


def _float_tensors(model: ModelProto) -> set[str]:
    inferred = onnx.shape_inference.infer_shapes(_without_weights(model))
    return {v.name for v in inferred.graph.value_info if v.type.tensor_type.elem_type == TensorProto.FLOAT}


def _without_weights(model: ModelProto) -> ModelProto:
    """The model with its large initialisers as inputs: shape inference copies the whole message."""
    light = ModelProto()
    light.ir_version = model.ir_version
    light.opset_import.extend(model.opset_import)
    light.graph.name = model.graph.name
    light.graph.node.extend(model.graph.node)
    light.graph.input.extend(model.graph.input)
    light.graph.output.extend(model.graph.output)
    for i in model.graph.initializer:
        if math.prod(i.dims) > 64:
            light.graph.input.append(helper.make_tensor_value_info(i.name, i.data_type, list(i.dims)))
        else:
            light.graph.initializer.append(i)
    return light


def before_softmax(model: ModelProto) -> str:
    """The tensor before the final softmax, quantised or not; the output itself where there is none."""
    makers = {output: node for node in model.graph.node for output in node.output}
    node = makers.get(model.graph.output[0].name)
    while node is not None and node.op_type in ("QuantizeLinear", "DequantizeLinear"):
        node = makers.get(node.input[0])
    return node.input[0] if node is not None and node.op_type == "Softmax" else model.graph.output[0].name


def with_extra_outputs(model: ModelProto, names: Sequence[str]) -> ModelProto:
    """A copy of the model that gives some inner tensors as outputs too."""
    extended = ModelProto()
    extended.CopyFrom(model)
    present = {o.name for o in extended.graph.output}
    for name in dict.fromkeys(names):
        if name not in present:
            extended.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return extended


# -- transformer -----------------------------------------------------------------------------------


class GraphWriter:
    """Nodes and random weights under construction."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def op(self, op_type: str, *inputs: str, name: str, outputs: int = 1, **attrs: Any) -> Any:
        made = [name] if outputs == 1 else [f"{name}.{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op_type, list(inputs), made, name=name, **attrs))
        return made[0] if outputs == 1 else made

    def weight(self, name: str, shape: Sequence[int], scale: float, around: float = 0.0) -> str:
        values = _generator(self.seed, name).standard_normal(shape, np.float32) * np.float32(scale)
        return self.constant(name, values + np.float32(around))

    def constant(self, name: str, value: Any) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def linear(self, x: str, name: str, rows: int, columns: int) -> str:
        product = self.op(
            "MatMul", x, self.weight(f"{name}.weight", (rows, columns), rows**-0.5), name=f"{name}.matmul"
        )
        return self.op("Add", product, self.weight(f"{name}.bias", (columns,), 0.1), name=f"{name}.add")


def encoder_block(
    seed: int = 0, heads: int = 12, width: int = 768, length: int = 128, opset: int = 17, batch: int = 1
) -> ModelProto:
    """A BERT encoder block: attention with a mask, layer norm (one the operator, one composed), GELU by erf.

    Inputs: hidden [batch, length, width] float32, mask [batch, length] int64. Output: [batch, length, width].
    """
    g = GraphWriter(seed)
    depth = width // heads
    for name, value in (("i0", 0), ("i1", 1)):
        g.constant(name, np.int64(value))
    g.constant("axes_mask", np.array([1, 2], np.int64))
    g.constant("heads_depth", np.array([heads, depth], np.int64))
    g.constant("minus_one", np.array([-1], np.int64))
    g.constant("axis_0", np.array([0], np.int64))

    # The shapes of the reshapes are computed, as exporters do.
    shape = g.op("Shape", "hidden", name="hidden.shape")
    rows = [
        g.op("Unsqueeze", g.op("Gather", shape, i, name=f"size.{i}"), "axis_0", name=f"sizes.{i}") for i in ("i0", "i1")
    ]
    split = g.op("Concat", *rows, "heads_depth", name="split.shape", axis=0)
    joined = g.op("Concat", *rows, "minus_one", name="joined.shape", axis=0)

    def headed(x: str, name: str, perm: list[int]) -> str:
        return g.op("Transpose", g.op("Reshape", x, split, name=f"{name}.split"), name=f"{name}.heads", perm=perm)

    q = headed(g.linear("hidden", "query", width, width), "query", [0, 2, 1, 3])
    k = headed(g.linear("hidden", "key", width, width), "key", [0, 2, 3, 1])
    v = headed(g.linear("hidden", "value", width, width), "value", [0, 2, 1, 3])
    scores = g.op("Div", g.op("MatMul", q, k, name="scores"), g.constant("root", np.float32(depth**0.5)), name="scaled")
    mask = g.op("Cast", g.op("Unsqueeze", "mask", "axes_mask", name="mask.4d"), name="mask.float", to=TensorProto.FLOAT)
    hole = g.op("Sub", g.constant("one", np.float32(1)), mask, name="mask.hole")
    masked = g.op("Add", scores, g.op("Mul", hole, g.constant("far", np.float32(-1e4)), name="mask.far"), name="masked")
    mixed = g.op("MatMul", g.op("Softmax", masked, name="attention", axis=-1), v, name="context")
    context = g.op("Transpose", mixed, name="context.rows", perm=[0, 2, 1, 3])
    merged = g.op("Reshape", context, joined, name="context.joined")
    residual = g.op("Add", g.linear(merged, "projection", width, width), "hidden", name="residual.1")
    scale, shift = g.weight("norm.1.scale", (width,), 0.2, 1.0), g.weight("norm.1.shift", (width,), 0.1)
    if opset >= 17:
        first = g.op("LayerNormalization", residual, scale, shift, name="norm.1", axis=-1, epsilon=1e-12)
    else:
        first = _layer_norm(g, residual, scale, shift, "norm.1", opset)
    inner = g.linear(first, "expand", width, 4 * width)
    bell = g.op("Erf", g.op("Div", inner, g.constant("root2", np.float32(2**0.5)), name="gelu.div"), name="gelu.erf")
    half = g.op("Mul", inner, g.op("Add", bell, "one", name="gelu.add"), name="gelu.mul")
    gelu = g.op("Mul", half, g.constant("half", np.float32(0.5)), name="gelu")
    outer = g.op("Add", g.linear(gelu, "contract", 4 * width, width), first, name="residual.2")
    scale, shift = g.weight("norm.2.scale", (width,), 0.2, 1.0), g.weight("norm.2.shift", (width,), 0.1)
    result = _layer_norm(g, outer, scale, shift, "norm.2", opset)
    inputs = [
        helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [batch, length, width]),
        helper.make_tensor_value_info("mask", TensorProto.INT64, [batch, length]),
    ]
    output = helper.make_tensor_value_info(result, TensorProto.FLOAT, [batch, length, width])
    graph = helper.make_graph(g.nodes, "encoder_block", inputs, [output], g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _layer_norm(g: GraphWriter, x: str, scale: str, shift: str, name: str, opset: int) -> str:
    """Layer norm of primitive operators, as exporters write it before opset 17."""

    def mean(value: str, what: str) -> str:
        if opset >= 18:
            return g.op("ReduceMean", value, "minus_one", name=f"{name}.{what}")
        return g.op("ReduceMean", value, name=f"{name}.{what}", axes=[-1])

    centred = g.op("Sub", x, mean(x, "mean"), name=f"{name}.centred")
    square = g.op("Pow", centred, g.constant(f"{name}.two", np.float32(2)), name=f"{name}.square")
    padded = g.op("Add", mean(square, "variance"), g.constant(f"{name}.eps", np.float32(1e-12)), name=f"{name}.padded")
    ratio = g.op("Div", centred, g.op("Sqrt", padded, name=f"{name}.deviation"), name=f"{name}.ratio")
    return g.op("Add", g.op("Mul", ratio, scale, name=f"{name}.scaled"), shift, name=name)


# -- size ------------------------------------------------------------------------------------------


@cache
def chain_model(n: int = 50_000, shape: tuple[int, ...] = (4, 16)) -> ModelProto:
    """n nodes one after the other: five operators mixed, every tenth a residual add over ten."""
    values = numpy_helper.from_array(np.linspace(0.9, 1.1, shape[-1], dtype=np.float32), "factor")
    nodes: list[Any] = []
    last, residual = "x", "x"
    for k in range(n):
        out = f"t{k}" if k < n - 1 else "y"
        if k % 10 == 9:
            nodes.append(helper.make_node("Add", [last, residual], [out], name=f"n{k}"))
            residual = out
        elif k % 5 == 3:
            nodes.append(helper.make_node("Mul", [last, "factor"], [out], name=f"n{k}"))
        else:
            kind = ("Tanh", "Relu", "Sigmoid", "", "Neg")[k % 5]
            nodes.append(helper.make_node(kind, [last], [out], name=f"n{k}"))
        last = out
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [values],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
