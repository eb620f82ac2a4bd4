"""Operators that onnxruntime adds to ONNX's, against onnxruntime: activations, norms, products, weights of few bits.

The imported graphs are run by the numpy oracles of their ops; some are compiled.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import lamina
from lamina.errors import InputError, LaminaError
from lamina.frontends.onnx import check_model
from lamina.frontends.onnx.registry import converters, declarations, limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import models  # noqa: E402
from contributed_nodes import Nodes  # noqa: E402

F32, I32 = "float32", "int32"


def test_declarations_are_onnxruntimes() -> None:
    """Ours may take fewer inputs: what has a default in the meaning of an operator may be missing."""
    state: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    theirs: dict[Any, Any] = {}
    schema: Any
    for schema in state.get_all_operator_schema():
        known = theirs.setdefault((schema.domain, schema.name), schema)
        if schema.since_version < known.since_version:
            theirs[schema.domain, schema.name] = schema  # the oldest: ONNX has taken over newer ones
    assert len(declarations()) > 40
    ours: Any
    for key, ours in declarations().items():
        wanted = theirs[key]
        kinds = {n: (int(a.type), bool(a.required)) for n, a in wanted.attributes.items()}
        assert {n: (int(a.type.value), a.required) for n, a in ours.attributes.items()} == kinds, key
        assert (ours.max_input, ours.max_output) == (wanted.max_input, wanted.max_output), key
        assert ours.min_input <= wanted.min_input and ours.min_output == wanted.min_output, key
        for mine, other in zip(ours.outputs, wanted.outputs, strict=True):
            assert int(mine.option.value) == int(other.option), (key, mine.name)


def test_every_declared_attribute_is_read() -> None:
    """An attribute that no converter looks at would change nothing, silently."""
    # Hints, what shapes say as well, and what onnxruntime does not read either.
    idle = {
        *(("MatMulNBits", a) for a in ("accuracy_level", "weight_prepacked")),
        *(("RotaryEmbedding", a) for a in ("is_packed_batching", "scale")),
        ("BiasSoftmax", "is_inner_broadcast"),
        ("EmbedLayerNormalization", "mask_index_type"),
        ("Attention", "rotary_embedding_dim"),
        ("GroupQueryAttention", "qk_norm_epsilon"),
    }
    read = 0
    for key, ours in declarations().items():
        convert = inspect.unwrap(converters()[key])
        text = inspect.getsource(sys.modules[convert.__module__])
        if "**n.attrs" in text or "n.attrs.items()" in text:
            continue  # it hands all of them on
        missing = [a for a in ours.attributes if f'attr("{a}"' not in text and (key[1], a) not in idle]
        assert not [a for a in missing if limits(*key).get(a) is None], key
        read += 1
    assert read > 15


def test_activations() -> None:
    g = Nodes()
    x = g.floats(2, 3, 9)
    for op in ("Gelu", "FastGelu", "QuickGelu"):
        g.add(op, [x])
    g.add("QuickGelu", [x], alpha=0.7)
    for op in ("BiasGelu", "FastGelu"):
        g.add(op, [x, g.floats(9)])
    g.check(g.imported())


def test_a_softmax_with_a_bias_is_one_of_the_sum() -> None:
    """onnxruntime has no kernel for it on a CPU."""
    g, (scores, outer, inner) = (
        Nodes(opset=11),
        (np.float32(3) * Nodes().floats(2, 3, 4, 5), (1, 1, 4, 5), (2, 1, 1, 5)),
    )
    for shape, is_inner in ((outer, 0), (inner, 1)):
        bias = g.floats(*shape)
        g.add("BiasSoftmax", [scores, bias], given=(0, 1), axis=3, is_inner_broadcast=is_inner)
        g.add("Softmax", [scores + bias], axis=3, domain="")
    g.add("BiasSoftmax", [scores, bias], given=(0, 1), is_inner_broadcast=1, axis=2)
    g.add("Softmax", [scores + bias], axis=2, domain="")
    found = list(g.imported().values())
    for ours, plain in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-6)
    assert not np.allclose(found[2], found[4])


def norms(g: Nodes, batch: int, length: int, width: int) -> None:
    """Norms of sums in all their forms."""
    x = g.floats(batch, length, width)
    for op, count in (("SkipLayerNormalization", 3), ("SkipSimplifiedLayerNormalization", 2)):
        rest = [g.floats(width) for _ in range(count)]
        for skip in ((batch, length, width), (1, length, width), (length, width)):
            g.add(op, [x, g.floats(*skip), *rest], given=(0, 1), outputs=[F32, "", "", F32])
        g.add(op, [x, g.floats(*x.shape), rest[0]], given=(0, 1), outputs=[F32] * 4, epsilon=0.1)
    for axis in (-1, 2):
        g.add("SimplifiedLayerNormalization", [x, rest[0]], outputs=[F32] * 2, domain="", axis=axis, epsilon=0.3)


def test_norms() -> None:
    g = Nodes()
    norms(g, 2, 3, 8)
    g.check(g.imported())


def test_layer_normalisation_is_older_than_onnxs() -> None:
    g = Nodes(opset=12)
    x = g.floats(2, 3, 8)
    g.add("LayerNormalization", [x, g.floats(8), g.floats(8)], outputs=[F32] * 3, domain="", axis=-1, epsilon=0.2)
    g.add("LayerNormalization", [x, g.floats(3, 8), g.floats(3, 8)], outputs=[F32] * 3, domain="", axis=1)
    g.add("LayerNormalization", [x, g.floats(8)], domain="")
    g.check(g.imported())


def test_embeddings() -> None:
    g = Nodes()
    ids, mask = g.rng.integers(0, 5, (2, 3)).astype(np.int32), np.array([[1, 1, 0], [2, 0, 1]], np.int32)
    words, places, segments, gamma, beta = g.floats(5, 8), g.floats(4, 8), g.floats(2, 8), g.floats(8), g.floats(8)
    whole = [ids, ids % 2, words, places, segments, gamma, beta]
    at = np.array([[3, 0, 1]], np.int32)
    op = "EmbedLayerNormalization"
    g.add(op, [*whole, mask], given=(0, 1, 7), outputs=[F32, I32, F32])
    g.add(op, [*whole, mask, at], given=(0, 1, 7, 8), outputs=[F32, I32, F32], epsilon=0.2)
    g.add(op, [ids, None, words, places, None, gamma, beta], outputs=[F32, I32], mask_index_type=1)
    kept = [g.bytes_("uint8", *v.shape) for v in (words, places, segments, gamma, beta)]
    numbers = [np.float32(v) for v in (0.02, 0.03, 0.01, 0.02, 0.05)], [np.uint8(v) for v in (120, 130, 3, 100, 128)]
    tables = [ids, ids % 2, *kept, mask, *numbers[0], *numbers[1]]
    g.add("QEmbedLayerNormalization", tables, given=(0, 1, 7), outputs=[F32, I32])
    g.check(g.imported())


def test_products_with_transposes() -> None:
    g = Nodes()
    a, b = g.floats(2, 3, 4, 5), g.floats(2, 3, 5, 6)

    def lying(x: Any, batch: bool, last: bool) -> Any:
        x = x.swapaxes(2, 3) if last else x
        return np.ascontiguousarray(np.moveaxis(x, 2, 0) if batch else x)

    for flags in ((0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 1, 1, 1), (0, 1, 1, 0)):
        names = dict(zip(("transA", "transB", "transBatchA", "transBatchB"), flags, strict=True))
        factors = [lying(a, bool(flags[2]), bool(flags[0])), lying(b, bool(flags[3]), bool(flags[1]))]
        g.add("FusedMatMul", factors, given=(0, 1), alpha=0.5, **names)
    g.add("FusedMatMul", [g.floats(5), g.floats(2, 5, 3)], given=(0, 1), transA=1)
    g.add("TransposeMatMul", [lying(a, False, True), b], given=(0, 1), transA=1, alpha=3.0)
    g.add("MatMulInteger16", [g.bytes_("int16", 3, 4), g.bytes_("int16", 4, 5)], given=(0, 1), outputs=[I32])
    g.check(g.imported())


def test_products_with_activations() -> None:
    g = Nodes()
    gemm = [g.floats(4, 5), g.floats(7, 5), g.floats(7)]
    parameters: dict[str, dict[str, float]] = {
        **{name: {} for name in ("Relu", "Sigmoid", "Tanh", "Softplus", "Softsign")},
        **{name: {"alpha": 0.3} for name in ("LeakyRelu", "Elu", "ThresholdedRelu")},
        "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
        "Selu": {"alpha": 1.3, "gamma": 0.9},
    }
    for name, given in parameters.items():
        more = {f"activation_{k}": v for k, v in given.items()}
        g.add("FusedGemm", gemm, transB=1, alpha=0.5, beta=2.0, activation=name, **more)
    image, weight = g.floats(1, 4, 6, 5), [g.floats(8, 4, 3, 3), g.floats(8)]
    for name, numbers in (
        ("Relu", []),
        ("Tanh", []),
        ("LeakyRelu", [0.2]),
        ("HardSigmoid", [0.3, 0.4]),
        ("Clip", [-0.3, 0.4]),
    ):
        more: dict[str, Any] = {"activation_params": numbers} if numbers else {}
        g.add("FusedConv", [image, *weight], activation=name, pads=[1] * 4, **more)
    half, residual = g.floats(8, 2, 3, 3), g.floats(1, 8, 3, 2)
    window: dict[str, Any] = {"pads": [1, 0, 1, 1], "strides": [2, 2], "group": 2, "kernel_shape": [3, 3]}
    g.add("FusedConv", [image, half, weight[1], residual], given=(0, 3), activation="Relu", **window)
    g.add("FusedConv", [image, g.floats(8, 4, 1, 1)])
    g.add("NhwcMaxPool", [g.bytes_("uint8", 1, 7, 6, 3)], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    g.add("NhwcMaxPool", [g.bytes_("int8", 1, 7, 6, 3)], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    g.check(g.imported())


# -- weights of a few bits -------------------------------------------------------------------------


def few_bits(g: Nodes, bits: int, depth: int, rows: int, block: int, batch: int = 3) -> None:
    """Products in the ways to give zero points, which onnxruntime takes as floats of up to four bits only."""
    blocks, x = -(-depth // block), g.floats(2, batch, depth)
    weight, scales = g.bytes_("uint8", rows, blocks, block * bits // 8), g.floats(rows, blocks) * np.float32(0.1)
    packed = g.bytes_("uint8", rows, -(-blocks * bits // 8))
    attrs: dict[str, Any] = {"K": depth, "N": rows, "block_size": block, "bits": bits}
    g.add("MatMulNBits", [x, weight, scales], **attrs)
    g.add("MatMulNBits", [x, weight, scales, packed, None, g.floats(rows)], **attrs)
    g.add("MatMulNBits", [x, weight, scales.reshape(-1), packed.reshape(-1)], accuracy_level=1, **attrs)
    if bits == 4:
        g.add("MatMulNBits", [x, weight, scales, g.floats(rows, blocks)], **attrs)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_weights_of_few_bits(bits: int) -> None:
    g = Nodes()
    for depth, rows, block in ((64, 5, 16), (70, 3, 16), (96, 7, 32), (128, 4, 64), (40, 3, 64), (256, 2, 128)):
        few_bits(g, bits, depth, rows, block)
    g.check(g.imported(), 1e-4)


def test_weights_name_their_groups() -> None:
    g = Nodes()
    groups = g.rng.integers(0, 4, 64).astype(np.int32)
    operands = [g.floats(2, 64), g.bytes_("uint8", 5, 4, 8), g.floats(5, 4), None, groups]
    g.add("MatMulNBits", operands, K=64, N=5, block_size=16, bits=4)
    g.check(g.imported())


def test_weights_of_four_bits_may_stand_for_floats() -> None:
    g = Nodes()
    for depth, rows, block in ((32, 5, 16), (64, 6, 32), (7, 3, 16)):
        for kind in (0, 1):
            scales = np.abs(g.floats(-(-rows * depth // block)))
            operands = [g.floats(2, depth), g.bytes_("uint8", (rows * depth + 1) // 2), scales]
            g.add("MatMulBnb4", operands, K=depth, N=rows, block_size=block, quant_type=kind)
    g.check(g.imported())


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_rows_of_few_bits_are_picked(bits: int) -> None:
    """What is picked from outside is 0."""
    g = Nodes()
    indices = np.array([[0, 4, -1], [7, -9, 2]], np.int64)
    table = g.bytes_("uint8", 5, 64 * bits // 8)
    attrs: dict[str, Any] = {"given": (1,), "outputs": [F32], "bits": bits, "gather_axis": 0}
    g.add("GatherBlockQuantized", [table, indices, g.floats(5, 2)], block_size=32, quantize_axis=1, **attrs)
    zeros = g.bytes_("uint8", 5, 4 * bits // 8)
    g.add("GatherBlockQuantized", [table, indices, g.floats(5, 4), zeros], block_size=16, quantize_axis=-1, **attrs)
    g.check(g.imported())


# -- small ones ------------------------------------------------------------------------------------


def test_other_names_of_standard_operators() -> None:
    g = Nodes()
    x, grid = g.floats(2, 5, 6), g.floats(1, 3, 4, 2)
    g.add("Trilu", [x, np.array(-1)], upper=0)
    g.add("GatherND", [x, np.array([[0, 1], [1, 4]])], given=(0, 1))
    g.add("GridSample", [g.floats(1, 2, 5, 6), grid], given=(0, 1), padding_mode="border")
    g.add("GridSample", [g.floats(1, 2, 5, 6), grid], given=(0, 1), mode="bicubic", align_corners=1)
    g.add("Pad", [x, np.array([[0, 1, 2, 0, 0, 3]])])
    g.add("Pad", [x, np.array([0, 1, 2, 0, 0, 3]), np.float32(7)])
    g.add("Range", [np.float32(1), np.float32(5)], given=())
    g.add("Range", [np.int32(1), np.int32(9), np.int32(3)], given=())
    g.add("ExpandDims", [x, np.array(-1, np.int32)])
    g.add("UnfoldTensor", [x], dim=1, size=3, step=2)
    g.add("UnfoldTensor", [x], size=2)
    for metric in ("euclidean", "sqeuclidean"):
        g.add("CDist", [g.floats(5, 7), g.floats(4, 7)], given=(0, 1), metric=metric)
    g.check(g.imported())


# -- compiled, and whole models --------------------------------------------------------------------


@pytest.mark.parametrize("target", ["cpu", pytest.param("x86-64-v3", marks=pytest.mark.long)])
def test_machine_code_gives_onnxruntimes_numbers(target: str) -> None:
    g = Nodes()
    norms(g, 1, 7, 33)
    few_bits(g, 4, 70, 19, 32)
    g.add("QuickGelu", [g.floats(3, 37)])
    g.add(
        "FusedConv",
        [g.floats(1, 3, 9, 7), g.floats(5, 3, 3, 3), g.floats(5)],
        activation="LeakyRelu",
        activation_params=[0.1],
    )
    g.check(g.compiled(target), 1e-4)


def test_what_onnxruntimes_optimiser_writes_is_compiled(tmp_path: Path) -> None:
    made = models.encoder_block(heads=2, width=32, length=20)
    optimised = in_onnxruntimes_terms(made, tmp_path / "optimised.onnx")
    operators = {n.op_type for n in optimised.graph.node if n.domain}
    assert {"FusedMatMul", "SkipLayerNormalization", "Gelu"} <= operators
    random = np.random.default_rng(0)
    inputs = {"hidden": random.standard_normal((1, 20, 32)).astype(np.float32), "mask": np.arange(20)[None] // 13}
    (found,) = lamina.compile(optimised.SerializeToString(), threads=1).run(inputs).values()
    (plain,) = lamina.compile(made.SerializeToString(), threads=1).run(inputs).values()
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-5 * np.abs(plain).max())


def in_onnxruntimes_terms(model: ModelProto, path: Path, level: str = "ORT_ENABLE_EXTENDED") -> ModelProto:
    """A model as onnxruntime's optimiser writes it."""
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath, options.log_severity_level = str(path), 3
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    made = ModelProto()
    made.ParseFromString(path.read_bytes())
    return made


