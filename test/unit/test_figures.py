"""Figures of processors: shipped, measured, in the text of a target, and what tiles follow from them."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu import machines
from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.figures import ICE_LAKE, MEASURED, ZEN3, ZEN4, Figures, figures_of, shipped
from lamina.backends.cpu.jit import assembly, host_target, named_target
from lamina.backends.cpu.tiles import (
    busy_cycles,
    candidates,
    choose_vectors,
    registers_of,
    rows_in_cache,
    step_cycles,
)
from lamina.backends.cpu.winograd_costs import estimate
from lamina.cli.command import run
from lamina.dialects.target import TargetAttr
from lamina.errors import InputError
from lamina.passes.tir_to_llvm.cost import slice_cycles
from lamina.roofline import calibration, core_loops
from lamina.roofline.core_loops import Vectors
from lamina.roofline.roofs import cache_ways


def command(*words: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    status = run(list(words), out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("figures", MEASURED.values(), ids=list(MEASURED))
def test_figures_are_text_and_back(figures: Figures) -> None:
    assert Figures.of_text(figures.text()) == figures


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "no figure 'gigahertz'"),
        (ZEN4.text().replace("latency 4", "latency four"), "latency is 'four', no positive number"),
        (ZEN4.text().replace("fma 1 ", "fma -1 "), "fma is '-1', no positive number"),
        (ZEN4.text().replace("store", "stores"), "unknown figure 'stores'"),
        (ZEN4.text().replace("barrier", "barrier 1 barrier"), "each name once"),
        (ZEN4.text() + " more", "each name once"),
        (ZEN4.text().replace("l1_ways 8", "l1_ways 0.5"), "l1_ways is '0.5', no whole positive number"),
        (ZEN4.text().replace("l1_bytes 32768", "l1_bytes 256"), "less than a line of 64 bytes for each of 8 ways"),
    ],
)
def test_what_is_no_text_of_figures_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match="calibrate|figure"):
        try:
            Figures.of_text(text)
        except InputError as e:
            assert said in str(e)
            raise


def test_an_unknown_processor_has_the_figures_of_one_with_such_vectors() -> None:
    near = {
        name: shipped(named_target(name))[0] for name in ("x86-64-v4", "haswell", "x86-64-v2", "tigerlake", "znver5")
    }
    assert near == {
        "x86-64-v4": "znver4", "haswell": "znver3", "x86-64-v2": "x86-64-v2", "tigerlake": "icelake-server",
        "znver5": "znver4",
    }  # fmt: skip
    assert shipped(named_target("aarch64"))[0] == "neoverse-n1"
    assert figures_of(named_target("znver4")) == ZEN4 == figures_of(None)


def test_measured_figures_stand_in_the_text_of_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert host_target(1).figures.data == ""
    other = replace(ZEN3, l2_bytes=1 << 22)
    path = tmp_path / "figures.txt"
    path.write_text(other.text().replace(" ", "\n") + "\n")
    monkeypatch.setenv(machines.FIGURES, str(path))
    target = host_target(1)
    assert f'figures = "{other.text()}"' in str(target)
    assert figures_of(target) == for_target(target).figures == other
    assert named_target("x86-64-v3").figures.data == ""
    monkeypatch.setenv(machines.FIGURES, str(tmp_path / "none"))
    with pytest.raises(InputError, match="none: cannot read figures: No such file"):
        host_target(1)
    path.write_text("")
    monkeypatch.setenv(machines.FIGURES, str(path))
    with pytest.raises(InputError, match="figures.txt: no figure 'gigahertz'"):
        host_target(1)


def test_the_command_keeps_what_it_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(machines.FIGURES, raising=False)
    found = replace(ZEN3, store=1.25)

    def give(target: TargetAttr, tell: calibration.Tell) -> Figures:
        return found

    monkeypatch.setattr(calibration, "calibrate", give)
    status, out, err = command("info")
    assert status == 0 and "shipped" in out and "1.25" not in out, err
    status, out, err = command("calibrate")
    assert status == 0 and ["store", "1.25"] in [row.split()[:2] for row in out.splitlines()], err
    kept = Path(out.splitlines()[-1])
    assert kept.parent == tmp_path / "figures" and kept.read_text().strip() == found.text()
    status, out, err = command("info", "--json")
    assert status == 0 and f'"figures": "measured: {kept}"' in out and '"store": 1.25' in out, err
    assert figures_of(host_target(1)) == found
    kept.write_text("fma 2\n")
    status, out, err = command("info")
    assert status == 1 and err.startswith(f"error: {kept}: no figure 'gigahertz'") and "calibrate" in err
    status, out, err = command("calibrate")
    assert status == 0 and kept.read_text().strip() == found.text(), "what is there is no reason not to measure anew"
    status, out, err = command("calibrate", "-o", str(tmp_path / "none" / "new"))
    assert (status, out) == (1, "") and "is no folder" in err and "measuring" not in err


def test_a_file_that_is_to_be_written_need_not_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def give(target: TargetAttr, tell: calibration.Tell) -> Figures:
        return ZEN3

    monkeypatch.setattr(calibration, "calibrate", give)
    monkeypatch.setenv(machines.FIGURES, str(tmp_path / "new"))
    status, _, err = command("calibrate", "-o", str(tmp_path / "new"))
    assert status == 0, err
    assert figures_of(host_target(1)) == ZEN3


def decisions(figures: Figures) -> tuple[Any, ...]:
    """What follows from figures: estimates of tiles, sizes, speeds, and the grain of threads."""
    target = named_target("x86-64-v3").with_figures(figures.text())
    costs = for_target(target)
    shared = for_target(target.with_threads(2))
    tiles = [(1, 4), (4, 1), (4, 2), (1, 1)]
    return (
        [busy_cycles(*t, costs) for t in tiles], [step_cycles(*t, costs) for t in tiles], rows_in_cache(4096, costs),
        [c.speed_again(n) for c in (costs, shared) for n in (1 << 18, 400 << 10, 12 << 20, 1 << 25)],
        costs.body_operations, costs.waiting_sums, slice_cycles(target), figures.l1_period,
        [estimate((1, 8, 14, 14, 8), (8, 8, 3, 3, 8, 8), (1, 1, 1, 1), 8, costs, 0, n) for n in (0, 2, 4)],
    )  # fmt: skip


@pytest.mark.parametrize("name", [f.name for f in fields(Figures) if f.name != "gigahertz"])
def test_each_figure_decides_something(name: str) -> None:
    """But for the clock, by which cycles are told in seconds."""
    given = replace(ZEN3, body_bytes=4000)
    assert decisions(replace(given, **{name: getattr(given, name) // 2 or 0.5})) != decisions(given)


def test_a_figure_in_a_target_is_a_number() -> None:
    target = named_target("x86-64-v3").with_figures(ZEN3.text())
    assert (target.figure("barrier"), target.figure("shoe_size")) == (ZEN3.barrier, None)
    with pytest.raises(VerifyException, match="names and numbers by turns"):
        target.with_figures("barrier none")


def test_a_machine_is_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a factor of a hundred: what it measures is the machine's, and nothing here depends on that."""
    monkeypatch.setattr(calibration, "ROUNDS", 1)
    monkeypatch.setattr(calibration, "STEPS", (1, 2))
    monkeypatch.setattr(calibration, "PARALLEL_LOOPS", 3)

    def levels(target: TargetAttr, gigahertz: float) -> dict[str, float]:
        return {name: value for name, value in asdict(ZEN3).items() if name[:2] in ("l1", "l2", "l3", "me")}

    monkeypatch.setattr(calibration, "_levels", levels)
    told: list[str] = []
    found = calibration.calibrate(host_target(1), told.append)
    assert len(told) == 4
    for f in fields(Figures):
        if f.name not in ("step", "barrier"):
            assert 0.01 < getattr(found, f.name) / getattr(ZEN3, f.name) < 100, f.name


