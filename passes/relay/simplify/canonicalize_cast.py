"""relay-canonicalize-cast: a cast to a wider type is repeated for each of its users, so that it fuses into every one.

Before:
    %1 = relay.cast %0 {dtype = "int32"} : (tensor<8xi8>) -> tensor<8xi32>
    %2 = relay.add %1, %a : tensor<8xi32>
    %3 = relay.multiply %1, %b : tensor<8xi32>
After:
    %1 = relay.cast %0 {dtype = "int32"} : (tensor<8xi8>) -> tensor<8xi32>
    %2 = relay.add %1, %a : tensor<8xi32>
    %4 = relay.cast %0 {dtype = "int32"} : (tensor<8xi8>) -> tensor<8xi32>
    %3 = relay.multiply %4, %b : tensor<8xi32>

Kernels then pass the narrow value between them. Where one of the users cannot take the cast into its kernel (a product,
a convolution, a return) the wide value is made anyway, and stays one. relay-eliminate-common-subexpr undoes this: run
that before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Block, Operation

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.dtypes import itemsize
from lamina.dialects.infos import has_unknown_extents, tensor_info
from lamina.dialects.relay.base import OpPattern, RelayOp
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

canonicalize = Rules("relay-canonicalize-cast")


def widens(cast: Operation) -> bool:
    """Whether the result takes more room than the operand."""
    if has_unknown_extents(cast.result_types):
        return False
    return itemsize(tensor_info(cast.results[0].type).dtype) > itemsize(tensor_info(cast.operands[0].type).dtype)


def takes_in(user: Operation, block: Block) -> bool:
    """Whether the kernel of a user may hold the cast too.

    Products and convolutions read memory, and what is returned is there: then the wide value is made anyway. Inside a
    region it would be computed again in every turn.
    """
    return isinstance(user, RelayOp) and user.parent is block and user.FUSION_KIND <= OpPattern.COMM_REDUCE


@canonicalize.lower(r.cast)
def repeat(cast: RelayOp) -> bool:
    """A cast of its own for every op that uses the result, but the first.

    Before: %1 = cast %0; f %1; g %1    After: %1 = cast %0; f %1; %2 = cast %0; g %2
    """
    block, result = cast.parent, cast.results[0]
    users = {u.operation for u in result.uses}
    if block is None or len(users) < 2 or not widens(cast) or not all(takes_in(u, block) for u in users):
        return False
    place, first = cast.next_op, True
    while users:
        assert place is not None
        if place in users:
            users.discard(place)
            if not first:
                copy = cast.clone()
                edit.insert_before(place, copy)
                for i, operand in enumerate(place.operands):
                    if operand is result:
                        place.operands[i] = copy.results[0]
            first = False
        place = place.next_op
    return True


@dataclass(frozen=True)
class CanonicalizeCast(ModulePass):
    """A cast to a wider type is repeated for each of its users."""

    name = "relay-canonicalize-cast"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        canonicalize.apply(op)
