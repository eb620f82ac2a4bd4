"""Interface of passes to whoever runs them: what they report, and what they let him decide.

A context has a listener (`LaminaContext.listener`); to one of xDSL, which has none, nobody listens. The driver's is its
compilation, that of opt-tool prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation

    from lamina.dialects.choices import Question
    from lamina.dialects.llvm_target.ops import FuncOp
    from lamina.dialects.tir.ops import FuncOp as Kernel


class KernelTaker(Protocol):
    """Takes kernels from `tir-to-llvm` one by one, so that they can be compiled while others are still lowered."""

    def share(self, kernels: Sequence[Kernel]) -> Iterable[Kernel]:
        """Those of a module's kernels that are lowered here, in any order; the others stay declarations."""
        ...

    def finished(self, functions: Sequence[FuncOp], declared: Mapping[str, FuncOp]) -> None:
        """Take the functions of a kernel as soon as it is finished, and the external ones declared so far, by name.

        It may empty the functions: then one kernel's ops are in memory at a time.
        """
        ...


class Listener:
    """Hears what passes have to say; this one hears nothing and takes no kernels."""

    kernels: KernelTaker | None = None
    """Takes each kernel as soon as it is machine operations, where somebody waits for them."""
    wants_nodes: bool = False
    """Whether questions are to say which nodes of the model they concern, which costs a walk of the module."""
    wants_estimates: bool = False
    """Whether questions are to say what each candidate is expected to take."""
    wants_remarks: bool = False
    """Whether remarks that cost time to find are worth it."""

    def message(self, severity: str, text: str, op: Operation | None = None) -> None:
        """Hear a warning, or a remark on what was done or not."""

    def placed(self, report: Callable[[], str]) -> None:
        """Hear which parts of a module went to external compilers, and what kept the others; to be asked at once."""

    def asked(self, questions: Iterable[Question]) -> None:
        """Hear what passes asked that choose among candidates."""


NOBODY = Listener()


def listener_of(ctx: Context) -> Listener:
    """The listener of a context."""
    found: object = getattr(ctx, "listener", NOBODY)
    return found if isinstance(found, Listener) else NOBODY
