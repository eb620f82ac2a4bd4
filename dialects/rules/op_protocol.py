"""Protocol of ops of any dialect for rules: its attributes, operands and results, how one is made, what it computes.

A class of ops that answers by class methods is its own `RuleOp`: Relay's ops are. Of classes that are others', xDSL's
arith and math, `declare` says who answers (`lamina.dialects.scalar.terms`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.infos import TensorInfo


@dataclass(frozen=True)
class Sample:
    """One instance of an op to test: operand types, attributes, and the range its random values are drawn from.

    `ranges` holds one (low, high) for each operand (None: -2..2 for floats, all of -8..8 or 0..8 for integers).
    `error` makes it an invalid instance: building it must fail with a message that contains the text.
    `rtol` is the relative tolerance of compiled code against `np_ref`, in units of the largest value.
    """

    operands: tuple[TensorInfo, ...]
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    ranges: tuple[tuple[float, float] | None, ...] | None = None
    error: str | None = None
    rtol: float = 1e-5
    finite: bool = True


class RuleOp(Protocol):
    """An op as rules see it."""

    @property
    def name(self) -> str:
        """The op's name."""
        ...

    @property
    def COMMUTES(self) -> bool:
        """Whether its two operands may be swapped."""
        ...

    @property
    def ACROSS_BLOCKS(self) -> bool:
        """Whether a match may join it to ops of other blocks: not where one block runs more often than another."""
        ...

    def known_attributes(self) -> Mapping[str, Any]:
        """The attributes that rules may name and that a right side gives, with their definitions."""
        ...

    def defaults(self) -> Mapping[str, Attribute]:
        """Those that have a default, with it."""
        ...

    def operand_count(self) -> int | None:
        """The number of operands that it takes; None for any number."""
        ...

    def result_count(self) -> int:
        """The number of its results; -1 where that varies."""
        ...

    def infer_type(self, *types: Any, **attrs: Any) -> Any:
        """The `TensorInfo` of the result, or several, from those of the operands. Raises TypeMismatch."""
        ...

    def infer_types(
        self, operand_types: Sequence[Attribute], properties: dict[str, Attribute], /
    ) -> Sequence[Attribute]:
        """The types of the results. Raises TypeMismatch."""
        ...

    def make(self, *operands: SSAValue | Operation, **attrs: Any) -> Operation:
        """A new op, which stands nowhere. Raises TypeMismatch."""
        ...

    def make_typed(
        self, operands: Sequence[SSAValue], types: Sequence[Attribute], properties: dict[str, Attribute], /
    ) -> Operation:
        """A new op of known result types."""
        ...

    def make_constant(self, number: Any, like: SSAValue, /) -> Operation:
        """A constant that stands beside an operand of this op, of its element type."""
        ...

    def constant_info(self, like: TensorInfo, /) -> TensorInfo:
        """The type of that constant, where the operand is of this type."""
        ...

    def oracle(self, arrays: Sequence[Any], attrs: dict[str, Any], /) -> Any:
        """The value, or several, of numpy arrays."""
        ...

    def samples(self) -> Sequence[Sample]:
        """Instances that tests draw from."""
        ...


_DECLARED: dict[type[Operation], RuleOp] = {}
_by_name: Callable[[str], Any] | None = None


def declare(op: type[Operation], answers: RuleOp) -> None:
    """Let an object answer for a class of ops."""
    _DECLARED[op] = answers


def rule_op(op: type[Operation]) -> RuleOp:
    """The RuleOp that answers for a class of ops: a declared one, or the class itself."""
    return _DECLARED.get(op) or cast("RuleOp", op)


def find_operators(find: Callable[[str], type[Operation] | None]) -> None:
    """Set the lookup of ops for Python's operators on patterns, by Relay's names: `x + y` is the op `add`."""
    global _by_name
    _by_name = find


def operator_op(name: str) -> type[Operation]:
    """The op of an operator on patterns."""
    found = _by_name(name) if _by_name is not None else None
    if found is None:
        raise TypeError(f"no dialect has said what {name} of patterns is")
    return found