# -- what is refused -------------------------------------------------------------------------------


def refusal(op: str, inputs: int, outputs: int = 1, **attrs: Any) -> str:
    """What the check of a model of one node says; its inputs are those whose bits are in a number."""
    names = [f"i{k}" if inputs >> k & 1 else "" for k in range(inputs.bit_length())]
    node = helper.make_node(op, names, [f"y{k}" for k in range(outputs)], domain="com.microsoft", **attrs)
    given = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in names if n]
    graph = helper.make_graph([node], "one", given, [helper.make_tensor_value_info("y0", TensorProto.FLOAT, None)])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    report = check_model(helper.make_model(graph, opset_imports=sets, ir_version=8))
    assert not report.ok
    return str(report)


REFUSED: list[tuple[str, str, int, dict[str, Any]]] = [
    ("do_rotary is 1, only 0 is supported", "Attention", 0b111, {"num_heads": 1, "do_rotary": 1}),
    ("the input past_sequence_length is not supported", "Attention", 0b1000111, {"num_heads": 1}),
    ("bits is 3, only 2 and 4 and 8 is supported", "MatMulNBits", 0b111, {"bits": 3, "K": 1, "N": 1, "block_size": 16}),
    ("the input k_scale is not", "GroupQueryAttention", 0b1000001111111, {"num_heads": 1, "kv_num_heads": 1}),
    ("activation is 'Sin', only", "FusedConv", 0b11, {"activation": "Sin"}),
    ("not a standard ONNX operator", "BeamSearch", 0b11, {}),
]


