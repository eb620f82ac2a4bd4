"""Passes that change the module, seen from outside: its structure is hashed before and after each.

fired = FiringInstrument()
lamina.compile(model, opt_level=PassContext(3, instruments=[fired]), cache=False)
fired.counts["relay-fold-constant"]
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lamina.dialects.fast_ir import all_ops, operands_of, type_of
from lamina.ir.instrument import PassInfo, PassInstrument

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class FiringInstrument(PassInstrument):
    """Counts, by its name, how often a pass has changed the module."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ran: Counter[str] = Counter()
        self._before = 0
        self._seen: tuple[ModuleOp, int] | None = None
        """The module that a pass has left last, and its structure: with that the next pass of the context begins."""
        self._hashes: dict[int, tuple[int, Any]] = {}
        """Of attributes by their address; they are kept, so that no other has it."""

    def enter_pass_ctx(self) -> None:
        self._seen = None

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        seen = self._seen
        self._before = seen[1] if seen is not None and seen[0] is mod else self.structure(mod)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        name = registry_name(info.name)
        self.ran[name] += 1
        after = self.structure(mod)
        self._seen = mod, after
        if after != self._before:
            self.counts[name] += 1

    def structure(self, module: ModuleOp) -> int:
        """A hash of the ops, their attributes, types and operands; names of values and locations do not count."""
        numbers: dict[Any, int] = {}
        parts: list[Any] = []
        for op in all_ops(module):
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.args:
                        numbers[argument] = len(numbers)
                        parts.append(self._hash(type_of(argument)))
                parts.append(-1)
            parts.append(op.name)
            parts += [numbers.get(v, -2) for v in operands_of(op)]
            for key, attribute in (*op.properties.items(), *op.attributes.items()):
                parts.append(key)
                parts.append(self._hash(attribute))
            for result in op.results:
                numbers[result] = len(numbers)
                parts.append(self._hash(type_of(result)))
            parts.append(op.parent is not None and op.parent.last_op is op)
        return hash(tuple(parts))

    def _hash(self, attribute: Any) -> int:
        """The hash of an attribute, which costs a walk of its own."""
        found = self._hashes.get(id(attribute))
        if found is None:
            found = self._hashes[id(attribute)] = hash(attribute), attribute
        return found[0]


def registry_name(name: str) -> str:
    """The name of a pass in pipelines: a context calls graph passes by TVM's."""
    from lamina.transform import constructors

    file = constructors().get(name)
    return file.name if file is not None else name
