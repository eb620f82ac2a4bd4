"""The function `lamina.shapes` of a net computes what the run-time computes with integers, and refuses what it does."""

from __future__ import annotations

import ctypes
from random import Random
from typing import Any

import pytest

from lamina.backends.cpu.jit import compile_object, host_target, link_objects, machine_of
from lamina.backends.cpu.runtime.net_shapes import SHAPES
from lamina.backends.llvm.emit import emit_module
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.index.symbol_range import SymbolRange
from lamina.driver.export_shapes import shapes_function
from lamina.errors import UnsupportedError
from lamina.runtime.ports import SIZE, Extents, Port
from lamina.runtime.program_info import ProgramInfo

UNKNOWN = -(1 << 63)


def form(random: Random, sizes: int, depth: int = 2) -> Linear:
    terms: dict[Atom, int] = {}
    for n in range(sizes):
        if random.random() < 0.6:
            terms[n] = random.choice((1, 1, 2, 3, 8))
    if depth and random.random() < 0.5:
        inner = form(random, sizes, depth - 1) + random.randint(-9, 9)
        terms[random.choice(("floordiv", "mod")), inner, random.choice((2, 3, 4, 16))] = random.choice((1, 2, -1))
    return Linear(terms, random.randint(0, 4))


def port(name: str, forms: list[Linear], dtype: str = "float32") -> Port:
    shape = tuple(UNKNOWN if f.terms else f.const for f in forms)
    return Port(name, shape, dtype, Extents(tuple(forms)))


def info(random: Random) -> ProgramInfo:
    sizes = random.randint(1, 3)
    ranges = [None, SymbolRange(0), SymbolRange(2, 40), SymbolRange(4, 64, 4)]
    conditions = tuple(form(random, 1, 0) - 2 for _ in range(random.randint(0, 1)))
    told = [Port(f"n{n}", (), SIZE, range=random.choice(ranges)) for n in range(sizes)]
    told[0] = Port("n0", (), SIZE, range=told[0].range, conditions=conditions)
    if sizes > 1 and random.random() < 0.3:
        told.append(Port("n0*n1", (), SIZE))
    inputs = [port("x", [Linear.dim(n) for n in range(sizes)]), port("w", [Linear(const=3), form(random, sizes)])]
    outputs = [port(f"y{n}", [form(random, len(told)) for _ in range(random.randint(0, 3))]) for n in range(2)]
    works = [port("", [form(random, len(told)), *[Linear(const=3)] * random.randint(0, 1)], "int8") for _ in range(2)]
    places = tuple((random.randint(0, 1), random.choice((0, 64, 100))) for _ in range(3))
    everything = (*told, *inputs), tuple(outputs), (), (), (), tuple(works)
    return ProgramInfo("main", 0, *everything, places=places)


def compiled(of: ProgramInfo) -> Any:
    from xdsl.dialects.builtin import ModuleOp

    machine = machine_of(host_target(1))
    library = link_objects([compile_object(emit_module(ModuleOp([shapes_function(of)])), machine)], [SHAPES])
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(ctypes.c_int64, pointer, pointer, pointer)(library.address(SHAPES))
    return library, function


def array(numbers: Any) -> Any:
    return (ctypes.c_int64 * max(len(numbers), 1))(*numbers)


