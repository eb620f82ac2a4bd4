"""OpenBLAS computes what the ops say, and whole models as we do: products, convolutions, the same at every level."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.dialects.relay import find_op
from lamina.driver.execute import run_module
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "test" / "unit")]

import models  # noqa: E402
from external_programs import RESIDUAL, arrays_for, check_texts_of_levels, compiled, needs_openblas  # noqa: E402

pytestmark = pytest.mark.slow


def text_of(body: str, inputs: Sequence[str], result: str) -> str:
    taken = ", ".join(f"%x{n}: tensor<{t}>" for n, t in enumerate(inputs))
    return f"func.func @main({taken}) -> tensor<{result}> {{\n{body}\n  return %r : tensor<{result}>\n}}\n"


def by_oracles(text: str, arrays: Sequence[Any]) -> Any:
    """The one result of a program, each op computed by its oracle: neither OpenBLAS nor our code has a part in it."""
    ctx = LaminaContext()
    module = parse_text(ctx, text, "net.mlir")
    (result,) = run_module(module, ctx, "main", {f"x{n}": a for n, a in enumerate(arrays)}).values()
    return result


def agree(tmp_path: Path, text: str, composites: str, target: str = "openblas, cpu") -> lamina.Executable:
    """Compile for the backends: what the oracles of the ops give, and `composites` are among what went to one."""
    exe = compiled(tmp_path, text, target)
    assert composites in exe.placement, exe.placement
    arrays = arrays_for(exe)
    given, expected = exe(*arrays), by_oracles(text, arrays)
    assert given.dtype == expected.dtype
    tolerance = 1e-4 if given.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance)
    return exe


# -- OpenBLAS ----------------------------------------------------------------------------------------------------


def convolution(seed: int) -> tuple[str, str]:
    """A random convolution with everything that can stand behind it."""
    rng = np.random.default_rng(seed)
    dtype = ("f32", "f64")[seed % 2]
    groups = int(rng.choice([1, 1, 2, 3]))
    c, o = groups * int(rng.integers(1, 4)), groups * int(rng.integers(1, 4))
    if seed % 5 == 0:
        groups = o = c  # depthwise
    kernel = [1, 1] if seed % 4 == 0 else [int(n) for n in rng.integers(1, 4, 2)]
    strides, dilation = ([int(n) for n in rng.integers(1, 3, 2)] for _ in range(2))
    padding = [int(n) for n in rng.integers(0, 3, 4)]
    if seed % 8 == 0:
        strides, padding = [1, 1], [0, 0, 0, 0]  # without columns
    h, w = (int(n) for n in rng.integers(7, 20, 2))
    out = [
        (size + before + behind - (k - 1) * d - 1) // s + 1
        for size, before, behind, k, d, s in zip(
            (h, w), padding[:2], padding[2:], kernel, dilation, strides, strict=True
        )
    ]
    n = int(rng.integers(1, 3))
    result = f"{n}x{o}x{out[0]}x{out[1]}x{dtype}"
    x, k = f"{n}x{c}x{h}x{w}x{dtype}", f"{o}x{c // groups}x{kernel[0]}x{kernel[1]}x{dtype}"
    attrs = f"strides = {strides}, padding = {padding}, dilation = {dilation}, groups = {groups}"
    lines = [f"  %c = relay.nn.conv2d %x0, %x1 {{{attrs}}} : (tensor<{x}>, tensor<{k}>) -> tensor<{result}>"]
    lines.append(
        f"  %b = relay.nn.bias_add %c, %x2 : (tensor<{result}>, tensor<{o}x{dtype}>) -> tensor<{result}>"
        if seed % 3
        else f"  %b = relay.add %x2, %c : (tensor<{o}x1x1x{dtype}>, tensor<{result}>) -> tensor<{result}>"
    )
    lines.append(f"  %s = relay.add %b, %x3 : tensor<{result}>")
    lines.append(f"  %r = relay.nn.relu %s : tensor<{result}>")
    bias = f"{o}x{dtype}" if seed % 3 else f"{o}x1x1x{dtype}"
    return text_of("\n".join(lines), [x, k, bias, result], result), "openblas.conv2d_bias_sum_relu"


@needs_openblas
@pytest.mark.parametrize("seed", range(24))
def test_random_convolutions_are_the_same(tmp_path: Path, seed: int) -> None:
    agree(tmp_path, *convolution(seed))


@needs_openblas
def test_columns_in_parts_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lamina.backends.byoc.openblas import codegen

    monkeypatch.setattr(codegen, "COLUMN_BYTES", 4000)
    for seed in (1, 3, 5, 7):
        agree(tmp_path, *convolution(seed))


PRODUCTS = {
    "dense of a vector": ("nn.dense %x0, %x1", ["3xf32", "2x3xf32"], "2xf32"),
    "dense of rank 3": ("nn.dense %x0, %x1", ["2x4x3xf64", "5x3xf64"], "2x4x5xf64"),
    "matmul": ("nn.matmul %x0, %x1", ["7x3xf32", "3x5xf32"], "7x5xf32"),
    "matmul, a": ("nn.matmul %x0, %x1 {transpose_a = true}", ["3x7xf64", "3x5xf64"], "7x5xf64"),
    "matmul, b": ("nn.matmul %x0, %x1 {transpose_b = true}", ["7x3xf32", "5x3xf32"], "7x5xf32"),
    "matmul, both": (
        "nn.matmul %x0, %x1 {transpose_a = true, transpose_b = true}",
        ["3x7xf32", "5x3xf32"],
        "7x5xf32",
    ),
    "batches": ("nn.batch_matmul %x0, %x1", ["4x7x3xf32", "4x5x3xf32"], "4x7x5xf32"),
    "one for all": ("nn.batch_matmul %x0, %x1", ["1x7x3xf64", "4x5x3xf64"], "4x7x5xf64"),
    "batches, a": (
        "nn.batch_matmul %x0, %x1 {transpose_a = true, transpose_b = false}",
        ["4x3x7xf32", "1x3x5xf32"],
        "4x7x5xf32",
    ),
    "a single number": ("nn.dense %x0, %x1", ["1x1xf32", "1x1xf32"], "1x1xf32"),
}


@needs_openblas
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_the_same(tmp_path: Path, name: str) -> None:
    op, inputs, result = PRODUCTS[name]
    types = ", ".join(f"tensor<{t}>" for t in inputs)
    agree(tmp_path, text_of(f"  %r = relay.{op} : ({types}) -> tensor<{result}>", inputs, result), "1 nn.")


@needs_openblas
@pytest.mark.parametrize("threads", [2, 3])
def test_shared_work_is_the_same(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts by several threads, in all ways in which work is cut: rows, columns, batches, images and groups."""
    from lamina.backends.byoc.openblas import crew
    from lamina.backends.byoc.openblas.codegen import openblas
    from lamina.passes.relay.partition.json_graphs import Graph, Node, Type, Value

    monkeypatch.setattr(crew, "SHARED", 0)
    counts: list[int] = []
    together = crew.together

    def counted(parts: Sequence[Callable[[], None]]) -> None:
        counts.append(len(parts))
        together(parts)

    monkeypatch.setattr("lamina.backends.byoc.openblas.codegen.together", counted)
    rng = np.random.default_rng(threads)
    plain = {"strides": [1], "padding": [0], "dilation": [1], "groups": 1}
    cases: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
        ("nn.dense", (7, 5), (3, 5), {}),
        ("nn.dense", (2, 5), (11, 5), {}),
        *(("nn.matmul", (5, 9) if a else (9, 5), (4, 5) if b else (5, 4), {"transpose_a": a, "transpose_b": b})
          for a in (False, True) for b in (False, True)),
        *(("nn.matmul", (5, 2) if a else (2, 5), (8, 5) if b else (5, 8), {"transpose_a": a, "transpose_b": b})
          for a in (False, True) for b in (False, True)),
        ("nn.batch_matmul", (5, 2, 3), (1, 4, 3), {"transpose_a": False, "transpose_b": True}),
        ("nn.conv2d", (1, 4, 9, 7), (6, 4, 1, 1), plain),
        ("nn.conv2d", (1, 4, 9, 7), (6, 2, 3, 3), plain | {"groups": 2, "padding": [1], "strides": [2]}),
        ("nn.conv2d", (3, 4, 2, 7), (2, 4, 2, 3), plain),
    ]  # fmt: skip
    for name, *shapes, attrs in cases:
        layouts = {"data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": "", "out_dtype": ""}
        op_type: Any = find_op(f"relay.{name}")
        arrays = [rng.standard_normal(s) for s in shapes]
        made = attrs | (layouts if "conv" in name else {"out_dtype": ""})
        expected = op_type.np_ref(*arrays, **made)
        inputs = [Node("input", f"i{n}", [Type(s, "float64")]) for n, s in enumerate(shapes)]
        type_ = Type(expected.shape, "float64")
        kernel = Node("kernel", name, [type_], made, [Value(0), Value(1)], None, [n.types[0] for n in inputs])
        out = np.empty(expected.shape)
        openblas.load(Graph([*inputs, kernel], [Value(2)]).text(), [], threads)(arrays, [out])
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12, err_msg=f"{name} {shapes}")
    assert max(counts) == threads


