"""Relay ops with extents that depend on symbols: what is inferred, and what is computed, holds for every size."""

from __future__ import annotations

import random as python_random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lamina.dialects.index.symbol_forms import evaluate, form_of
from lamina.dialects.index.symbols import SymbolicExtent, SymbolRange, Symbols
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.meaning import draw, full_attrs, np_results, te_func
from lamina.dialects.rules.op_protocol import Sample
from lamina.dialects.scalar.oracles import UndefinedError
from lamina.dialects.te.named_sizes import size_names
from lamina.errors import LaminaError
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_memory import UninitialisedError

sys.path.insert(0, str(Path(__file__).parent))
from test_facets import NAMES, assert_close, load, valid_samples  # noqa: E402

pytestmark = pytest.mark.slow

SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 33)
MOST_SAMPLES, MOST_COMPUTED = 6, 2


TAKE_VALUES = {
    *("relay.contrib_reverse_reshape", "relay.reshape"),  # an extent is what is left of others that do not divide
    *("relay.gather_nd", "relay.scatter_nd"),  # the number of coordinates decides the rank
    *("relay.image.resize1d", "relay.image.resize2d", "relay.image.resize3d"),  # scales are fractions of extents
    *("relay.nn.upsampling", "relay.nn.upsampling3d"),
    *("relay.nn.contrib_conv2d_gemm_without_weight_transform", "relay.nn.contrib_conv2d_winograd_NCHWc"),
    "relay.nn.sparse_dense",
}
"""Ops that compute with the value of an extent where some extents are open: there they are refused."""


def opened(s: Sample, mode: str, draws: python_random.Random) -> tuple[Symbols, list[TensorInfo]]:
    """The operands of a sample with symbols in the place of extents, whose hints are the sample's own extents.

    "shared": equal extents are one symbol; "own": each is its own; "batch": only the first one.
    """
    hints: dict[str, int] = {}
    shapes: list[list[int | str]] = []
    for n, operand in enumerate(s.operands):
        dims: list[int | str] = []
        for axis, extent in enumerate(operand.shape):
            name = {"shared": f"e{extent}", "own": f"s{n}a{axis}", "batch": "n"}[mode]
            wanted = (n, axis) == (0, 0) if mode == "batch" else draws.random() < 0.7
            if wanted:
                hints[name] = extent
            dims.append(name if wanted else extent)
        shapes.append(dims)
    symbols = Symbols({n: SymbolRange(min(e, 1), 1 << 20) for n, e in hints.items()}, hints)
    infos = [
        TensorInfo(tuple(symbols.extent(d) if isinstance(d, str) else d for d in dims), o.dtype)
        for dims, o in zip(shapes, s.operands, strict=True)
    ]
    return symbols, infos


def choices(symbols: Symbols, draws: python_random.Random) -> Iterator[dict[str, int]]:
    """Values of the symbols that satisfy all guards: the hints, then others around them."""
    start = symbols.hints
    yield dict(start)
    tried: list[dict[str, int]] = []
    for name in start:
        tried += [start | {name: v} for v in SIZES]
    for value in set(start.values()):
        tried += [{n: (v if e == value else e) for n, e in start.items()} for v in SIZES]
    tried += [{n: draws.choice(SIZES) for n in start} for _ in range(12)]
    draws.shuffle(tried)
    for values in tried:
        inside = all(r.holds(values[n]) for n, r in symbols.known.items())
        if inside and all(g.holds(values) for g in symbols.guards):
            yield values


def concrete(info: TensorInfo, values: dict[str, int]) -> TensorInfo:
    shape = tuple(evaluate(e.form, values) if isinstance(e, SymbolicExtent) else e for e in info.shape)
    return TensorInfo(shape, info.dtype)


