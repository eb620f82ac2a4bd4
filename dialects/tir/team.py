"""Statements that several threads run together, from one end to the other: `tir.team` and `tir.team_barrier`.

    tir.team {
      tir.for %t = 0 to 64 "t" {
        tir.for %j = 0 to 8 parallel "j" { ... }
        tir.team_barrier
      }
    }

Every thread runs all of it, but for the iterations of parallel loops: of these each takes one piece, the threads in
their order one after the other. So iteration i of a loop is run by the thread that ran iteration i of any other loop
of that extent. Nobody waits at the end of a loop: what a thread reads that another has written, it reads behind a
barrier. How many threads there are is seen when the program runs; it may be one.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, NoTerminator, RecursiveMemoryEffect, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.region_text import parse_attributed_body, print_attributed_body
from lamina.dialects.tir.control import IfOp
from lamina.dialects.tir.memory import AccessOp, AllocOp
from lamina.dialects.tir.ops import ForOp, FuncOp


@irdl_op_definition
class TeamOp(IRDLOperation):
    """All threads run these statements, and share out the iterations of the parallel loops: `tir.team { ... }`.

    Memory is touched in parallel loops only. What stands around these is the same for all threads, loops and conditions
    over sizes and loop variables, so that all of them come to every barrier.
    """

    name = "tir.team"

    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def make(body: Block | None = None) -> TeamOp:
        return TeamOp.create(regions=[Region(body if body is not None else Block())])

    def verify_(self) -> None:
        if not isinstance(self.parent_op(), FuncOp):
            raise VerifyException("a team stands in a tir.func, in no loop and in no other team")
        pending = list(self.body.block.ops)
        while pending:
            op = pending.pop()
            if is_shared_out(op):
                self._verify_shared(op)
            elif isinstance(op, (ForOp, IfOp)):
                if isinstance(op, ForOp) and op.kind.data not in ("serial", "unrolled"):
                    raise VerifyException(
                        f"a loop of kind {op.kind.data} cannot stand in a team outside of a parallel one"
                    )
                pending += op.body.block.ops
            elif isinstance(op, (AccessOp, AllocOp)) or op.regions or not _does_nothing(op):
                raise VerifyException(f"{op.name} would be done by every thread; it belongs into a parallel loop")

    def _verify_shared(self, loop: Operation) -> None:
        for op in loop.walk():
            if isinstance(op, TeamBarrierOp):
                raise VerifyException(
                    "a barrier in a parallel loop: threads run different iterations, and not all come"
                )

    def print(self, printer: Printer) -> None:
        print_attributed_body(printer, self.attributes, self.body)

    @classmethod
    def parse(cls, parser: Parser) -> TeamOp:
        attributes, body = parse_attributed_body(parser)
        return cls.create(attributes=attributes, regions=[body])


@irdl_op_definition
class TeamBarrierOp(IRDLOperation):
    """All threads of a team wait until each has come here, and see what the others wrote: `tir.team_barrier`."""

    name = "tir.team_barrier"

    assembly_format = "attr-dict"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        parent = self.parent_op()
        while isinstance(parent, (ForOp, IfOp)):
            parent = parent.parent_op()
        if not isinstance(parent, TeamOp):
            raise VerifyException("there is no team around it")


def is_shared_out(op: Operation) -> bool:
    """Whether the threads of a team share the iterations of a loop: it is parallel."""
    return isinstance(op, ForOp) and op.kind.data == "parallel"


def _does_nothing(op: Operation) -> bool:
    return isinstance(op, TeamBarrierOp) or is_side_effect_free(op)