def pointers(arrays: list[Any]) -> Any:
    result = (ctypes.c_void_p * max(len(arrays), 1))(*map(ctypes.addressof, arrays))
    result.kept = arrays  # type: ignore[attr-defined]
    return result


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    random = Random(seed)
    of = info(random)
    library, function = compiled(of)
    assert library is not None
    fits = 0
    for _ in range(60):
        sizes = [random.choice((0, 1, 2, 4, 8, 33, 64, 65)) for _ in range(sum(p.dtype == SIZE for p in of.inputs))]
        if of.sizes[-1] == "n0*n1":
            sizes[-1] = sizes[0] * sizes[1]
        tensors = [list(p.shape_for(sizes)) for p in of.inputs if p.dtype != SIZE]
        wrong = random.random() < 0.2
        if wrong:
            tensors[1][random.randint(0, 1)] += random.choice((-1, 1, 1 << 40))
        inputs = {p.name: _Shaped(t) for p, t in zip([p for p in of.inputs if p.dtype != SIZE], tensors, strict=True)}
        refused = wrong or not _takes(of, sizes, inputs)
        found, told = array([0] * (len(sizes) + len(of.places))), [array([0] * 3) for _ in of.outputs]
        shapes, results = pointers([array(t) for t in tensors]), pointers(told)
        size = function(ctypes.addressof(shapes), ctypes.addressof(found), ctypes.addressof(results))
        if refused:
            assert size == -1
            continue
        fits += 1
        memory = of.working_memory(sizes)
        assert (size, [*found]) == (memory.size, [*sizes, *memory.offsets])
        for p, t in zip(of.outputs, told, strict=True):
            assert [*t][: len(p.shape)] == list(p.shape_for(sizes))
        assert function(ctypes.addressof(shapes), ctypes.addressof(found), None) == size
    assert fits or any(p.range is not None for p in of.inputs)


class _Shaped:
    """What has a shape, and no elements."""

    def __init__(self, shape: list[int]) -> None:
        self.shape = tuple(shape)


def _takes(of: ProgramInfo, sizes: list[int], inputs: dict[str, _Shaped]) -> bool:
    """Whether each size is in its range, its conditions hold, and no extent is negative."""
    values: dict[Atom, int] = dict(enumerate(sizes))
    for p in of.inputs:
        if p.range is not None and p.range.problem(values[of.sizes.index(p.name)]) is not None:
            return False
        if any(c.evaluate(values) < 0 for c in p.conditions):
            return False
    return True


def test_a_product_beyond_all_memory_is_refused() -> None:
    """2^30 times 2^30 times 64: no overflow that looks like a small size."""
    sizes = [Port("a", (), SIZE), Port("b", (), SIZE)]
    x = port("x", [Linear.dim(0), Linear.dim(1)])
    work = port("", [Linear({0: 64}), Linear.dim(1)], "int8")
    of = ProgramInfo("main", 0, (*sizes, x), (), (), (), (), (work,), places=((0, 0),))
    library, function = compiled(of)
    assert library is not None
    for a, b, wanted in (
        (3, 5, 960),
        (1 << 30, 1, 64 << 30),
        (1 << 30, 1 << 30, -1),
        (0, 1 << 30, 0),
        (1 << 31, 1, -1),
    ):
        found, shapes = array([0] * 3), pointers([array([a, b])])
        assert function(ctypes.addressof(shapes), ctypes.addressof(found), None) == wanted, (a, b)


def test_a_size_that_no_input_tells_is_named() -> None:
    x = port("x", [Linear({0: 2})])
    of = ProgramInfo("main", 0, (Port("n", (), SIZE), x), (), (), ())
    with pytest.raises(UnsupportedError, match="size 'n': no extent of an input is this size"):
        shapes_function(of)


def test_a_size_by_default_is_a_number() -> None:
    """What only a session gives: rows of room."""
    room = Port("room", (), SIZE, range=SymbolRange(0, 1 << 20, 1, 7))
    x = port("x", [Linear.dim(0)])
    of = ProgramInfo("main", 0, (Port("n", (), SIZE), room, x), (port("y", [Linear({0: 1, 1: 1})]),), (), ())
    library, function = compiled(of)
    assert library is not None
    found, told = array([0, 0]), array([0])
    shapes, results = pointers([array([5])]), pointers([told])
    assert function(ctypes.addressof(shapes), ctypes.addressof(found), ctypes.addressof(results)) == 0
    assert ([*found], [*told]) == ([5, 7], [12])
