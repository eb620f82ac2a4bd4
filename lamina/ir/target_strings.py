"""Targets by TVM's strings: `llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod`, JSON with the same, files of such JSON.

    "llvm -mcpu=core-avx2"      "bnns, llvm -device=arm_cpu -mtriple=aarch64-linux-gnu"      '{"kind": "llvm"}'

A target that says nothing of the machine is this one; `-mtriple` names another. Options that choose nothing here
(`-keys`, `-device`, ...) are taken and left; one that is not known is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lamina.backends.cpu.jit import host_spec
from lamina.backends.cpu.machines import (
    EXTENSIONS_OF_OTHERS,
    LEVELS,
    NATIVE,
    PROCESSORS,
    PROCESSORS_OF_OTHERS,
    WINDOWS,
    WITHOUT,
    hint_for,
    is_of_other_system,
    machine_of_triple,
    named,
    x86_vectors,
)
from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean

CPU_KINDS = ("llvm", "cpu")
"""TVM's name of the kind whose code is a processor's, and ours."""
IGNORED = (
    *("keys", "libs", "device", "model", "tag", "host", "opt-level", "link-params", "system-lib", "executor"),
    *("runtime", "interface-api", "unpacked-api", "mfloat-abi", "mabi", "fast-math"),
)
"""Options that choose nothing here."""
CORES = "num-cores"
"""The option that says the threads."""
_OPTIONS = ("mcpu", "mattr", "mtriple", CORES, *IGNORED)
_ALIASES = {"core-avx2": "haswell"}
"""Other names of LLVM's for a processor."""
_CONVENTIONS = {"mfloat-abi": {"armv7": "hard", "aarch64": "hard"}, "mabi": {"riscv64": "lp64d", "rv64gc": "lp64d"}}
"""Conventions of calls on machines that are not this one, by the options of TVM that say them."""

Options = Sequence[tuple[str, str]]