@pytest.mark.parametrize(("words", "op", "inputs", "attrs"), REFUSED)
def test_what_is_not_supported_is_named_by_the_check(words: str, op: str, inputs: int, attrs: dict[str, Any]) -> None:
    assert words in refusal(op, inputs, **attrs)


def test_layouts_of_onnxruntimes_own_are_refused_by_name(tmp_path: Path) -> None:
    """How many channels a block has is the machine's matter that wrote the file, and not in it."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [32, 16, 3, 3], np.ones(32 * 16 * 9))
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y], [weight])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    optimised = in_onnxruntimes_terms(made, tmp_path / "all.onnx", "ORT_ENABLE_ALL")
    report = str(check_model(optimised))
    assert "com.microsoft.nchwc.Conv" in report and "save with ORT_ENABLE_EXTENDED" in report


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


BITS = [ones(2, 64), np.ones((5, 4, 8), np.uint8), ones(5, 4)]
MISFITS: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("MatMulNBits", BITS, {"K": 65, "N": 5, "block_size": 16}, "K = 65, N = 5 in blocks of 16 numbers of 4 bits"),
    ("SkipLayerNormalization", [ones(1, 2), ones(3, 1, 2), ones(2)], {}, "what is added must broadcast"),
    ("UnfoldTensor", [ones(2, 3)], {"size": 4}, "windows of 4 elements 1 apart do not fit"),
    ("ExpandDims", [ones(2, 3), np.array(5, np.int32)], {}, "axis 5 is out of range"),
]


@pytest.mark.parametrize(("op", "inputs", "attrs", "words"), MISFITS)
def test_what_does_not_fit_is_named(op: str, inputs: list[Any], attrs: dict[str, Any], words: str) -> None:
    g = Nodes()
    g.add(op, inputs, **attrs)
    with pytest.raises(LaminaError, match=words) as found:
        g.imported()
    assert isinstance(found.value, InputError) and op in str(found.value)
