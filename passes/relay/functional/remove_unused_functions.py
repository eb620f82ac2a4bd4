"""relay-remove-unused-functions: drops the functions of the module that the entry does not need.

Before:
    func.func @used(%x: tensor<8xf32>) -> tensor<8xf32> { ... }
    func.func @unused(%x: tensor<8xf32>) -> tensor<8xf32> { ... }
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = func.call @used(%x) : (tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32> }
After:
    func.func @used(%x: tensor<8xf32>) -> tensor<8xf32> { ... }
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { ... }

A function is needed where any attribute inside a needed one names it. A module without the entries stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from lamina.dialects import edit
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class RemoveUnusedFunctions(ModulePass):
    """Drops the functions of the module that the entry does not need."""

    name = "relay-remove-unused-functions"
    opt_level: ClassVar[int] = 1
    entry: tuple[str, ...] = ("main",)
    """The functions that are called from outside."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, func.FuncOp)}
        waiting = [name for name in self.entry if name in functions]
        if not waiting or len(waiting) == len(functions):
            return
        needed: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in functions and name not in needed:
                needed.add(name)
                waiting.extend(referred_symbols(functions[name]))
        for other in op.body.block.ops:
            if not isinstance(other, func.FuncOp):
                needed.update(referred_symbols(other))
        with edit.transaction():  # they may call each other
            edit.erase_all(function for name, function in functions.items() if name not in needed)


def referred_symbols(op: Operation) -> Iterator[str]:
    """The names of symbols that attributes inside an op refer to."""
    for inner in op.walk():
        for attribute in (*inner.properties.values(), *inner.attributes.values()):
            yield from _names(attribute)


def _names(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for inner in attribute:  # pyright: ignore[reportUnknownVariableType]
            yield from _names(inner)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(attribute, DictionaryAttr):
        for inner in attribute.data.values():
            yield from _names(inner)
