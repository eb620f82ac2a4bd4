"""The figures of a processor stand in one table: schedules and passes have none of their own, and obey any table."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu import costs
from lamina.backends.cpu.costs import FITTED, Costs, for_target
from lamina.backends.cpu.figures import ZEN4, Figures
from lamina.backends.cpu.jit import named_target
from lamina.backends.cpu.schedules import steps
from lamina.backends.cpu.stages import stages_of
from lamina.backends.cpu.tiles import Tile
from lamina.dialects.te.ops import FuncOp
from lamina.driver.api import texts
from lamina.driver.settings import Settings
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

from .turns import by_turns

CPU = Path(__file__).parents[2] / "backends" / "cpu"
TABLE = CPU / "costs.py"
ALONE = [CPU / f"{name}.py" for name in ("tiles", "stages", "weights")]
CHOOSING = sorted([*CPU.glob("schedules/*.py"), *CPU.glob("passes/*.py"), *ALONE])
"""The files that choose how something is computed."""

NO_FIGURES = {
    ("schedules/column_reductions.py", "BLOCK"): "digits: errors of sums grow with additions that follow each other",
    ("schedules/column_reductions.py", "LEAST_BLOCK"): "digits, the same",
    ("schedules/steps.py", "LONG"): "digits: a chain of so many additions loses more than three",
    ("schedules/steps.py", "FEWEST_LANES"): "instruction sets: vectors of 128 bits are what all of them have",
    ("schedules/row_reductions.py", "QUARTER"): "instruction sets: the same vectors",
    ("schedules/depthwise.py", "HALF"): "instruction sets: what AVX-512 has beside whole vectors",
    ("schedules/grouped.py", "DOTS"): "instruction sets: what an instruction sums up",
    ("schedules/elementwise.py", "FEW"): "instruction sets: fewer elements than the shortest vectors have",
    ("schedules/pixel_rows.py", "MOST_STRIDE"): "our code: shuffles bring together no more vectors",
    ("schedules/matmul.py", "PACKED_TILES"): "tuning: how many candidates there are",
    ("tiles.py", "SIMILAR_TILES"): "tuning: how many candidates there are",
    ("passes/winograd.py", "TILE_SIZES"): "mathematics: the transforms that there are",
    ("passes/fuse_attention.py", "LOWEST"): "mathematics: the lowest float32",
    ("passes/fuse_attention.py", "B"): "draws for the test of an equation",
    ("passes/pack_weights.py", "DRAWN"): "draws for the test of an equation",
}
"""Numbers at the top of such a file that are no machine's, and what they are."""


