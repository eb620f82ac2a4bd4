"""`tvm.target`: targets by their strings, with what TVM's programs ask of them.

target = tvm.target.Target("llvm -mcpu=core-avx2 -num-cores=2")
target.kind.name, target.mcpu, target.keys, target.attrs["num-cores"]
with target:
    tvm.target.Target.current()
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

from lamina.compat.tvm.composite_targets import ENTERED, compile_target
from lamina.compat.tvm.imports import NO_FOLDER
from lamina.errors import UsageError
from lamina.ir.tvm_names import missing
from lamina.passes.relay.partition.pattern_tables import table_names
from lamina.tensor import target as tensor_target
from lamina.tensor.target import target_of

__path__ = NO_FOLDER


class TargetKind(str):
    """The kind of a target: `llvm`, `cuda`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)

    @property
    def default_keys(self) -> list[str]:
        """The keys by which TVM chooses schedules."""
        if self not in tensor_target.DEVICE_KINDS:
            return ["cpu"]
        return ["cuda" if self == "nvptx" else str(self), "gpu"]


class Target(tensor_target.Target):
    """A target; `openblas, llvm` is one for `relay.build` alone. The host is this machine: another one is an error."""

    def __init__(self, target: Any, host: Any = None) -> None:
        given: dict[str, Any] = dict(cast("Mapping[str, Any]", target)) if isinstance(target, Mapping) else {}
        host = given.get("host", host)
        if host is not None and target_of(host).attr is None:
            raise UsageError(f"a host is 'llvm', not {str(host)!r}")
        found = _parsed({k: v for k, v in given.items() if k != "host"} if given else target)
        super().__init__(TargetKind(found.kind), found.options, found.attr)
        known: Any = host if host is not None else getattr(cast(Any, target), "host", None)
        object.__setattr__(self, "_host", known)

    @cached_property
    def attrs(self) -> dict[str, Any]:
        """The options of the string by their names: numbers as numbers, lists as lists."""
        return {name: _value(name, text) for name, text in self.options}

    @property
    def keys(self) -> list[str]:
        """The keys by which TVM chooses schedules: those that are given, then those of the kind."""
        kind = self.kind
        assert isinstance(kind, TargetKind)
        return list(dict.fromkeys([*self.attrs.get("keys", ()), *kind.default_keys]))

    @property
    def host(self) -> Target | None:
        """The target of the code that calls the target's programs, None where that was not said."""
        known = self.__dict__["_host"]
        return known if known is None or isinstance(known, Target) else Target(known)

    @property
    def mcpu(self) -> str:
        """The processor: as it is written, else the one that code is made for."""
        return self.attrs.get("mcpu") or (self.attr.cpu.data if self.attr is not None else "")

    @property
    def mattr(self) -> list[str]:
        """The features that are switched on and off."""
        return self.attrs.get("mattr", [])

    @property
    def mtriple(self) -> str:
        return self.attrs.get("mtriple") or (self.attr.triple.data if self.attr is not None else "")

    @property
    def model(self) -> str:
        return self.attrs.get("model", "unknown")

    @property
    def device_name(self) -> str:
        return self.attrs.get("device", "")

    @property
    def libs(self) -> list[str]:
        return self.attrs.get("libs", [])

    @property
    def tag(self) -> str:
        return self.attrs.get("tag", "")

    @property
    def max_num_threads(self) -> int:
        """The threads of a block of a GPU; 1 on a processor."""
        if self.kind not in tensor_target.DEVICE_KINDS:
            return 1
        from lamina.passes.tir.threads.split_host_device import SplitHostDevicePass

        return self.limits().get("max_threads", SplitHostDevicePass.max_threads)

    @property
    def thread_warp_size(self) -> int:
        return int(self.attrs.get("thread_warp_size", 32 if self.kind in tensor_target.DEVICE_KINDS else 1))

    def export(self) -> dict[str, Any]:
        """The target as a dictionary, which `Target` takes."""
        host = {"host": self.host.export()} if self.host is not None else {}
        return {"kind": self.kind, **self.attrs, **host}

    def with_host(self, host: Any) -> Target:
        """The target, called from a host."""
        return Target(self, host)

    def __enter__(self) -> Target:
        ENTERED.set((*ENTERED.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        ENTERED.set(ENTERED.get()[:-1])

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with`. Raises ValueError where there is none and there has to be one."""
        found = ENTERED.get()
        if not found and not allow_none:
            raise ValueError("Requires a current target in generic function, but it is not set: use `with target:`")
        return found[-1] if found else None

    @staticmethod
    def list_kinds() -> list[str]:
        """The kinds that there are."""
        return sorted({"llvm", *tensor_target.DEVICE_KINDS})


def _parsed(target: Any) -> tensor_target.Target:
    if isinstance(target, str) and ("," in target.partition(" -")[0] or target.strip() in table_names()):
        compile_target(target, elsewhere=True)  # which refuses what is not known
        return tensor_target.Target(target)
    return target_of(target)


_LISTS = frozenset(("keys", "libs", "mattr"))


def _value(name: str, text: str) -> Any:
    if name in _LISTS:
        return text.split(",")
    return int(text) if text.isdigit() else text or True


def create(target: Any, host: Any = None) -> Target:
    """A target by its string, as before TVM 0.7."""
    return Target(target, host)


def _words(options: Any) -> list[str]:
    return options.split() if isinstance(options, str) else list(options or ())


def cuda(model: str = "", arch: str = "", options: Any = None) -> Target:
    """The target `cuda`."""
    words = [*([f"-model={model}"] if model else []), *([f"-arch={arch}"] if arch else []), *_words(options)]
    return Target(" ".join(["cuda", *words]))


def llvm(options: Any = None) -> Target:
    """The target `llvm`."""
    return Target(" ".join(["llvm", *_words(options)]))


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())


__all__ = ["Target", "TargetKind", "create", "cuda", "llvm"]
