"""Weights that a library packs when it is loaded, by a second program in it.

    the program needs    w' = weight_transform(w), four times as large as w
    the file stores      w
    the second program   computes w' from w, before the first run

The second program is a module like any other: its constants are what the file stores, its results the weights that
packing has made larger. What is hardly larger than what it was made of is stored as it is used, and read from the file.
Ops whose kernels give other bits than those that constants were folded with are no part of it (`RelayOp.EXACT`).
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.backends.cpu.machines import obstacle
from lamina.dialects.dtypes import bytes_of_type, dtype_name, is_float
from lamina.dialects.machine_spec import flushes_denormals
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.families import Broadcast
from lamina.dialects.relay.params import ParamAttr
from lamina.driver.compilation import Compilation, Source, build, is_for_machine, load, lower
from lamina.driver.lowering_here import constants_of
from lamina.driver.settings import Settings
from lamina.driver.small_program import Packing, SmallProgram
from lamina.errors import InternalError, UnsupportedError, UsageError
from lamina.ir.targets import spec_of
from lamina.runtime.compiled import load_program
from lamina.runtime.program_file import StoredProgram
from lamina.transform import PassContext

if TYPE_CHECKING:
    from lamina.dialects.machine_spec import TargetSpec
    from lamina.dialects.relay.params import ConstantAttr, Derivation, ParamStore
    from lamina.driver.compilation import Fresh

    Array = np.ndarray[Any, np.dtype[Any]]

LEAST = 4096
"""Bytes by which a weight has to be larger than what it is made of: its kernel takes about as many."""
LEAST_SHARE = 16
"""It has to be larger by a sixteenth of itself as well: what is packed is in no file that processes share."""
CONTRACTIONS = "tir-fuse-multiply-add"
"""The pass that rounds a product and its sum at once, which NumPy does not."""

Ways: TypeAlias = "dict[ConstantAttr, Derivation | None]"
"""For each constant the way in which it is computed when the library is loaded; None where it is stored."""


class _Second(NamedTuple):
    """The second program of a model."""

    module: ModuleOp
    packed: list[ConstantAttr]
    """The constants that are its results."""
    stored: list[ConstantAttr]
    """The other constants of the first program."""


def small_program(compilation: Compilation, made: StoredProgram) -> StoredProgram:
    """A program that a compilation has made with its packing; as it is where packing enlarges none of its weights.

    Raises UnsupportedError where the target cannot compute them. Raises InternalError where that does not give the
    weights of the program to the bit, which is looked at where this machine can run it.
    """
    start = perf_counter()
    constants: list[Any] = compilation.constants
    values: dict[ConstantAttr, Array] = dict(zip(constants, made.params, strict=True))
    found = _second(compilation, constants)
    if not found.packed:
        return made
    source, target = compilation.source, compilation.settings.target
    second = Compilation(
        lambda: Source(found.module, source.params, source.label), packing_settings(target), compilation.objects
    )
    program = build(second)
    assert isinstance(program, StoredProgram)
    if not obstacle(target):
        for c, array in zip(found.packed, load_program(program).run({}).values(), strict=True):
            if not same_bits(array, values[c]):
                raise InternalError(f"the weight {c} is packed otherwise when the library is loaded")
    sources: list[Any] = second.constants
    arrays = {c: values[c] for c in found.stored} | dict(zip(sources, program.params, strict=True))
    numbers: dict[ConstantAttr, int] = {c: n for n, c in enumerate(arrays)}
    numbers |= {c: -1 - n for n, c in enumerate(found.packed)}
    packing = Packing(
        program, tuple(arrays.values()), tuple(numbers[c] for c in sources), tuple(numbers[c] for c in constants)
    )
    size, count = sum(values[c].nbytes for c in found.packed) / 1e6, len(found.packed)
    compilation.report("pack-at-load", perf_counter() - start, f"{count} weights of {size:.1f} MB")
    return SmallProgram(made.description, made.objects, made.params, packing)


def second_source(fresh: Fresh, settings: Settings) -> tuple[Fresh, Settings]:
    """A function that gives the second program of a model as a module, and its settings: for its texts.

    Raises UsageError where there is none, UnsupportedError for a model without kernels in a fixed order.
    """
    compilation = Compilation(fresh, settings)
    load(compilation)
    source = compilation.source
    if is_for_machine(compilation):
        raise UnsupportedError("this model has no kernels in a fixed order of known extents", where=source.label)
    lower(compilation)
    found = _second(compilation, constants_of(source.module))
    if not found.packed:
        what = "packing enlarges none of its weights: no second program packs them"
        raise UsageError(what, where=source.label, hint="leave out --small")
    return lambda: Source(found.module.clone(), source.params, source.label), packing_settings(settings.target)


def _second(compilation: Compilation, constants: Sequence[Any]) -> _Second:
    """The second program for the constants of the first. Raises UnsupportedError where the target is not exact."""
    store = compilation.source.params
    ways = _ways(constants, store)
    packed, stored = ([c for c in dict.fromkeys(constants) if (ways[c] is None) == kept] for kept in (False, True))
    module = _module(packed, ways, store)
    _check_arithmetic(module, compilation)
    return _Second(module, packed, stored)


def _check_arithmetic(module: ModuleOp, compilation: Compilation) -> None:
    """Raise UnsupportedError for sums and products of floats where vectors of these are not IEEE 754's."""
    triple = compilation.settings.target.triple
    if not flushes_denormals(triple):
        return
    if any(isinstance(op, Broadcast) and _is_float(op.results[0].type) for op in module.walk()):
        what = f"{triple.partition('-')[0]} computes with floats otherwise than what weights were folded with"
        hint = "leave out --small (small=True)"
        raise UnsupportedError(f"{what}: it cannot pack them", where=compilation.source.label, hint=hint)


