"""Parts of the text of a function, in C and in CUDA C: names, blocks, places in buffers, guards."""

from __future__ import annotations

import abc
import re
from collections.abc import Callable

from xdsl.ir import Block, Operation, SSAValue

from lamina.backends.c.expressions import condition, index
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, constant, row_major_strides
from lamina.dialects.tir.memory import AccessOp, extents_of

KEYWORDS = frozenset(
    "auto bool break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "index_t".split()
)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def c_string(text: str) -> str:
    """A text as a literal: its bytes in UTF-8, those that C could read as something else by their numbers."""
    plain = (chr(b) if 0x20 <= b < 0x7F and chr(b) not in '"\\?' else f"\\{b:03o}" for b in text.encode())
    return f'"{"".join(plain)}"'


class Names:
    """The names that a text has given, each once."""

    def __init__(self, taken: frozenset[str] = KEYWORDS) -> None:
        self.taken = set(taken)

    def fresh(self, wanted: str, otherwise: str = "v") -> str:
        """A name, as near to the wanted one as C and the other names allow."""
        wanted = wanted if _IDENTIFIER.fullmatch(wanted) else otherwise
        name, n = wanted, 0
        while name in self.taken:
            n += 1
            name = f"{wanted}_{n}"
        self.taken.add(name)
        return name


class SourceFunction(abc.ABC):
    """A function as text, statement by statement."""

    def __init__(self, taken: frozenset[str] = KEYWORDS) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[SSAValue, str] = {}
        self.lanes: dict[SSAValue, list[str]] = {}
        """The names, or literals, of a value's lanes."""
        self.given = Names(taken)
        self.ranges = RangeCache()

    def fresh(self, wanted: str) -> str:
        return self.given.fresh(wanted)

    def name(self, value: SSAValue) -> str:
        found = self.names.get(value)
        if found is None:
            found = self.names[value] = self.fresh(value.name_hint or "v")
        return found

    def atom(self, lane: int = 0) -> Callable[[Atom], str]:
        def name(atom: Atom) -> str:
            if atom == LANE:
                return str(lane)
            assert isinstance(atom, SSAValue)
            return self.lanes[atom][0] if atom in self.lanes else self.name(atom)

        return name

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    @abc.abstractmethod
    def statement(self, op: Operation) -> None:
        """Write an op."""

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.statement(op)

    def inside(self, head: str, block: Block) -> None:
        self.line(head + " {")
        self.depth += 1
        self.block(block)
        self.depth -= 1
        self.line("}")

    def place(self, op: AccessOp, lane: int = 0) -> str:
        """The flat index of one lane."""
        forms, extents = op.forms(), extents_of(op.buffer_value())
        if all(e.is_constant for e in extents):
            strides = row_major_strides([e.const for e in extents])
            flat = Linear()
            for form, stride in zip(forms, strides, strict=True):
                flat = flat + form * stride
            return index(flat, self.atom(lane), self.ranges)
        text = ""
        for form, extent in zip(forms, extents, strict=True):
            term = index(form, self.atom(lane), self.ranges)
            text = f"({text} * {index(extent, self.atom(), self.ranges)} + {term})" if text else term
        return text or "0"

    def guard(self, op: AccessOp, lane: int = 0) -> str:
        """The condition under which a lane is accessed; empty for always."""
        at: dict[Atom, Linear] = {LANE: constant(lane)}
        conditions = [Condition(c.form.substitute(at, self.ranges), c.equal) for c in op.conditions()]
        return condition(conditions, self.atom(lane), self.ranges) if conditions else ""