def test_failing_part_is_told_when_all_have_ended() -> None:
    from lamina.backends.byoc.openblas.crew import together

    ended: list[int] = []

    def slow() -> None:
        time.sleep(0.05)
        ended.append(1)

    def failing() -> None:
        raise ValueError("part")

    for parts in ([failing, slow], [slow, failing]):
        with pytest.raises(ValueError, match="part"):
            together(parts)
    assert ended == [1, 1]


@needs_openblas
@pytest.mark.parametrize("opt_level", range(5))
def test_levels_of_optimisation_agree(tmp_path: Path, opt_level: int) -> None:
    text, name = convolution(1)
    exe = compiled(tmp_path, text, "openblas, cpu", opt_level=opt_level)
    assert name in exe.placement
    arrays = arrays_for(exe)
    np.testing.assert_allclose(exe(*arrays), by_oracles(text, arrays), rtol=1e-9, atol=1e-9)


@needs_openblas
def test_the_threads_of_numpy_stay_as_they_were(tmp_path: Path) -> None:
    from lamina.backends.byoc.openblas.library import load

    library = load()
    assert not isinstance(library, str)
    before = library.get_threads()
    seen: list[int] = []
    with library.threads(before + 1):
        seen.append(library.get_threads())
    exe = compiled(tmp_path, convolution(1)[0], "openblas, cpu", threads=1)
    exe(*arrays_for(exe))
    assert library.get_threads() == before
    assert seen == [before + 1]


