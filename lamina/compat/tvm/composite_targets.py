"""Targets of `relay.build`: `llvm` with its options, alone or behind external compilers that may take parts.

"llvm -mcpu=core-avx2"      "openblas, llvm"      ["dnnl", "llvm"]      {tvm.cpu(): tvm.target.Target("llvm")}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from lamina.errors import UnsupportedError, UsageError, did_you_mean
from lamina.ir.target_strings import CPU_KINDS
from lamina.ir.targets import split_targets
from lamina.passes.relay.partition.pattern_tables import find_table, table_names
from lamina.tensor import target as tensor_target

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

ENTERED: ContextVar[tuple[Any, ...]] = ContextVar("targets", default=())
"""The targets of the `with` around, the innermost last."""
_EXAMPLE = 'relay.build(mod, target="openblas, llvm")'


def compile_target(target: Any, elsewhere: bool = False) -> TargetAttr:
    """The machine of a target with the external compilers beside it, the preferred one first.

    Raises LaminaError for what is not known, and unless `elsewhere` for a machine that is not this one.
    """
    backends: list[str] = []
    hosts: list[Any] = []
    for part in _parts(target):
        words = str(part).split()
        if not words:
            raise UsageError(f"a target is empty in {target!r}", hint=_EXAMPLE)
        if _is_external(words[0]):
            if len(words) > 1:
                raise UsageError(f"the compiler {words[0]} takes no options, here is {words[1]!r}", hint=_EXAMPLE)
            backends.append(words[0])
            continue
        known = [*CPU_KINDS, *tensor_target.DEVICE_KINDS]
        if words[0] not in known and not words[0].startswith("x86-64"):
            near = did_you_mean(words[0], [*known, *table_names()]) or f"there are {', '.join(known)}"
            raise UsageError(f"no target {words[0]!r}", hint=near)
        hosts.append(part)
    if len(hosts) > 1 and len({str(h) for h in hosts}) > 1:
        raise UnsupportedError(f"a model is compiled for one machine, not for {' and '.join(map(str, hosts))}")
    host = hosts[0] if hosts else "llvm"
    kind = str(host).split()[0]
    if kind in tensor_target.DEVICE_KINDS:
        raise UnsupportedError(f"models are not compiled for {kind!r}", hint='relay.build(mod, target="llvm")')
    chosen = tensor_target.target_of(host)
    machine = chosen.attr
    assert machine is not None
    if not elsewhere:
        tensor_target.check_here(chosen)
    for backend in backends:
        find_table(backend)
    return machine.with_backends(list(dict.fromkeys(backends))) if backends else machine


def _is_external(kind: str) -> bool:
    return kind not in (*CPU_KINDS, *tensor_target.DEVICE_KINDS) and kind in table_names()


def _parts(target: Any) -> list[Any]:
    """The targets of a composite one, in their order; where none is given that of the innermost `with`."""
    if target is None:
        return list(ENTERED.get()[-1:]) or ["llvm"]
    if isinstance(target, str):
        return split_targets(target)
    if isinstance(target, Mapping):
        given = cast("Mapping[Any, Any]", target)
        return [tensor_target.target_of(given)] if "kind" in given else _parts(list(given.values()))
    if isinstance(target, (list, tuple)):
        return [part for value in cast("Sequence[Any]", target) for part in _parts(value)]
    if isinstance(target, tensor_target.Target) and target.attr is None and "," in target.kind:
        return _parts(target.kind)
    return [target]
