"""The target of a call, as plain values, and whether this machine runs its code."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lamina.dialects.machine_spec import TargetSpec, has_system, is_bare
from lamina.errors import UsageError

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

HOSTS = {"llvm": "cpu"}
"""TVM's name of the machine that compiles."""
_LAST = "as in 'openblas, cpu'"


def spec_of(target: str | TargetAttr | TargetSpec, threads: int | None) -> TargetSpec:
    """The target of a call: with `threads`, or as many as it says, or as this process may use.

    A string is a name, behind external backends or alone, or what TVM has (`target_strings.py`). Raises LaminaError.
    """
    from lamina.backends.cpu.jit import is_named_target

    if threads is not None and (type(threads) is not int or threads < 1):
        raise UsageError(f"threads is a positive integer or None, not {threads!r}")
    if not isinstance(target, (str, TargetSpec)):
        # By name: to import the class is to import a compiler.
        if type(target).__name__ != "TargetAttr":
            raise UsageError(f"a target is a name or a #lamina.target, not {type(target).__name__}")
        target = TargetSpec.of(target)
    if isinstance(target, TargetSpec):
        return _with_threads(target, threads or target.threads)
    if target.lstrip().startswith("{") or target.endswith(".json"):
        from lamina.ir.target_strings import kind_and_options, read_target

        return spec_of_options(*kind_and_options(read_target(target)), threads)
    # The last is the machine; before it stand the external backends, the preferred one first.
    *backends, host = split_targets(target)
    for backend in backends:
        from lamina.passes.relay.partition.pattern_tables import find_table

        if backend in HOSTS or is_named_target(backend):
            raise UsageError(f"target {target!r}: the machine stands last", hint=_LAST)
        if " " in backend:
            name, option, *_ = backend.split()
            raise UsageError(f"the compiler {name} takes no options, here is {option!r}", hint=_LAST)
        find_table(backend)
    if " " in host:
        from lamina.ir.target_strings import kind_and_options

        chosen = spec_of_options(*kind_and_options(host), threads)
    else:
        chosen = _named(host, target, threads)
    return chosen.with_backends(list(dict.fromkeys(backends))) if backends else chosen


def split_targets(text: str) -> list[str]:
    """The targets of a composite one. Commas are also inside options: -mattr=+avx2,+fma; there a sign follows."""
    parts: list[str] = []
    for word in text.split(","):
        if parts and word[:1] in ("+", "-"):
            parts[-1] += f",{word}"
        else:
            parts.append(word)
    return [part.strip() for part in parts]


def spec_of_options(kind: str, options: Sequence[tuple[str, str]], threads: int | None = None) -> TargetSpec:
    """The machine of a kind with TVM's options: with `threads`, or as many as these say, or as this process may use.

    Raises LaminaError for what is not known, and UsageError for two numbers of threads.
    """
    from lamina.backends.cpu.machines import LEVELS
    from lamina.backends.cpu.processors import available_threads
    from lamina.ir.target_strings import CORES, CPU_KINDS, cpu_spec

    if not kind:
        raise UsageError("a target has no kind", hint='as in {"kind": "llvm"}')
    if kind not in (*CPU_KINDS, *LEVELS):
        found = _named(kind, kind, threads)
        if options:
            hint = f"options are those of {CPU_KINDS[0]}, as in 'llvm -mtriple=aarch64-linux-gnu'"
            raise UsageError(f"the target {kind!r} takes no options, here is -{options[0][0]}", hint=hint)
        return found
    chosen, cores = cpu_spec(kind, options)
    if threads is not None and cores not in (None, threads):
        raise UsageError(f"{threads} threads are asked for, and -{CORES}={cores}", hint="give one of the two")
    return _with_threads(chosen, threads or cores or available_threads())


def _named(host: str, target: str, threads: int | None) -> TargetSpec:
    """The machine of a name, which stands last in a target."""
    from lamina.backends.cpu.jit import is_named_target, named_spec
    from lamina.backends.cpu.processors import available_threads

    host, wanted = HOSTS.get(host, host), threads or available_threads()
    chosen = None if is_named_target(host) else _target_of_backend(host, wanted)
    if chosen is None and not is_named_target(host):
        from lamina.passes.relay.partition.pattern_tables import table_names

        if host in table_names():
            what = f"unknown target {target!r}; {host} is an external backend"
            raise UsageError(what, hint=f"as in '{target}, cpu'")
    chosen = chosen or named_spec(host)
    return _with_threads(chosen, threads or (wanted if has_system(chosen.triple) else 1))


def _with_threads(target: TargetSpec, threads: int) -> TargetSpec:
    if threads > 1 and not has_system(target.triple):
        where = target.cpu if is_bare(target.triple) else target.triple.partition("-")[0]
        raise UsageError(f"code for {where} has one thread, not {threads}", hint="leave threads out, or give 1")
    return target.with_threads(threads)


def _target_of_backend(kind: str, threads: int) -> TargetSpec | None:
    """The machine of a backend that compiles models for one of its own, as its `pipeline.py` says."""
    name = f"lamina.backends.{kind}"
    if not kind.isidentifier() or find_spec(name) is None or find_spec(f"{name}.pipeline") is None:
        return None
    return import_module(f"{name}.pipeline").target(threads)


def target_of(target: str | TargetAttr | TargetSpec, threads: int | None) -> TargetAttr:
    """The same as an attribute."""
    return spec_of(target, threads).attr()


def check_host(target: TargetAttr | TargetSpec) -> None:
    """Raise InputError where this machine lacks what the target has: the code would die in the middle of a run."""
    from lamina.backends.cpu.machines import check_runs_here

    check_runs_here(target if isinstance(target, TargetSpec) else TargetSpec.of(target))
