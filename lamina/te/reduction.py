"""The expressions that reductions give: a term, the axes it is reduced over, and how terms are combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lamina.te.expr import Expr, Var

if TYPE_CHECKING:
    from lamina.te.tensor import IterVar


class CommReducer:
    """The combiner of a reduction: `lhs` and `rhs` are the variables of `result`; `kind` a name that te knows."""

    def __init__(
        self, lhs: Sequence[Var], rhs: Sequence[Var], result: Sequence[Expr], identity: Sequence[Expr], kind: str = ""
    ) -> None:
        self.lhs = list(lhs)
        self.rhs = list(rhs)
        self.result = list(result)
        self.identity_element = list(identity)
        self.kind = kind


class Reduce(Expr):
    """One of the values that a reduction over axes gives. `condition` says which terms take part."""

    def __init__(
        self,
        combiner: CommReducer,
        source: Sequence[Expr],
        axis: Sequence[IterVar],
        condition: Expr | None,
        value_index: int,
    ) -> None:
        self.combiner = combiner
        self.source = tuple(source)
        self.axis = tuple(axis)
        self.condition = condition
        self.value_index = value_index
        self.dtype = self.source[value_index].dtype

    def children(self) -> Sequence[Expr]:
        return self.source if self.condition is None else (*self.source, self.condition)

    def text(self) -> str:
        name = self.combiner.kind or "reduce"
        return f"{name}({', '.join(s.text() for s in self.source)}, axis=[{', '.join(a.name for a in self.axis)}])"


def reductions_in(roots: Sequence[Expr]) -> bool:
    """Whether a reduction stands anywhere in the expressions."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, Reduce):
            return True
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend(node.children())
    return False
