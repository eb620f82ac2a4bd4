"""The schedule ops: how a te.func becomes loops, one op for each primitive.

    te.schedule @conv {
      %k, %y, %x, %c = te.loops "acc" [4]
      %xo, %xi = te.split %x [4, 14]
      te.reorder %k, %y, %xo, %c, %xi
      te.vectorize %k
    }

`te-to-tir` builds the naive nest and applies the ops in order; a loop is named by the handle that made it, and a
handle dies when its loop is split or fused. The number in brackets is how many loops an op gives back.

The primitives stand in the folder `primitives/`, a file each, with the edit of the loops; a new one is found by being
there. What several of them share stands in `primitive.py`, `families.py` and `nest/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator

from lamina.dialects.region_text import parse_attributed_body, print_attributed_body
from lamina.dialects.schedule.factors import FactorType
from lamina.dialects.schedule.primitive import LOOP as LOOP
from lamina.dialects.schedule.primitive import LoopType
from lamina.dialects.schedule.primitive import PrimitiveOp as PrimitiveOp
from lamina.dialects.schedule.primitive import ScheduleState as ScheduleState
from lamina.dialects.te.tensor_intrin import TensorIntrinOp


@irdl_op_definition
class ScheduleOp(IRDLOperation):
    """The schedule of a te.func: primitives, applied from the top."""

    name = "te.schedule"

    func = prop_def(SymbolRefAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    @staticmethod
    def make(func: str, body: Region) -> ScheduleOp:
        return ScheduleOp.create(properties={"func": SymbolRefAttr(func)}, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.func.root_reference.data)
        print_attributed_body(printer, self.attributes, self.body)

    @classmethod
    def parse(cls, parser: Parser) -> ScheduleOp:
        func = SymbolRefAttr(parser.parse_symbol_name())
        attributes, body = parse_attributed_body(parser)
        return cls.create(properties={"func": func}, attributes=attributes, regions=[body])


def in_order(primitives: Iterable[Operation]) -> Iterator[Operation]:
    """Primitives as they are applied: each is followed by those that it has applied after it.

    Each must have been applied, or have its decision, when the next is asked for.
    """
    for primitive in primitives:
        yield primitive
        if isinstance(primitive, PrimitiveOp):
            yield from in_order(primitive.then())


def primitives() -> list[type[PrimitiveOp]]:
    """The op classes of the files in `primitives/`."""
    found: list[type[PrimitiveOp]] = []
    for path in sorted(Path(__file__).with_name("primitives").glob("[!_]*.py")):
        module = import_module(f"lamina.dialects.schedule.primitives.{path.stem}")
        found += [
            op
            for op in vars(module).values()
            if isinstance(op, type)
            and issubclass(op, PrimitiveOp)
            and op.__module__ == module.__name__
            and "name" in vars(op)
        ]
    return found


def operations() -> list[type[Any]]:
    """All ops of schedules. Who builds a schedule imports the few primitives that it uses."""
    return [ScheduleOp, TensorIntrinOp, *primitives()]


ATTRS: list[type[Attribute]] = [FactorType, LoopType]