def kind_and_options(target: str | Mapping[str, Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The kind of a target that is a string or TVM's dictionary, and its options in order; no kind where none is."""
    if isinstance(target, str):
        kind, *words = target.split() or [""]
        return kind, tuple(_option(word) for word in words)
    given = dict(target)
    return str(given.pop("kind", "")), tuple((name, _text(value)) for name, value in given.items())


def _option(word: str) -> tuple[str, str]:
    name, _, value = word.lstrip("-").partition("=")
    return name, value


def _text(value: Any) -> str:
    return ",".join(map(str, cast("list[Any]", value))) if isinstance(value, (list, tuple)) else str(value)


def read_target(text: str) -> str | dict[str, Any]:
    """A target that is a JSON text, or a file that holds one, as a dictionary; another one as it is.

    Raises LaminaError for a file that is not there, cannot be read or holds no such text.
    """
    text, where = text.strip(), ""
    if not text.startswith("{"):
        if not os.path.isfile(text):
            if text.endswith(".json"):
                raise InputError("there is no such file", where=text)
            return text
        where = text
        try:
            text = Path(text).read_text("utf-8")
        except (OSError, ValueError) as e:
            said = getattr(e, "strerror", None) or "is no text"
            raise InputError(f"cannot read a target: {said}", where=where) from None
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise UsageError(f"a target is no JSON: {e}", where=where) from None
    if not isinstance(found, dict):
        raise UsageError("a target as JSON is an object", where=where, hint='as in {"kind": "llvm"}')
    return cast("dict[str, Any]", found)


def check_options(kind: str, options: Options, known: Sequence[str] = _OPTIONS, numbers: Sequence[str] = ()) -> None:
    """Raise UsageError for an option that is not known, and for one of numbers that is none."""
    for name, value in options:
        if name not in known:
            hint = did_you_mean(name, list(known)) or f"there are {', '.join(known)}"
            raise UsageError(f"target {kind!r} has no option {name!r}", hint=hint)
        if name in (*numbers, CORES) and (not value.isdigit() or (name == CORES and not int(value))):
            raise UsageError(f"target {kind!r}: -{name} is a number, not {value!r}")


def cpu_spec(kind: str, options: Options) -> tuple[TargetSpec, int | None]:
    """The machine of a kind (of `CPU_KINDS`, or a level of x86-64) with options, and the threads that these say.

    Raises LaminaError for a processor, a feature, a triple or an option that is not known.
    """
    check_options(kind, options)
    given = {"mcpu": kind, **dict(options)} if kind in LEVELS else dict(options)
    threads = int(given[CORES]) if CORES in given else None
    triple = given.get("mtriple", "")
    elsewhere = is_of_other_system(triple) or triple.partition("-")[0] != host_spec(1).triple.partition("-")[0]
    if triple and elsewhere:
        name = machine_of_triple(triple)
        return (_of_windows if name.endswith(WINDOWS) else _of_other)(name, given), threads
    cpu = given.get("mcpu", NATIVE)
    cpu = _ALIASES.get(cpu, cpu)
    # Of a processor the level: what it has beyond that is not known of the machine that the program is written on.
    level = PROCESSORS.get(cpu, cpu)
    if level not in (NATIVE, *LEVELS):
        raise UsageError(f"no cpu {cpu!r}", hint=hint_for(cpu, [NATIVE]))
    found = host_spec(1) if level == NATIVE else named(level)
    changes = _changes(given)
    return _with_features(found, changes) if changes else found, threads


def _of_windows(name: str, options: Mapping[str, str]) -> TargetSpec:
    """A machine with Windows, whose lowest level has a name. Raises UsageError for a processor that is no x86-64."""
    lowest = name.removesuffix(WINDOWS)
    cpu = options.get("mcpu", lowest)
    cpu = _ALIASES.get(cpu, cpu)
    level = PROCESSORS.get(cpu, cpu)
    if level not in LEVELS:
        raise UsageError(f"no cpu {cpu!r}", hint=hint_for(cpu))
    found, changes = named(level + WINDOWS), _changes(options)
    return _with_features(found, changes) if changes else found


def _changes(options: Mapping[str, str]) -> list[str]:
    """The features that are switched on and off: `+avx2`, `-avx512f`."""
    changes = options["mattr"].split(",") if options.get("mattr") else []
    for change in changes:
        if change[:1] not in ("+", "-") or not change[1:]:
            raise UsageError(f"target 'llvm': -mattr is a list such as +avx2,-avx512f, not {change!r}")
    return changes


def _of_other(name: str, options: Mapping[str, str]) -> TargetSpec:
    """A machine that is not this one, with what the options say. Raises UsageError for other processors than its own,
    and where a feature is switched off that code for it needs."""
    cpu, changes = options.get("mcpu", "generic"), _changes(options)
    smaller, without = WITHOUT.get(name, (name, ""))
    if f"-{without}" in changes or cpu in PROCESSORS_OF_OTHERS.get(smaller, ()) and f"+{without}" not in changes:
        name, changes = smaller, [change for change in changes if change != f"-{without}"]
    machine, processors = named(name), PROCESSORS_OF_OTHERS.get(name, ())
    if cpu not in ("generic", machine.cpu, *processors):
        known = dict.fromkeys([*processors, *PROCESSORS_OF_OTHERS.get(smaller, ())])
        near = did_you_mean(cpu, [*known]) or f"there are generic, {', '.join(known)}"
        raise UsageError(f"no cpu {cpu!r} of {name}", hint=near)
    for option, kinds in _CONVENTIONS.items():
        if options.get(option, kinds.get(name, "")) != kinds.get(name, ""):
            what = f"code for {name} is not made with -{option}={options[option]}"
            raise UnsupportedError(what, hint=f"leave -{option} out")
    needed = {f"-{f[1:]}" for f in machine.feature_list()}
    if lacking := needed.intersection(changes):
        raise UnsupportedError(f"code for {name} needs {', '.join(sorted(f[1:] for f in lacking))}")
    for change in changes:
        if change[1:] not in EXTENSIONS_OF_OTHERS.get(name, (change[1:],)):
            near = did_you_mean(change[1:], [*EXTENSIONS_OF_OTHERS[name]])
            hint = near or f"there are {', '.join(EXTENSIONS_OF_OTHERS[name])}"
            raise UsageError(f"no feature {change[1:]!r} of {name}", hint=hint)
    return _with_features(machine, changes) if changes else machine


def _with_features(machine: TargetSpec, changes: Sequence[str]) -> TargetSpec:
    """The machine with features switched on or off."""
    signs = {f[1:]: f[0] for f in [*machine.feature_list(), *changes]}
    if any(c.startswith("-avx512f") for c in changes):  # the others of AVX-512 need it
        signs |= {f: "-" for f in signs if f.startswith("avx512")}
    features = ",".join(sign + name for name, sign in sorted(signs.items()))
    vectors = machine.vector_bits, machine.registers
    if machine.triple.startswith("x86_64"):
        vectors = x86_vectors([name for name, sign in signs.items() if sign == "+"])
    return TargetSpec(machine.triple, machine.cpu, features, *vectors)
