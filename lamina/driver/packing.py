"""Weights that a library packs when it is loaded, by a second program in it.

    the program needs    w' = weight_transform(w), four times as large as w
    the file stores      w
    the second program   computes w' from w, before the first run

The second program is a module like any other: its constants are what the file stores, its results the weights that
packing has made larger. What is not larger than what it was made of is stored as it is used, and read from the file.
Ops whose kernels give other bits than those that constants were folded with are no part of it (`RelayOp.EXACT`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.backends.cpu.machines import obstacle
from lamina.dialects.dtypes import bytes_of_type
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamAttr
from lamina.driver.compilation import Compilation, Source, build
from lamina.driver.settings import Settings
from lamina.errors import InternalError
from lamina.ir.targets import spec_of
from lamina.runtime.compiled import load_program
from lamina.runtime.program_file import StoredProgram
from lamina.transform import PassContext

if TYPE_CHECKING:
    from lamina.dialects.relay.params import ConstantAttr, Derivation, ParamStore

    Array = np.ndarray[Any, np.dtype[Any]]

LEAST = 4096
"""Bytes by which a weight has to be larger than what it is made of: its kernel takes about as many."""
CONTRACTIONS = "tir-fuse-multiply-add"
"""The pass that rounds a product and its sum at once, which NumPy does not."""

Ways: TypeAlias = "dict[ConstantAttr, Derivation | None]"
"""For each constant the way in which it is computed when the library is loaded; None where it is stored."""


@dataclass(frozen=True)
class Packing:
    """A program that packs weights, and what a file stores for it and for the net."""

    program: StoredProgram
    stored: tuple[Array, ...]
    sources: tuple[int, ...]
    """For each weight of the program its number among what is stored."""
    places: tuple[int, ...]
    """For each weight of the net its number among what is stored, or -1 - n for output n of the program."""


def packing_of(compilation: Compilation, made: StoredProgram) -> Packing | None:
    """The packing of a program that a compilation has made; None where packing enlarges none of its weights.

    Raises InternalError where it does not give the weights of the program to the bit, which is looked at where this
    machine can run it.
    """
    store, target = compilation.source.params, compilation.settings.target
    constants: list[Any] = compilation.constants
    values: dict[ConstantAttr, Array] = dict(zip(constants, made.params, strict=True))
    ways = _ways(constants, store)
    packed = [c for c in values if ways[c] is not None]
    if not packed:
        return None
    module = _module(packed, ways, store)
    context = PassContext(opt_level=0, disabled_pass=[CONTRACTIONS])
    label, settings = compilation.source.label, Settings(spec_of(target, 1), context)
    second = Compilation(lambda: Source(module, store, label), settings, compilation.objects)
    program = build(second)
    assert isinstance(program, StoredProgram)
    if obstacle(target) is None:
        _compare(program, {str(c): values[c] for c in packed})
    numbers: dict[ConstantAttr, int] = {}
    stored: list[Array] = []
    sources: list[Any] = second.constants
    for c, array in [*((c, values[c]) for c in values if ways[c] is None), *zip(sources, program.params, strict=True)]:
        if c not in numbers:
            numbers[c] = len(stored)
            stored.append(array)
    numbers |= {c: -1 - n for n, c in enumerate(packed)}
    places = tuple(numbers[c] for c in constants)
    return Packing(program, tuple(stored), tuple(numbers[c] for c in sources), places)


def _ways(constants: Sequence[ConstantAttr], store: ParamStore) -> Ways:
    """How each constant, and each that it is computed from, is had with the least bytes in the file."""
    ways: Ways = {}
    bytes_in_file: dict[ConstantAttr, int] = {}
    stack = list(constants)  # chains of derivations are long
    while stack:
        c = stack[-1]
        if c in ways:
            stack.pop()
            continue
        way = store.derivation(c)
        if way is not None and way.remake is not None and way.inputs:
            waiting = [i for i in way.inputs if i not in ways]
            if waiting:
                stack += waiting
                continue
        else:
            way = None
        own = _size(c, store)
        before = sum(bytes_in_file[i] for i in dict.fromkeys(way.inputs)) if way is not None else own
        ways[c], bytes_in_file[c] = (way, before) if own - before >= LEAST else (None, own)
        stack.pop()
    return ways


def _size(constant: ConstantAttr, store: ParamStore) -> int:
    return bytes_of_type(store.type_of(constant) if isinstance(constant, ParamAttr) else constant.type)


def _module(packed: Sequence[ConstantAttr], ways: Ways, store: ParamStore) -> ModuleOp:
    """A module whose results are the packed weights, by their own names."""
    ops: list[Operation] = []
    values: dict[ConstantAttr, SSAValue] = {}
    stack = list(reversed(packed))
    while stack:
        c = stack[-1]
        way = ways[c]
        waiting = [] if way is None else [i for i in way.inputs if i not in values]
        if c in values or waiting:
            stack = stack + waiting if waiting and c not in values else stack[:-1]
            continue
        if way is None:
            ops.append(ConstantOp.make(c, store.type_of(c)) if isinstance(c, ParamAttr) else ConstantOp.make(c))
            values[c] = ops[-1].results[0]
        else:
            assert way.remake is not None
            result = way.remake([values[i] for i in way.inputs])
            ops.append(result.op)
            values[c] = result
        stack.pop()
    results = [values[c] for c in packed]
    ops.append(ReturnOp(*results))
    type_ = FunctionType.from_lists([], [v.type for v in results])
    return ModuleOp([FuncOp("main", type_, Region(Block(ops)))])


def _compare(program: StoredProgram, wanted: Mapping[str, Array]) -> None:
    found = load_program(program).run({})
    for (name, array), made in zip(wanted.items(), found.values(), strict=True):
        if array.tobytes() != made.tobytes():
            raise InternalError(f"the weight {name} is packed otherwise when the library is loaded")