def numbers(path: Path) -> Iterator[str]:
    """The names at the top of a file that are given numbers, also in tuples and dictionaries."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            calls = any(isinstance(n, (ast.Call, ast.GeneratorExp)) for n in ast.walk(node.value))
            held = [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            if not calls and any(isinstance(v, (int, float)) and not isinstance(v, bool) for v in held):
                yield next(n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def test_figures_of_machines_stand_in_the_table() -> None:
    found = {(str(path.relative_to(CPU)), name) for path in CHOOSING for name in numbers(path)}
    assert found == NO_FIGURES.keys(), "a machine's figure belongs in backends/cpu/costs.py"


def test_nothing_is_compared_with_a_figure() -> None:
    """What code compares with is no number, save ranks and the 16 lanes of the instructions for groups."""
    wrong: list[str] = []
    for path in CHOOSING:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [n.value for n in (node.left, *node.comparators) if isinstance(n, ast.Constant)]
                if any(isinstance(v, (int, float)) and v > 5 and v != 16 for v in sides):
                    wrong.append(f"{path}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)


def declared() -> dict[str, str]:
    """The fields of the table with the text that stands below each."""
    found: dict[str, str] = {}
    for node in ast.parse(TABLE.read_text("utf-8")).body:
        for field, below in pairwise(node.body) if isinstance(node, ast.ClassDef) else ():
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                found[field.target.id] = ast.unparse(below) if isinstance(below, ast.Expr) else ""
    return found


def test_every_figure_is_explained_and_used() -> None:
    texts_below = declared()
    used = {name for path in CHOOSING for name in re.findall(r"costs\.(\w+)", path.read_text("utf-8"))}
    used |= set(re.findall(r"for_target\([^\n]*?\)\)?\.(\w+)", "".join(p.read_text("utf-8") for p in CHOOSING)))
    used |= set(re.findall(r"self\.(\w+)", TABLE.read_text("utf-8")))
    used |= set(re.findall(r"FITTED\.(\w+)", "".join(p.read_text("utf-8") for p in CHOOSING)))
    for field in fields(Costs):
        assert len(texts_below[field.name]) > 15, f"{field.name}: no text says what it is"
        assert field.name in used, f"{field.name}: nobody asks for it"


@pytest.mark.parametrize("pixels, passes", [(4, 3), (5, 2), (10, 1), (16, 1)])
def test_a_tile_reads_its_vectors_once_for_each_row_of_tiles(pixels: int, passes: int) -> None:
    """The last row of tiles reads all of them, too, though it has fewer pixels."""
    table = for_target(named_target("x86-64-v3"))
    text = """te.func @f(%x: tensor<1x10x16xf32>, %w: tensor<8x16xf32>) -> tensor<1x10x16xf32> {
      %c = te.compute "c" [1, 10, 16] sum [8] (%n, %p, %l, %k) : tensor<1x10x16xf32> {
        %a = te.read %x[%n, %p, %k] : tensor<1x10x16xf32>
        %b = te.read %w[%k, %l] : tensor<8x16xf32>
        %m = arith.mulf %a, %b : f32
        te.yield %m : f32
      }
      te.return %c : tensor<1x10x16xf32>
    }"""
    func = next(op for op in parse_text(LaminaContext(), text, "f").ops if isinstance(op, FuncOp))
    (stage,) = stages_of(func)
    found = steps.expected(stage, 10, 1, table)(Tile(pixels, 1))
    assert found.bytes == (passes * table.vector_bytes + 10 * 4) * 8


def test_each_target_has_its_table() -> None:
    reserves = {n: for_target(named_target(n)).reserve for n in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")}
    assert reserves == {
        "x86-64-v2": costs.SSE, "x86-64-v3": costs.FMA, "x86-64-v4": costs.AVX512, "aarch64": costs.NEON
    }  # fmt: skip
    assert for_target(named_target("znver4")).prefetched_tiles > for_target(named_target("znver5")).prefetched_tiles
    assert for_target(None) == FITTED


def layers() -> bytes:
    """A layer of each kind that has a schedule of its own."""
    rng = np.random.default_rng(0)
    stored: list[TensorProto] = []
    nodes: list[NodeProto] = []

    def layer(op: str, data: str, *shapes: tuple[int, ...], **attrs: Any) -> None:
        names = [f"w{len(stored) + n}" for n in range(len(shapes))]
        weights = [(rng.standard_normal(s) * 0.1).astype(np.float32) for s in shapes]
        stored.extend(numpy_helper.from_array(w, name) for w, name in zip(weights, names, strict=True))
        nodes.append(helper.make_node(op, [data, *names], [f"y{len(nodes)}"], **attrs))

    layer("Conv", "x", (64, 32, 3, 3), pads=[1] * 4)
    layer("Conv", "x", (64, 32, 1, 1))
    layer("Conv", "x", (32, 32, 5, 5), pads=[2] * 4, strides=[2, 2])
    layer("Conv", "x", (32, 1, 3, 3), pads=[1] * 4, group=32)
    layer("ConvTranspose", "x", (32, 16, 3, 3), strides=[2, 2])
    layer("MaxPool", "x", kernel_shape=[3, 3], pads=[1] * 4)
    layer("InstanceNormalization", "x", (32,), (32,))
    layer("Transpose", "x", perm=[0, 2, 3, 1])
    layer("MatMul", "z", (96, 80))
    layer("Gemm", "z", (70, 96), transB=1)
    layer("Softmax", "z", axis=1)
    for axis in (0, 1):
        layer("ReduceMean", "z", axes=[axis])
    shapes = {"x": [1, 32, 14, 14], "z": [40, 96]}
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    outputs = [helper.make_tensor_value_info(n.output[0], TensorProto.FLOAT, None) for n in nodes]
    graph = helper.make_graph(nodes, "layers", inputs, outputs, stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("costs") / "layers.onnx"
    path.write_bytes(layers())
    return path


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, Costs], None]]:
    """Gives a processor other figures."""

    def give(name: str, table: Costs) -> None:
        def of_table(_: object) -> Figures:
            return table.figures

        monkeypatch.setitem(costs.PROCESSORS, name, table)
        monkeypatch.setattr(costs, "figures_of", of_table)
        for_target.cache_clear()

    yield give
    for_target.cache_clear()


SMALL = replace(
    FITTED, figures=replace(ZEN4, latency=8, l1_bytes=8 << 10, l2_bytes=32 << 10, l3_bytes=64 << 10, memory_speed=1),
    prefetched_bytes=1 << 10, streams=3, most_operations=60, product_steps=2, winograd_steps=4,
    pixel_steps=2, window_taps=3, column_vectors=8, tile_vectors=(3, 1), weight_registers=1, depthwise_vectors=4,
    pool_vectors=3, winograd_pixels=(2, 6), chains=3, column_chains=4, lane_chains=2, chained_vectors=3,
    tile_columns=3, single_rows=8, rows_at_once=2, long_row=2, streamed_rows=2, copied_rows=8, transposed_rows=64,
    winograd_gain=1.1, few_zeros=1.0,
)  # fmt: skip
LARGE = replace(
    FITTED, figures=replace(ZEN4, latency=2, l1_bytes=128 << 10, l2_bytes=8 << 20), prefetched_tiles=10_000,
    most_operations=1200, product_steps=8, pixel_steps=16, window_taps=25, tile_vectors=(4, 2, 1),
    depthwise_vectors=12, pool_vectors=14, chains=16, column_chains=16, lane_chains=8, rows_at_once=8, long_row=100,
    streamed_rows=50, copied_rows=4, transposed_rows=1, winograd_gain=100.0, few_zeros=9.0, most_zeros=9.0,
)  # fmt: skip


def results(model: Path) -> dict[str, Any]:
    """What the compiled model gives for random inputs."""
    rng = np.random.default_rng(1)
    shapes = {"x": [1, 32, 14, 14], "z": [40, 96]}
    given = {name: rng.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}
    return lamina.compile(model, threads=2, cache=False).run(given)


@pytest.fixture(scope="module")
def expected(model: Path) -> tuple[str, dict[str, Any]]:
    """The schedules and the results by this machine's own table."""
    return texts(model, Settings.of(threads=2)).get("te"), results(model)


