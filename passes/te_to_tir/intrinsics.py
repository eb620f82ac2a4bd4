"""The tensor intrinsics that a module's schedules may name: declared in it, or found by name in a backend.

A declaration's description is lowered to its naive nest here, and each implementation is run against it once. Finding a
backend's intrinsic and running one are the compile context's business, which knows the interpreters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from xdsl.ir import SSAValue

from lamina.dialects.schedule.nest.edits import ScheduleError
from lamina.dialects.schedule.nest.tensor_intrinsic import TensorIntrinsic
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.tir.intrinsics import IntrinsicOp
from lamina.dialects.tir.ops import FuncOp as KernelOp
from lamina.errors import InputError, did_you_mean

Lower = Callable[[FuncOp], tuple[KernelOp, dict[str, SSAValue]]]


@runtime_checkable
class IntrinsicServices(Protocol):
    """Services of a compile context for tensor intrinsics."""

    def find_intrinsic(self, name: str) -> TensorIntrinOp | None:
        """The declaration that a backend has of a name such as `cpu.bf16_dot_16x2`.

        Raises ValueError for parameters that its family does not have.
        """
        ...

    def intrinsic_names(self) -> list[str]:
        """The names that `find_intrinsic` finds, with letters in the place of numbers that may be chosen."""
        ...

    def check_intrinsic(self, op: TensorIntrinOp, intrinsic: TensorIntrinsic) -> None:
        """Raises InputError where an implementation computes something else than the description."""
        ...


def lower_intrinsic(op: TensorIntrinOp, lower: Lower) -> TensorIntrinsic:
    """A declaration with its description as a naive nest."""
    desc, _ = lower(op.desc.clone())
    result = desc.body.block.args[-1]
    result.name_hint = op.compute.result.name_hint or "result"
    body, reset, update = (op.variant(name) for name in ("body", "reset", "update"))
    layout = (tuple(op.strides()), tuple(op.offset_factors()))
    return TensorIntrinsic(op.sym_name.data, desc, body, reset, update, *layout)


class IntrinsicTable:
    """Tensor intrinsics by name, each lowered and checked once."""

    def __init__(
        self,
        declared: dict[str, TensorIntrinOp],
        context: object,
        lower: Lower,
        target: TargetAttr | None = None,
    ) -> None:
        self._services = context if isinstance(context, IntrinsicServices) else None
        self._lower = lower
        self._target = target
        self._declared = declared
        self._ready: dict[str, TensorIntrinsic] = {}
        for op in declared.values():
            self._make_ready(op)

    def __call__(self, name: str) -> TensorIntrinsic:
        """Raises ScheduleError for a name that stands for nothing, or for what the target cannot do."""
        found = self._ready.get(name)
        if found is None:
            try:
                op = self._services.find_intrinsic(name) if self._services is not None else None
            except ValueError as e:
                raise ScheduleError(str(e)) from None
            if op is None:
                known = [*self._declared, *(self._services.intrinsic_names() if self._services is not None else ())]
                hint = did_you_mean(name, known) or (f"there is {', '.join('@' + k for k in known)}" if known else "")
                raise ScheduleError(f"there is no tensor intrinsic @{name}" + (f"; {hint}" if hint else ""))
            found = self._make_ready(op)
        self._check_target(found)
        return found

    def _make_ready(self, op: TensorIntrinOp) -> TensorIntrinsic:
        if self._services is None:
            raise InputError("te-to-tir: tensor intrinsics need Lamina's own context, which can run them", op=op)
        found = self._ready[op.sym_name.data] = lower_intrinsic(op, self._lower)
        self._services.check_intrinsic(op, found)
        return found

    def _check_target(self, intrinsic: TensorIntrinsic) -> None:
        target = self._target
        if target is None:
            return
        for variant in (intrinsic.body, intrinsic.reset, intrinsic.update):
            for op in variant.walk() if variant is not None else ():
                missing = op.row.missing(target.has_feature) if isinstance(op, IntrinsicOp) else []
                if missing:
                    raise ScheduleError(
                        f"@{intrinsic.name} needs the target feature {', '.join(missing)}, which "
                        f"{target.cpu.data} has not"
                    )
