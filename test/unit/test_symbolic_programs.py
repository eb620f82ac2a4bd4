"""Programs with symbols from relay text to machine code: one compilation, every size."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from lamina.backends.cpu.jit import host_target
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.target import TARGET
from lamina.driver.pipelines import Pipeline
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.frontends.onnx import load_onnx
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.printing import module_text
from lamina.runtime.compiled import CompiledProgram
from lamina.runtime.llvm_module import load_module
from lamina.transform import PassContext

sys.path.insert(0, str(Path(__file__).parents[1]))

from language_models import gpt  # noqa: E402

Arrays = dict[str, np.ndarray[Any, Any]]

SMALL = """
func.func @main(
    %x: tensor<?x64xf32, #relay.dims<n, _>>, %w: tensor<32x64xf32>, %b: tensor<32xf32>
  ) -> tensor<?x32xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<?x64xf32, #relay.dims<n, _>>, tensor<32x64xf32>) -> tensor<?x32xf32>
  %1 = relay.add %0, %b : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  %2 = relay.nn.relu %1 : tensor<?x32xf32>
  %3 = relay.nn.softmax %2 : tensor<?x32xf32>
  return %3 : tensor<?x32xf32>
}
"""


def lowered(module: ModuleOp, dims: str, store: ParamStore | None = None, naive: bool = False) -> CompiledProgram:
    """The program of a module after relay-infer-symbols, by the pipeline that compiles models.

    `naive` leaves the schedules out.
    """
    target = host_target(1)
    ctx = LaminaContext()
    ctx.params = store or ParamStore()
    module.attributes[TARGET] = target
    context = PassContext(opt_level=3, disabled_pass=["cpu-schedule"] if naive else [])
    pipeline = Pipeline(context, target=target)
    run_pipeline(module, ctx, parse_pipeline(f'relay-infer-symbols{{dims="{dims}"}}'))
    pipeline.run(module, ctx)
    return load_module(module, store)


def compiled(text: str, dims: str = "", naive: bool = False) -> CompiledProgram:
    return lowered(parse_text(LaminaContext(), text, "model.mlir"), dims, naive=naive)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def check(program: CompiledProgram, arrays: Arrays, expected: Any) -> None:
    (found,) = program.run(arrays).values()
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


def drawn(random: np.random.Generator, **shapes: tuple[int, ...]) -> Arrays:
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def test_one_compilation_serves_every_size() -> None:
    program = compiled(SMALL, "n=1..4096")
    random = np.random.default_rng(0)
    for n in (1, 2, 7, 64, 1000):
        a = drawn(random, x=(n, 64), w=(32, 64), b=(32,))
        check(program, a, softmax(np.maximum(a["x"] @ a["w"].T + a["b"], 0)))


@pytest.mark.parametrize(
    ("dims", "rows", "message"),
    [
        ("n=1..64", 65, "size 'n': 65 given, it is from 1 to 64"),
        ("n=4..64:4", 6, "size 'n': 6 given, it is a multiple of 4"),
    ],
)
def test_sizes_that_were_not_declared_are_refused(dims: str, rows: int, message: str) -> None:
    a = drawn(np.random.default_rng(0), x=(rows, 64), w=(32, 64), b=(32,))
    with pytest.raises(InputError, match=message):
        compiled(SMALL, dims).run(a)


ROWS, PAST = "tensor<?x64xf32, #relay.dims<s, _>>", "tensor<4x?x16xf32, #relay.dims<_, p, _>>"
ATTENTION = f"""
func.func @main(%x: {ROWS}, %past: {PAST}, %w: tensor<64x64xf32>) -> (tensor<?x64xf32>, tensor<4x?x16xf32>) {{
  %q = relay.nn.dense %x, %w : ({ROWS}, tensor<64x64xf32>) -> tensor<?x64xf32>
  %q1 = relay.reshape %q {{newshape = [-1, 4, 16]}} : (tensor<?x64xf32>) -> tensor<?x4x16xf32>
  %q2 = relay.transpose %q1 {{axes = [1, 0, 2]}} : (tensor<?x4x16xf32>) -> tensor<4x?x16xf32>
  %k = relay.concatenate %past, %q2 {{axis = 1}} : ({PAST}, tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = relay.nn.batch_matmul %q2, %k : (tensor<4x?x16xf32>, tensor<4x?x16xf32>) -> tensor<4x?x?xf32>
  %s1 = relay.nn.softmax %s : tensor<4x?x?xf32>
  %o = relay.nn.batch_matmul %s1, %k {{transpose_b = false}}
    : (tensor<4x?x?xf32>, tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %o1 = relay.transpose %o {{axes = [1, 0, 2]}} : (tensor<4x?x16xf32>) -> tensor<?x4x16xf32>
  %o2 = relay.reshape %o1 {{newshape = [-1, 64]}} : (tensor<?x4x16xf32>) -> tensor<?x64xf32>
  return %o2, %k : tensor<?x64xf32>, tensor<4x?x16xf32>
}}
"""


def test_attention_over_a_past_that_grows() -> None:
    program = compiled(ATTENTION, "s=1..512, p=0..1024", naive=True)
    random = np.random.default_rng(1)
    for s, p in ((1, 0), (5, 0), (1, 7), (3, 100), (64, 1)):
        a = drawn(random, x=(s, 64), past=(4, p, 16), w=(64, 64))
        a["w"] /= 8
        q = (a["x"] @ a["w"].T).reshape(s, 4, 16).transpose(1, 0, 2)
        k = np.concatenate([a["past"], q], 1)
        mixed = softmax(q @ k.transpose(0, 2, 1)) @ k
        first, second = program.run(a).values()
        np.testing.assert_allclose(first, mixed.transpose(1, 0, 2).reshape(s, 64), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(second, k, rtol=1e-4, atol=1e-5)


def test_a_convolutional_network_of_any_batch() -> None:
    images = "tensor<?x3x16x16xf32, #relay.dims<n, _, _, _>>"
    text = f"""
    func.func @main(%x: {images}, %w: tensor<8x3x3x3xf32>, %d: tensor<5x8xf32>) -> tensor<?x5xf32> {{
      %0 = relay.nn.conv2d %x, %w {{padding = [1, 1]}} : ({images}, tensor<8x3x3x3xf32>) -> tensor<?x8x16x16xf32>
      %1 = relay.nn.relu %0 : tensor<?x8x16x16xf32>
      %2 = relay.nn.max_pool2d %1 {{pool_size = [2, 2], strides = [2, 2]}}
        : (tensor<?x8x16x16xf32>) -> tensor<?x8x8x8xf32>
      %3 = relay.nn.global_avg_pool2d %2 : (tensor<?x8x8x8xf32>) -> tensor<?x8x1x1xf32>
      %4 = relay.nn.batch_flatten %3 : (tensor<?x8x1x1xf32>) -> tensor<?x8xf32>
      %5 = relay.nn.dense %4, %d : (tensor<?x8xf32>, tensor<5x8xf32>) -> tensor<?x5xf32>
      return %5 : tensor<?x5xf32>
    }}
    """
    program = compiled(text, naive=True)
    random = np.random.default_rng(2)
    for n in (1, 2, 5, 16):
        a = drawn(random, x=(n, 3, 16, 16), w=(8, 3, 3, 3), d=(5, 8))
        padded = np.pad(a["x"], ((0, 0), (0, 0), (1, 1), (1, 1)))
        taps = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        y = np.maximum(np.einsum("ncyxrs,kcrs->nkyx", taps, a["w"]), 0)
        y = y.reshape(n, 8, 8, 2, 8, 2).max((3, 5)).mean((2, 3))
        check(program, a, y @ a["d"].T)


OPENED = {"batch": "1..8", "seq": "1..256", "past": "0..255"}


@pytest.mark.slow
def test_a_step_of_a_language_model_from_onnx() -> None:
    runtime = pytest.importorskip("onnxruntime")
    model = gpt()
    imported = load_onnx(model, OPENED)
    program = lowered(imported.module, "", imported.store, naive=True)
    session = runtime.InferenceSession(model.SerializeToString())
    random = np.random.default_rng(3)
    for batch, seq, past in ((1, 1, 0), (2, 5, 0), (1, 1, 7), (3, 4, 50), (8, 1, 100)):
        a: Arrays = drawn(random, past_k0=(batch, 4, past, 16), past_v0=(batch, 4, past, 16))
        a["ids"] = random.integers(0, 100, (batch, seq))
        found = program.run(a)
        for port, expected in zip(session.get_outputs(), session.run(None, a), strict=True):
            np.testing.assert_allclose(found[port.name], expected, rtol=1e-4, atol=1e-4)
    a = drawn(random, past_k0=(1, 4, 200, 16), past_v0=(1, 4, 200, 16)) | {"ids": np.zeros((1, 60), np.int64)}
    with pytest.raises(InputError, match="past = 200 given, the program was compiled for"):
        program.run(a)


def _small_onnx(kind: str, **attrs: Any) -> Any:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 4]) for n in ("x", "y"))
    return helper.make_model(helper.make_graph([helper.make_node(kind, ["x"], ["y"], **attrs)], "small", [x], [y]))


def test_models_whose_ops_depend_on_sizes_are_refused() -> None:
    with pytest.raises(UsageError, match='a shape is given for "batches", which is no input'):
        load_onnx(_small_onnx("Relu"), {"batches": "1..8"})
    # Without axes it drops the batch where that is 1.
    with pytest.raises(InputError, match="needs batch >= 2, the values are batch=1..8"):
        load_onnx(_small_onnx("Squeeze"), {"batch": "1..8"})
    module = load_onnx(_small_onnx("Squeeze"), {"batch": "2..8"}).module
    assert "tensor<?x4xf32, #relay.dims<batch, _>>" in module_text(module)


def _one_node(
    kind: str, inputs: Mapping[str, tuple[int, Sequence[Any]]], opset: int, weights: Mapping[str, Any], **attrs: Any
) -> Any:
    infos = [helper.make_tensor_value_info(n, type_, shape) for n, (type_, shape) in inputs.items()]
    node = helper.make_node(kind, [*inputs, *weights], ["y"], **attrs)
    stored = [numpy_helper.from_array(a, n) for n, a in weights.items()]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


BYTES, FLOATS = TensorProto.UINT8, TensorProto.FLOAT


@pytest.mark.parametrize(
    "model",
    [
        _one_node("Resize", {"x": (FLOATS, [1, 1, "n", 4])}, 18,
                  {"roi": np.zeros(0, np.float32), "scales": np.array([1, 1, 2, 2], np.float32)}, mode="linear"),
        _one_node("ConvInteger", {"x": (BYTES, [1, 1, 4, 4]), "w": (BYTES, ["n", 1, 2, 2])}, 18, {}),
        _one_node("TensorScatter", {"p": (FLOATS, [1, 2, "n", 4]), "u": (FLOATS, [1, 2, 1, 4]),
                                    "w": (TensorProto.INT64, [1])}, 24, {}),
        _one_node("DFT", {"x": (FLOATS, [1, "n", 1])}, 17, {}, axis=1),
    ],
    ids=lambda m: m.graph.node[0].op_type,
)  # fmt: skip
def test_what_counts_with_the_number_of_a_symbol_says_so(model: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"node \"y\" \(\w+, opset \d+\): counts with n == 8"):
        load_onnx(model, {"n": "1..8"})


def test_rows_of_a_product_that_are_not_known() -> None:
    model = _one_node("Gemm", {"x": (FLOATS, [3, 5]), "w": (FLOATS, ["n", 5])}, 18, {}, transB=1)
    imported = load_onnx(model, {"n": "1..8"})
    program = lowered(imported.module, "", imported.store, naive=True)
    for n in (1, 2, 8):
        a = drawn(np.random.default_rng(n), x=(3, 5), w=(n, 5))
        check(program, a, a["x"] @ a["w"].T)


@pytest.mark.parametrize("opset", [13, 18])
def test_equal_parts_of_an_extent_that_is_a_multiple(opset: int) -> None:
    model = _one_node("Split", {"x": (FLOATS, ["n", 4])}, opset, {}, **({"num_outputs": 2} if opset == 18 else {}))
    model.graph.node[0].output.append("z")
    model.graph.output.append(helper.make_tensor_value_info("z", FLOATS, None))
    imported = load_onnx(model, {"n": "2..8:2"})
    assert "tensor<?x4xf32, #relay.dims<n floordiv 2, _>>" in module_text(imported.module)
    program = lowered(imported.module, "", imported.store, naive=True)
    for n in (2, 4, 8):
        a = drawn(np.random.default_rng(n), x=(n, 4))
        np.testing.assert_array_equal(np.concatenate([*program.run(a).values()]), a["x"])
    with pytest.raises((InputError, UnsupportedError), match=r"needs n"):
        load_onnx(model, {"n": "1..8"})


def test_a_layer_of_open_width_without_bias() -> None:
    """The zeros that are added have as many elements as a run tells."""
    inputs = {"x": (FLOATS, [2, "n", 4]), "s": (FLOATS, ["n", 4])}
    imported = load_onnx(_one_node("LayerNormalization", inputs, 17, {}, axis=1), {"n": "1..50"})
    program = lowered(imported.module, "", imported.store)
    for n in (1, 5, 50):
        a = drawn(np.random.default_rng(n), x=(2, n, 4), s=(n, 4))
        centred = a["x"] - a["x"].mean((1, 2), keepdims=True)
        check(program, a, centred / np.sqrt(a["x"].var((1, 2), keepdims=True) + 1e-5) * a["s"])


def test_a_function_of_onnx_over_an_open_batch() -> None:
    """ONNX writes the function for the types of the operands, of which an extent that is a symbol is unknown."""
    inputs = {"x": (FLOATS, ["n", 5]), "labels": (TensorProto.INT64, ["n"])}
    imported = load_onnx(_one_node("SoftmaxCrossEntropyLoss", inputs, 13, {}), {"n": "1..8"})
    program = lowered(imported.module, "", imported.store, naive=True)
    for n in (1, 3, 8):
        a = drawn(np.random.default_rng(n), x=(n, 5)) | {"labels": np.arange(n) % 5}
        check(program, a, np.asarray(-np.log(softmax(a["x"])[np.arange(n), a["labels"]]).mean()))


@pytest.mark.parametrize(("channels", "groups"), [(4, 1), (3, 3), (4, 2)])
def test_groups_of_an_open_batch_where_loops_of_one_step_stand_between(channels: int, groups: int) -> None:
    data = f"tensor<?x{channels}x3x2xf32, #relay.dims<n, _, _, _>>"
    scale = f"tensor<{channels}xf32>"
    program = compiled(
        f"""
        func.func @main(%x: {data}, %g: {scale}, %b: {scale}) -> {data} {{
          %0 = relay.nn.group_norm %x, %g, %b {{num_groups = {groups}}} : ({data}, {scale}, {scale}) -> {data}
          return %0 : {data}
        }}
        """,
        "n=1..40",
    )
    for n in (1, 3, 40):
        a = drawn(np.random.default_rng(n), x=(n, channels, 3, 2), g=(channels,), b=(channels,))
        rows = a["x"].reshape(n, groups, -1)
        y = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
        g, b = (a[k].reshape(-1, 1, 1) for k in "gb")
        check(program, a, y.reshape(a["x"].shape) * g + b)


@pytest.mark.parametrize("naive", [False, True])
def test_instances_of_images_of_an_open_height(naive: bool) -> None:
    images = "tensor<2x3x?x4xf32, #relay.dims<_, _, n, _>>"
    program = compiled(
        f"""
        func.func @main(%x: {images}, %g: tensor<3xf32>, %b: tensor<3xf32>) -> {images} {{
          %0 = relay.nn.instance_norm %x, %g, %b : ({images}, tensor<3xf32>, tensor<3xf32>) -> {images}
          return %0 : {images}
        }}
        """,
        "n=1..300",
        naive,
    )
    for n in (1, 2, 47, 300):
        a = drawn(np.random.default_rng(n), x=(2, 3, n, 4), g=(3,), b=(3,))
        x, (g, b) = a["x"], (a[k].reshape(-1, 1, 1) for k in "gb")
        centred = x - x.mean((2, 3), keepdims=True)
        check(program, a, centred / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5) * g + b)


def test_shapes_that_exporters_compute_from_others() -> None:
    """A mask expanded to a shape that has -1 where an extent stays, as torch writes `expand`."""
    names = iter(f"v{n}" for n in range(100))
    nodes: list[Any] = []

    def op(kind: str, *inputs: str, out: str = "", **attrs: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [out or next(names)], **attrs))
        return nodes[-1].output[0]

    def const(*values: int, dims: Sequence[int] | None = None) -> str:
        shape = [len(values)] if dims is None else dims
        return op("Constant", value=helper.make_tensor("c", TensorProto.INT64, shape, values))

    shape = op("Shape", "x")
    batch, seq = (op("Gather", shape, const(n)) for n in (0, 1))
    wanted = op("Concat", batch, const(-1), seq, seq, axis=0)
    ones = op("ConstantOfShape", op("Shape", wanted), value=helper.make_tensor("one", TensorProto.INT64, [1], [1]))
    kept = op("Equal", wanted, op("Mul", ones, const(-1)))
    op("Expand", op("Unsqueeze", "x", const(1, 2)), op("Where", kept, ones, wanted), out="y")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 1, "seq", "seq"])
    model = helper.make_model(helper.make_graph(nodes, "mask", [x], [y]), opset_imports=[helper.make_opsetid("", 17)])
    imported = load_onnx(model, {"batch": "1..8", "seq": "1..64"})
    program = lowered(imported.module, "", imported.store, naive=True)
    for b, s in ((1, 1), (3, 5), (2, 64)):
        a = drawn(np.random.default_rng(4), x=(b, s))
        check(program, a, np.broadcast_to(a["x"][:, None, None, :], (b, 1, s, s)))


def test_products_of_symbols_are_sizes_of_their_own() -> None:
    rows = "tensor<?x4xf32, #relay.dims<b*s, _>>"
    program = compiled(
        f"""
        func.func @main(%x: tensor<?x?xf32, #relay.dims<b, s>>, %z: {rows}, %c: tensor<f32>) -> {rows} {{
          %0 = relay.shape_of %x {{dtype = "int64"}} : (tensor<?x?xf32, #relay.dims<b, s>>) -> tensor<2xi64>
          %1 = relay.prod %0 {{axis = [0], keepdims = true}} : (tensor<2xi64>) -> tensor<1xi64>
          %2 = relay.constant dense<4> : tensor<1xi64>
          %3 = relay.concatenate %1, %2 {{axis = 0}} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
          %4 = relay.dyn.full %c, %3 {{dtype = "float32"}} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
          %5 = relay.add %4, %z : (tensor<?x?xf32>, {rows}) -> {rows}
          return %5 : {rows}
        }}
        """,
        naive=True,
    )
    for b, s in ((2, 3), (5, 1)):
        a: Arrays = drawn(np.random.default_rng(5), x=(b, s), z=(b * s, 4)) | {"c": np.array(2, np.float32)}
        check(program, a, a["z"] + 2)
    a = drawn(np.random.default_rng(5), x=(2, 3), z=(5, 4)) | {"c": np.array(2, np.float32)}
    with pytest.raises(InputError, match=r"shape \[5, 4\] given"):
        program.run(a)


def test_dimensions_are_merged_and_split_by_sizes() -> None:
    images = "tensor<?x?x8xf32, #relay.dims<b, s, _>>"
    program = compiled(
        f"""
        func.func @main(%x: {images}, %w: tensor<4x8xf32>) -> tensor<?x?x4xf32> {{
          %0 = relay.reshape %x {{newshape = [-3, 0]}} : ({images}) -> tensor<?x8xf32>
          %1 = relay.nn.dense %0, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
          %2 = relay.shape_of %x {{dtype = "int64"}} : ({images}) -> tensor<3xi64>
          %3 = relay.strided_slice %2 {{begin = [0], end = [2]}} : (tensor<3xi64>) -> tensor<2xi64>
          %4 = relay.constant dense<4> : tensor<1xi64>
          %5 = relay.concatenate %3, %4 {{axis = 0}} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
          %6 = relay.dyn.reshape %1, %5 : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
          %7 = relay.nn.relu %6 : tensor<?x?x?xf32>
          return %7 : tensor<?x?x?xf32>
        }}
        """.replace("-> tensor<?x?x4xf32> {", "-> tensor<?x?x?xf32> {"),
        naive=True,
    )
    for b, s in ((1, 1), (2, 3), (7, 5)):
        a = drawn(np.random.default_rng(6), x=(b, s, 8), w=(4, 8))
        check(program, a, np.maximum(a["x"] @ a["w"].T, 0))
