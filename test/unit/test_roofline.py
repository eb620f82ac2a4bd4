"""Roofs and rooflines: what limits a kernel, tables and pictures; the kernels that measure compute what they say."""

from __future__ import annotations

import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from onnx import TensorProto, helper

from lamina.backends.cpu.jit import host_target
from lamina.cli import command as cli
from lamina.driver.te_program import compiled_text
from lamina.measure.kernel_profile import Kernel, Recording
from lamina.roofline import roofs
from lamina.roofline.page import page
from lamina.roofline.roofs import FMA_ROUNDS, Level, Roofs, cache_sizes, fma_text, read_text
from lamina.roofline.table import Roofline
from lamina.runtime.trace import Slice

pytestmark = pytest.mark.slow

INF = float("inf")
ROOFS = Roofs(1, 100e9, (Level("L1", 32e3, 200e9), Level("L2", 1e6, 100e9), Level("DRAM", INF, 20e9)))


def test_the_roof_is_arithmetic_or_the_level_that_takes_most_time() -> None:
    assert ROOFS.seconds(10**9, 0, 1000, 0) == (0.01, "compute")
    # 1 MB from memory takes 50 us.
    least, limit = ROOFS.seconds(1000, 0, 10**6 + 1, 0)
    assert limit == "DRAM" and least == pytest.approx((10**6 + 1) / 20e9)
    # The program's weights do not fit into a cache, this kernel's other data do.
    least, limit = ROOFS.seconds(1000, 20_000, 200_000, 10**8)
    assert least == pytest.approx(20_000 / 20e9 + 200_000 / 100e9) and limit == "L2"


def recording() -> Recording:
    kernels = (
        Kernel("conv <1>", "fused_conv", "float32[1] -> float32[1]", 10**6, 1000, 1000),
        Kernel("copy", "fused_copy", "", 0, 0, 400_000),
        Kernel("loop", "fused_loop", "", None, 0, 0),
    )
    times = (20_000, 5_000, 7_000)
    runs = tuple(
        tuple(Slice(n, 0, 0, 1, 100_000 * n, 100_000 * n + 90_000, t + run) for n, t in enumerate(times))
        for run in (-10, 0, 10)
    )
    return Recording("main", kernels, (0, 1, 2), 1, runs)


def test_kernels_that_lose_most_come_first() -> None:
    roofline = Roofline.of(recording(), ROOFS, "net <onnx>", "znver4")
    assert [d.time.nodes for d in roofline.dots] == ["conv <1>", "copy", "loop"]
    conv, copy, loop = roofline.dots
    assert conv.least == pytest.approx(1e-5) and conv.fraction == pytest.approx(0.5) and conv.limit == "compute"
    assert conv.intensity == 500 and copy.least == pytest.approx(4e-6) and copy.limit == "L2"
    assert loop.least is None and loop.lost == 0
    rows = roofline.table().splitlines()
    assert "100.0 Gop/s" in rows[0] and "DRAM 20 GB/s" in rows[0]
    assert rows[2].split() == ["20.0", "10.0", "50%", "50.0", "0.1", "500.0", "compute", "conv", "<1>"]
    assert rows[-1].split() == ["32.0", "11.0", "56%", "total"]
    assert "(2 more)" in roofline.table(1)
    assert [k["nodes"] for k in roofline.plain()["kernels"]] == ["conv <1>", "copy", "loop"]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_picture_is_one_file_without_scripts_and_has_a_dot_for_each_kernel_with_arithmetic() -> None:
    text = page(Roofline.of(recording(), ROOFS, "net <onnx>", "znver4"))
    svg = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    (dot,) = svg.findall("circle")
    title = dot.find("title")
    assert title is not None and title.text is not None and title.text.startswith("conv <1>\n20.0 us, 50.0 Gop/s, 50%")
    assert 70 <= float(dot.attrib["cx"]) <= 980 and 20 <= float(dot.attrib["cy"]) <= 510
    tags = _Tags()
    tags.feed(text)
    names = [t for t, _ in tags.tags]
    assert names.count("tr") == 4 and "script" not in names and "link" not in names and "img" not in names
    assert not any("src" in a or "href" in a for _, a in tags.tags)
    assert "net &lt;onnx&gt;" in text and "prefers-color-scheme: dark" in text


def test_the_measured_loops_compute_what_their_equations_say() -> None:
    target = host_target(1)
    lanes = target.vector_bits.data // 32
    x = np.ones((1, 2, lanes), np.float32)
    (y,) = compiled_text(fma_text(1, lanes), "fma.mlir", target).run({"X": x}).values()
    np.testing.assert_array_equal(y, np.full((1, roofs.ACCUMULATORS, lanes), FMA_ROUNDS, np.float32))
    two = host_target(2)
    x = np.random.default_rng(0).integers(0, 9, (2, 8, roofs.ACCUMULATORS, lanes)).astype(np.float32)
    (y,) = compiled_text(read_text(2, lanes, 8, 3), "read.mlir", two).run({"X": x}).values()
    np.testing.assert_array_equal(y, 3 * x.sum(1))


def test_cache_sizes_are_the_systems_or_plain_ones(tmp_path: Path) -> None:
    assert cache_sizes(tmp_path / "none") == roofs.PLAIN_SIZES
    for n, (level, kind, size) in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M")]
    ):
        folder = tmp_path / f"index{n}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(value + "\n")
    assert cache_sizes(tmp_path) == {"L1": 48 << 10, "L2": 2 << 20}
    (tmp_path / "index0" / "size").write_text("large\n")
    assert cache_sizes(tmp_path) == roofs.PLAIN_SIZES


def test_the_command_prints_the_table_and_writes_the_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def known(target: Any) -> Roofs:
        return ROOFS

    monkeypatch.setattr(roofs, "measured", known)
    port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 5]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"], name="bend")], "g", port[:1], port[1:])
    path, html = tmp_path / "net.onnx", tmp_path / "net.html"
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(made.SerializeToString())
    out, err = io.StringIO(), io.StringIO()
    words = ["bench", str(path), "--repeats", "2", "--no-cache", "--roofline"]
    assert cli.run([*words, "--output", str(html)], out, err) == 0
    assert "100.0 Gop/s" in out.getvalue() and "bend" in out.getvalue() and "<svg" in html.read_text()
    out = io.StringIO()
    assert cli.run([*words, "--json"], out, err) == 0
    assert json.loads(out.getvalue())["roofline"]["kernels"][0]["nodes"] == "bend"
    assert cli.run([*words[:-1], "--output", str(html)], out, err) == 2
    assert "--output is for the picture of --roofline" in err.getvalue()