@pytest.mark.parametrize(
    "name, wanted",
    [("x86-64-v2", "mulps"), ("x86-64-v3", "vfmadd"), ("znver4", "%zmm"), ("aarch64", "fmla")],
)
def test_loops_have_the_instructions_that_they_are_about(name: str, wanted: str) -> None:
    target = named_target(name)
    v = Vectors.of(target)
    texts = [core_loops.multiply_adds(v), core_loops.multiply_adds(v, operand="load"), core_loops.tile(v, 3, 2, 4)]
    for loop in texts:
        assembled = assembly(loop.text, target)
        own = [line for line in assembled.splitlines() if wanted in line]
        assert len(own) >= loop.operations
    for loop in (core_loops.loads(v), core_loops.broadcasts(v), core_loops.stores(v), core_loops.chain(v)):
        assert len(assembly(loop.text, target).splitlines()) > loop.operations


def test_ways_of_caches_are_those_that_the_system_tells(tmp_path: Path) -> None:
    assert cache_ways(tmp_path) == {}
    folder = tmp_path / "index0"
    folder.mkdir()
    for name, value in (("level", "1"), ("type", "Data"), ("size", "48K"), ("ways_of_associativity", "12")):
        (folder / name).write_text(value + "\n")
    assert cache_ways(tmp_path) == {"L1": 12}