def cases(
    op_type: type[RelayOp], most: int = MOST_SAMPLES
) -> Iterator[tuple[Sample, Symbols, list[TensorInfo], tuple[TensorInfo, ...]]]:
    draws = python_random.Random(op_type.name)
    for _, s in valid_samples(op_type)[:most]:
        for mode in ("shared", "own", "batch"):
            symbols, infos = opened(s, mode, draws)
            if not symbols.known:
                continue
            attrs = full_attrs(op_type, s.attrs)
            try:
                found = op_type.infer_infos(infos, attrs)
            except TypeError:
                assert op_type.name in TAKE_VALUES, f"{s} in mode {mode}"
                continue  # it computes with something that takes no symbols
            except TypeMismatch as e:
                # The hints are the sample's extents: what the op takes it takes.
                raise AssertionError(f"{s} in mode {mode}: {e}") from e
            yield s, symbols, infos, found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_inferred_holds_for_all_sizes(name: str) -> None:
    op_type = load(name)
    draws = python_random.Random(name)
    for s, symbols, infos, found in cases(op_type):
        assert name in TAKE_VALUES or not any(g.taken for g in symbols.guards), f"{s}: {symbols.guards}"
        attrs = full_attrs(op_type, s.attrs)
        for _, values in zip(range(12), choices(symbols, draws), strict=False):
            operands = [concrete(i, values) for i in infos]
            try:
                expected = op_type.infer_infos(operands, attrs)
            except TypeMismatch as e:
                raise AssertionError(f"{s}: {infos} under {symbols.guards}: {values} do not fit: {e}") from e
            assert tuple(concrete(i, values) for i in found) == tuple(expected), (
                f"{s}: {infos} under {symbols.guards} is {found}, with {values} {expected}"
            )


def renumbered(info: TensorInfo, symbols: Symbols) -> TensorInfo:
    shape = tuple(symbols.number(e.form) if isinstance(e, SymbolicExtent) else e for e in info.shape)
    return TensorInfo(shape, info.dtype)


def narrowed(symbols: Symbols) -> Symbols | None:
    """Symbols of which is known what was asked, where ranges can say it."""
    from lamina.dialects.index.symbol_ranges import range_under

    ranges = dict(symbols.known)
    for guard in symbols.guards:
        found = range_under(guard, ranges)
        if found is None:
            return None
        ranges[found[0]] = found[1]
    return Symbols(ranges, symbols.hints)


@pytest.mark.parametrize("name", NAMES)
def test_equations_compute_every_size(name: str) -> None:
    op_type = load(name)
    draws = python_random.Random(name)
    for s, asked, infos, found in cases(op_type, MOST_COMPUTED):
        symbols = narrowed(asked)
        if symbols is None:
            continue
        infos, results = ([renumbered(i, symbols) for i in side] for side in (infos, found))
        try:
            func = te_func(op_type, infos, s.attrs, symbols=symbols)
        except LaminaError:
            continue  # refused by one line: which ops are is what the coverage below says
        func.verify()
        names = size_names((e for i in (*infos, *results) for e in i.shape), symbols)
        for _, values in zip(range(2), choices(symbols, draws), strict=False):
            random = np.random.default_rng(len(names))
            operands = [concrete(i, values) for i in infos]
            ranges = s.ranges or (None,) * len(operands)
            arrays = [draw(o, r, True, random) for o, r in zip(operands, ranges, strict=True)]
            expected = np_results(op_type, arrays, s.attrs)
            sizes = [np.asarray(evaluate(form_of(n.replace("*", " * ")), values)) for n in names]
            try:
                actual = run_te_func(func, [*sizes, *arrays])
            except (UndefinedError, UninitialisedError) as e:
                # What has no value for known extents has none here.
                with pytest.raises(type(e)):
                    run_te_func(te_func(op_type, operands, s.attrs), arrays)
                continue
            for a, e in zip(actual, expected, strict=True):
                assert a.shape == e.shape
                assert_close(a, e, s.rtol, f"{s} with {values}")
