"""Verifying a module: what every op demands, the structure of blocks, and dominance. Linear and not recursive.

xDSL's own `verify` prints the whole module into an exception on the first fault; here a fault names one op.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, ErasedSSAValue, Operation
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.infos import SYMBOLS
from lamina.errors import InputError
from lamina.ir.declared_checks import verify_op
from lamina.ir.diagnostics import op_name, value_text
from lamina.ir.dominance import find_violation
from lamina.ir.location import raised_at


class VerificationError(InputError):
    """An op breaks a rule of the IR. `notes` are (op or None, message)."""

    def __init__(self, op: Operation, what: str, notes: list[tuple[Operation | None, str]] | None = None) -> None:
        super().__init__(f"{op_name(op)}: {what}", op=op)
        self.notes = notes or []


def verify_module(root: Operation, *, dominance: bool = True) -> None:
    """Check `root` and everything inside it. Raises VerificationError for the first fault, in the order of the text.

    Dominance comes first: it says more of a value from outside an isolated op than the trait does.
    """
    # The check of dominance sees isolated ops too, where it sees every block.
    isolation = not dominance or not verify_dominance(root)
    if SYMBOLS not in root.attributes:
        _verify_ops(root, isolation)
        return
    from lamina.ir.symbol_scope import symbol_scope

    with symbol_scope(root):
        _verify_ops(root, isolation)


def _verify_ops(root: Operation, isolation: bool) -> None:
    stack = [root]
    while stack:
        op = stack.pop()
        _verify_op(op, isolation)
        for region in reversed(op.regions):
            blocks = list(region.blocks)
            for block in reversed(blocks):
                last = block.last_op
                if last is None:
                    _verify_empty(op, len(blocks))
                else:
                    _verify_last(op, last, len(blocks))
                stack.extend(reversed(block.ops))


def _verify_op(op: Operation, isolation: bool) -> None:
    if op.successors:
        block = op.parent
        if block is None or block.parent is None:
            raise VerificationError(op, "has successors but is in no block")
        if block.last_op is not op:
            raise VerificationError(op, "has successors but does not end its block")
        if any(s.parent is not block.parent for s in op.successors):
            raise VerificationError(op, "branches to a block of another region")
    try:
        verify_op(op, isolation)
    except VerifyException as e:
        raise VerificationError(op, one_line(e)) from e
    except Exception as e:
        # A verifier that fails in another way was reached by an op it did not expect: that op is the news.
        found = raised_at(e)
        where = f" ({found[0]})" if found is not None else ""
        raise VerificationError(op, f"does not verify: {type(e).__name__}: {one_line(e)}{where}") from e


def one_line(error: BaseException) -> str:
    """An xDSL message in our form."""
    text = " ".join(str(error).split()).rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _verify_empty(op: Operation, blocks: int) -> None:
    if isinstance(op, UnregisteredOp) or (blocks == 1 and op.has_trait(NoTerminator)):
        return
    raise VerificationError(op, "empty block: it needs a terminator")


def _verify_last(op: Operation, last: Operation, blocks: int) -> None:
    if isinstance(op, UnregisteredOp) or isinstance(last, UnregisteredOp) or last.has_trait(IsTerminator):
        return
    if blocks == 1 and op.has_trait(NoTerminator):
        return
    raise VerificationError(last, f"ends a block of {op_name(op)} but is no terminator")


def verify_dominance(root: Operation) -> bool:
    """Check that definitions dominate uses; whether every block was reached. Raises VerificationError."""
    unreached: list[Block] = []
    found = find_violation(root, unreached)
    if found is None:
        return not unreached
    op, index, value = found.op, found.operand, found.value
    if isinstance(value, ErasedSSAValue):
        raise VerificationError(op, f"operand #{index} was erased")
    if isinstance(value, ForwardDeclaredValue):
        # The op, or its region, defines what it needs itself.
        raise VerificationError(op, f"operand #{index} is used before its definition")
    owner = value.owner
    if isinstance(owner, Block):
        note = (owner.parent_op(), f"{value_text(value)} is an argument of a block of this op")
    else:
        note = (owner, f"{value_text(value)} is defined here")
    named = f" ({value_text(value)})" if value.name_hint else ""
    border = _isolated_between(op, owner)
    if border is not None:
        what = f"operand #{index}{named} is defined outside {op_name(border)}, which is isolated from above"
    else:
        what = f"operand #{index}{named} does not dominate this use"
    raise VerificationError(op, what, [note])


def _isolated_between(op: Operation, owner: Operation | Block) -> Operation | None:
    """The op around `op`, isolated from above, that has the definition outside."""
    home = owner if isinstance(owner, Block) else owner.parent
    around: Operation | None = None
    block = op.parent
    while block is not None and block is not home:
        parent = block.parent_op()
        if parent is None:
            return None
        if parent.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            around = parent
        block = parent.parent
    return around if block is home else None


def unlocated_op(root: Operation) -> Operation | None:
    """The first op without a source location, None where all have one."""
    from lamina.passes.base import has_location

    return next((op for op in root.walk() if not has_location(op)), None)