def packing_settings(target: TargetSpec) -> Settings:
    """The settings of the second program: each op by itself, on one thread."""
    return Settings(spec_of(target, 1), PassContext(opt_level=0, disabled_pass=[CONTRACTIONS]))


def _ways(constants: Sequence[ConstantAttr], store: ParamStore) -> Ways:
    """The way to each constant, and to each that it is computed from, that takes the least bytes of the file."""
    ways: Ways = {}
    bytes_in_file: dict[ConstantAttr, int] = {}
    stack = list(constants)  # chains of derivations are long
    while stack:
        c = stack[-1]
        if c in ways:
            stack.pop()
            continue
        way = store.derivation(c)
        if way is not None and _is_exact(way, store):
            waiting = [i for i in way.inputs if i not in ways]
            if waiting:
                stack += waiting
                continue
        else:
            way = None
        own = _size(c, store)
        before = sum(bytes_in_file[i] for i in dict.fromkeys(way.inputs)) if way is not None else own
        pays = own - before >= max(LEAST, own // LEAST_SHARE)
        ways[c], bytes_in_file[c] = (way, before) if pays else (None, own)
        stack.pop()
    return ways


def _is_exact(way: Derivation, store: ParamStore) -> bool:
    """Whether a kernel gives the same bits: of floats that an integer type does not hold it gives any number."""
    becomes_integer = not _is_float(way.type) and any(_is_float(_type(i, store)) for i in way.inputs)
    return way.remake is not None and bool(way.inputs) and not becomes_integer


def _is_float(type_: Any) -> bool:
    return is_float(dtype_name(type_.element_type))


def _type(constant: ConstantAttr, store: ParamStore) -> Any:
    return store.type_of(constant) if isinstance(constant, ParamAttr) else constant.type


def _size(constant: ConstantAttr, store: ParamStore) -> int:
    return bytes_of_type(_type(constant, store))


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
            ops.append(ConstantOp.make(c, _type(c, store)))
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


def same_bits(found: Array, wanted: Array) -> bool:
    """Whether arrays are the same to the bit, but for what NaN carries."""
    bits = np.dtype(f"u{wanted.itemsize}")
    differ = found.view(bits) != wanted.view(bits)
    return not differ.any() or bool(np.all((found != found)[differ] & (wanted != wanted)[differ]))
