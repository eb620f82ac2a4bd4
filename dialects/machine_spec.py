"""A target as plain values: what a key, a file or a call says of a machine, without any IR.

`target.py` has the same as an attribute. A program that was compiled before runs without one op being made, so what
finds it and loads it must not cost the import of a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr


STACK_PROBE = "lamina.probe"
"""The function by which code for Windows takes more than a page of its stack."""


def is_bare(triple: str) -> bool:
    """Whether programs for a triple of LLVM's run without a system: its third part is `none`."""
    return triple.split("-")[2:3] == ["none"]


def is_wasm(triple: str) -> bool:
    """Whether code of a triple is WebAssembly's, whose modules have their memory to themselves."""
    return triple.startswith("wasm32")


def flushes_denormals(triple: str) -> bool:
    """Whether vectors of floats take denormal numbers for zeros: Neon of 32 bits, in its own arithmetic."""
    return triple.startswith("armv7")


def is_windows(triple: str) -> bool:
    """Whether programs for a triple run on Windows."""
    return "windows" in triple.split("-")


def is_macos(triple: str) -> bool:
    """Whether programs for a triple run on macOS."""
    return any(part.startswith("macosx") for part in triple.split("-"))


def is_linux(triple: str) -> bool:
    """Whether programs for a triple run on Linux."""
    return "linux" in triple.split("-")


def has_system(triple: str) -> bool:
    """Whether programs for a triple run under a system, which loads them anywhere in memory and starts threads."""
    return not is_bare(triple) and not is_wasm(triple)


def stack_bytes(triple: str, most: int) -> int:
    """The bytes of a buffer that the stack of a thread holds: `most` with Linux's eight megabytes, less where a stack
    has half a megabyte or one."""
    return min(most, _SHORT_STACK) if is_windows(triple) or is_macos(triple) else most


_SHORT_STACK = 1 << 15


def pointer_bits(triple: str) -> int:
    """The bits of a pointer on the processors of a triple."""
    return 32 if triple.startswith(("arm", "thumb", "wasm32")) else 64


class TargetSpec(NamedTuple):
    """The fields of `#lamina.target<...>`, by the same names."""

    triple: str
    cpu: str
    features: str
    vector_bits: int
    registers: int
    threads: int = 1
    backends: str = ""
    kind: str = ""
    figures: str = ""

    @staticmethod
    def of(target: TargetAttr) -> TargetSpec:
        """The spec that an attribute holds."""
        return TargetSpec(*(getattr(target, name).data for name in TargetSpec._fields))

    def attr(self) -> TargetAttr:
        """The attribute that says this."""
        from lamina.dialects.target import TargetAttr

        return TargetAttr.get(*self)

    def text(self) -> str:
        """All of it in one line, for keys."""
        return ", ".join(f"{name} = {value}" for name, value in zip(self._fields, self, strict=True))

    def with_threads(self, threads: int) -> TargetSpec:
        return self._replace(threads=threads)

    def with_backends(self, backends: Sequence[str]) -> TargetSpec:
        return self._replace(backends=",".join(backends))

    def backend_list(self) -> tuple[str, ...]:
        """The external compilers, the preferred one first."""
        return tuple(b for b in self.backends.split(",") if b)

    def feature_list(self) -> list[str]:
        return [f for f in self.features.split(",") if f]