def off(by: float) -> Figures:
    """Figures that are so many times as large as they should be."""
    values = {f.name: getattr(ZEN4, f.name) * by for f in fields(ZEN4)}
    return Figures.of(values, "test")


def one_off(name: str, by: float) -> Costs:
    """Costs by figures of which one is wrong."""
    return replace(FITTED, figures=Figures.of(asdict(ZEN4) | {name: getattr(ZEN4, name) * by}, "test"))


OFF = {"quarter": replace(FITTED, figures=off(0.25)), "fourfold": replace(FITTED, figures=off(4))}
"""A calibration that is wrong by a factor of 4 in each entry costs speed, never results."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by"), by_turns([f.name for f in fields(Figures)], (0.25, 4)))
def test_schedules_are_legal_by_any_figure(
    name: str, by: float, model: Path, figures: Callable[[str, Costs], None]
) -> None:
    figures(named_target("cpu").cpu.data, one_off(name, by))
    assert texts(model, Settings.of(threads=2)).get("te")


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    [
        pytest.param(SMALL, id="small"),
        pytest.param(LARGE, id="large", marks=pytest.mark.long),
        pytest.param(OFF["quarter"], id="quarter", marks=pytest.mark.long),
        pytest.param(OFF["fourfold"], id="fourfold"),
    ],
)
def test_programs_are_right_by_any_table(
    table: Costs, model: Path, expected: tuple[str, dict[str, Any]], figures: Callable[[str, Costs], None]
) -> None:
    figures(named_target("cpu").cpu.data, table)
    # Where all figures are off alike a processor may choose as before: four times as large ones change nothing of SSE2.
    assert table in OFF.values() or texts(model, Settings.of(threads=2)).get("te") != expected[0]
    for name, found in results(model).items():
        np.testing.assert_allclose(found, expected[1][name], rtol=1e-4, atol=1e-4, err_msg=name)
