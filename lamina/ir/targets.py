"""The target of a call, as plain values, and whether this machine runs its code."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import InputError, UsageError

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

HOSTS = {"llvm": "cpu"}
"""TVM's name of the machine that compiles."""


def spec_of(target: str | TargetAttr | TargetSpec, threads: int | None) -> TargetSpec:
    """The target of a call: with `threads`, or as many as this process may use. Raises UsageError."""
    from lamina.backends.cpu.jit import is_named_target, named_spec
    from lamina.backends.cpu.processors import available_threads

    if threads is not None and (type(threads) is not int or threads < 1):
        raise UsageError(f"threads is a positive integer or None, not {threads!r}")
    if not isinstance(target, (str, TargetSpec)):
        # By name: to import the class is to import a compiler.
        if type(target).__name__ != "TargetAttr":
            raise UsageError(f"a target is a name or a #lamina.target, not {type(target).__name__}")
        target = TargetSpec.of(target)
    if isinstance(target, TargetSpec):
        return target if threads is None else target.with_threads(threads)
    # The last is the machine; before it stand the external backends, the preferred one first.
    *backends, host = (part.strip() for part in target.split(","))
    for backend in backends:
        from lamina.passes.relay.partition.pattern_tables import find_table

        if backend in HOSTS or is_named_target(backend):
            raise UsageError(f"target {target!r}: the machine stands last", hint="as in 'openblas, cpu'")
        find_table(backend)
    host = HOSTS.get(host, host)
    threads = threads or available_threads()
    chosen = None if is_named_target(host) else _target_of_backend(host, threads)
    if chosen is None and not is_named_target(host):
        from lamina.passes.relay.partition.pattern_tables import table_names

        if host in table_names():
            what = f"unknown target {target!r}; {host} is an external backend"
            raise UsageError(what, hint=f"as in '{target}, cpu'")
    chosen = chosen or named_spec(host, threads)
    return chosen.with_backends(list(dict.fromkeys(backends))) if backends else chosen


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
    from lamina.backends.cpu.machines import NATIVE, VARIABLE, declared, obstacle

    wanted = target if isinstance(target, TargetSpec) else TargetSpec.of(target)
    if why := obstacle(wanted):
        is_declared = wanted.cpu == declared()
        hint = f"{VARIABLE}={NATIVE} takes it as it is" if is_declared else "compile with target 'cpu'"
        processor = wanted.triple.partition("-")[0] if wanted.cpu.startswith("generic") else wanted.cpu
        raise InputError(f"code for {processor} cannot run here: {why}", hint=hint)