# -- tiles: measured, and expected without the machine ---------------------------------------------------------------

ICE_LAKE_TILES = {
    (8, 3): 87, (9, 3): 84, (6, 4): 81, (5, 5): 81, (14, 2): 77, (12, 2): 78, (7, 2): 67, (28, 1): 49
}  # fmt: skip
"""Part of the peak in the first-level cache, with four steps in a body (pixels by vectors)."""
ZEN3_TILES = {(4, 2): 98, (5, 2): 94, (2, 4): 94, (3, 2): 72, (7, 1): 72, (10, 1): 66}
"""The same of convolutions of ResNet-50 at 28 x 28, one thread."""


@pytest.mark.parametrize(
    "name, figures, tiles", [("icelake-server", ICE_LAKE, ICE_LAKE_TILES), ("znver3", ZEN3, ZEN3_TILES)]
)
def test_the_model_ranks_tiles_as_they_were_measured(
    name: str, figures: Figures, tiles: dict[tuple[int, int], int]
) -> None:
    costs = replace(for_target(named_target("x86-64-v4" if figures is ICE_LAKE else "x86-64-v3")), figures=figures)
    expected = {t: 100 * t[0] * t[1] / figures.fma / (busy_cycles(*t, costs) + figures.step) for t in tiles}
    for a, measured in tiles.items():
        for b, other in tiles.items():
            if measured > other + 10:
                assert expected[a] > expected[b], f"{name}: {a} reaches {measured}, {b} {other}"
    for tile, measured in tiles.items():
        assert abs(expected[tile] - measured) <= 13, f"{tile}: {expected[tile]:.0f} expected, {measured} measured"


def test_rows_of_seven_pixels_are_cut_evenly_where_two_multiply_adds_begin_at_once() -> None:
    """As measured with AVX2 at 7 x 7: 4 + 3 pixels of two vectors 86 % of the peak, 5 + 2 78, seven of one 55."""
    v3 = registers_of(named_target("x86-64-v3"))
    assert candidates(7, 256, v3, 2)[0] == (4, 2)
    assert candidates(28, 64, v3, 2)[0] == (4, 2)
    assert candidates(7, 128, registers_of(named_target("znver4")), 2)[0] == (7, 4)


def test_panels_of_products_are_no_wider_than_their_stream_allows() -> None:
    """Four vectors of AVX2 in a step take all that the second-level cache gives: 77 % of the peak, two vectors 96."""
    v3, zen4 = (registers_of(named_target(name)) for name in ("x86-64-v3", "znver4"))
    assert choose_vectors(128, 768, 3072, 8, v3) == 2
    assert choose_vectors(128, 768, 3072, 16, zen4) == 3
    assert step_cycles(2, 4, v3.costs) / 8 > step_cycles(4, 2, v3.costs) / 8