@needs_openblas
def test_nan_goes_through_relu(tmp_path: Path) -> None:
    body = "  %d = relay.nn.dense %x0, %x1 : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>\n"
    text = text_of(body + "  %r = relay.nn.relu %d : tensor<1x2xf32>", ["1x2xf32", "2x2xf32"], "1x2xf32")
    exe = compiled(tmp_path, text, "openblas, cpu")
    assert "openblas.dense_relu" in exe.placement
    weight = np.array([[1, 0], [np.nan, 0]], np.float32)
    np.testing.assert_array_equal(exe(np.array([[-1, 1]], np.float32), weight), [[0, np.nan]])


# -- whole models ------------------------------------------------------------------------------------------------


@needs_openblas
def test_encoder_block_is_the_same() -> None:
    model = models.encoder_block(heads=2, width=16, length=8, batch=2)
    exe = lamina.compile(model, "openblas, llvm", cache=False)
    assert "2 nn.batch_matmul" in exe.placement and "openblas.dense_bias" in exe.placement
    assert "nn.softmax (%attention): no pattern of openblas has it" in exe.placement
    inputs = models.random_input(model)
    for name, expected in lamina.compile(model, cache=False).run(inputs).items():
        np.testing.assert_allclose(exe.run(inputs)[name], expected, rtol=1e-4, atol=1e-5)
    assert any("query.matmul" in row for row in exe.profile(inputs).table().splitlines())


@needs_openblas
def test_residual_block_is_one_region_and_the_same(tmp_path: Path) -> None:
    exe, plain = compiled(tmp_path, RESIDUAL, "openblas, cpu"), compiled(tmp_path, RESIDUAL, "cpu")
    assert exe.placement.startswith(
        "openblas: 2 regions, 11 ops (2 openblas.conv2d_bias_relu, 1 openblas.conv2d_bias_sum_relu, 1 nn.dense)"
    )
    arrays = arrays_for(exe)
    for given, expected in zip(exe(*arrays), plain(*arrays), strict=True):
        np.testing.assert_allclose(given, expected, rtol=1e-4, atol=1e-4)
    for _ in range(3):  # nothing is kept from run to run
        other = arrays_for(exe, 7)
        np.testing.assert_allclose(exe(*other)[0], plain(*other)[0], rtol=1e-4, atol=1e-4)


@needs_openblas
@pytest.mark.long
def test_resnet50_is_the_same() -> None:
    model = models.light_model("resnet50")
    exe = lamina.compile(model, "openblas, llvm", cache=False)
    assert exe.placement.startswith("openblas: 3 regions, 173 ops (33 openblas.conv2d_bias_relu")
    inputs = models.random_input(model)
    for name, expected in lamina.compile(model, cache=False).run(inputs).items():
        np.testing.assert_allclose(exe.run(inputs)[name], expected, rtol=1e-3, atol=1e-5)


@needs_openblas
def test_every_level_runs_the_backend(tmp_path: Path) -> None:
    """The text of each level, read again, computes the same by that level's interpreter, and calls the backend."""
    check_texts_of_levels(compiled(tmp_path, RESIDUAL, "openblas, cpu", threads=1), tmp_path / "texts")


@needs_openblas
@pytest.mark.parametrize("target", ["openblas, cpu", "bnns, openblas, cpu"])
def test_texts_make_each_other(tmp_path: Path, target: str) -> None:
    """The text of relay and the printed pipeline give the text of llvm, byte for byte."""
    from lamina.opt_tool.command import run_opt_tool

    exe = compiled(tmp_path, RESIDUAL, target, threads=1)
    exe.save_texts(tmp_path / "texts")
    status, out, err = run_opt_tool([str(tmp_path / "texts" / "relay.mlir"), "-p", exe.pipeline])
    assert status == 0, err
    assert out == (tmp_path / "texts" / "llvm.mlir").read_text()
    assert out.count('compiler = "openblas"') == 2
