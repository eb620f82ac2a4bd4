"""`tvm.target`: targets by their strings."""

from __future__ import annotations

from typing import Any

from lamina.errors import UsageError
from lamina.passes.pattern_tables import table_names
from lamina.tensor_target import Target as _Target
from lamina.tensor_target import target_of


def Target(target: Any, host: Any = None) -> _Target:  # noqa: N802
    """A target; `openblas, llvm` is one for `relay.build` alone. The host is this machine: another one is an error."""
    if host is not None and target_of(host).attr is None:
        raise UsageError(f"a host is 'llvm', not {str(host)!r}")
    if isinstance(target, str) and ("," in target.partition(" -")[0] or target.strip() in table_names()):
        from lamina.compat.tvm.relay.targets import compile_target

        compile_target(target)  # which refuses what is not known
        return _Target(target)
    return target_of(target)


create = Target


def cuda(model: str = "", arch: str = "", options: Any = None) -> _Target:
    """The target `cuda`."""
    words = [options] if isinstance(options, str) else list(options or ())
    return target_of(
        " ".join(["cuda", *([f"-model={model}"] if model else []), *([f"-arch={arch}"] if arch else []), *words])
    )


def llvm(options: Any = None) -> _Target:
    """The target `llvm`."""
    return target_of(" ".join(["llvm", *([options] if isinstance(options, str) else list(options or ()))]))
