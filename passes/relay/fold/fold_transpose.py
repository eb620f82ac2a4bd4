"""relay-fold-transpose: a product reads a transposed matrix as it lies.

Before:
    %1 = relay.transpose %b {axes = [1, 0]} : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %2 = relay.nn.matmul %a, %1 : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %3 = relay.nn.dense %a, %1 : ...
After:
    %2 = relay.nn.matmul %a, %b {transpose_b = true} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    %3 = relay.nn.matmul %a, %b : ...

Of stacks of stacks of matrices, which are reshaped to one stack, the transpose may stand before the reshape. XLA's
transpose folding. A transpose that others use too stays for them, and the product reads its operand all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import attr, computed, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

Ints = tuple[int, ...]

a, b = var("a b")
p, f, u, n = attr("p f u n")

fold = Rules("relay-fold-transpose")


@computed
def swaps_last(axes: Ints, rank: int) -> bool:
    """Whether the permutation exchanges the last two axes alone; an empty list reverses all."""
    order = tuple(x % rank for x in axes) if axes else tuple(reversed(range(rank)))
    return rank > 1 and order == (*range(rank - 2), rank - 1, rank - 2)


@computed
def other(flag: bool) -> bool:
    """The opposite of an attribute that says whether a matrix is transposed."""
    return not flag


@computed
def stacks(whole: Ints, stack: Ints) -> bool:
    """Whether matrices, `whole` before they are transposed, are reshaped to one stack of them."""
    return len(stack) == 3 and len(whole) > 2 and tuple(stack[1:]) == (whole[-1], whole[-2])


@computed
def swapped(stack: Ints) -> Ints:
    """The shape of a stack with its matrices transposed."""
    return (stack[0], stack[2], stack[1])


turned = r.transpose(a, axes=p).shared()
# Drawn are matrices whose every transpose has the same type: which it is shows in the values alone.
ORDERS = {2: ((1, 0), (), (0, 1)), 3: ((0, 2, 1), (0, -1, -2), (), (0, 1, 2), (1, 0, 2), (1, 2, 0))}
for op, rank in ((r.nn.matmul, 2), (r.nn.batch_matmul, 3)):
    drawn = {"a": tensor(*[5] * rank), "p": one_of(*ORDERS[rank])}
    left = op(turned, b, transpose_a=f)
    right = op(b, turned, transpose_b=f)
    fold += (left >> op(a, b, transpose_a=other(f), like=left)).when(swaps_last(p, a.rank)).drawing(**drawn)
    fold += (right >> op(b, a, transpose_b=other(f), like=right)).when(swaps_last(p, a.rank)).drawing(**drawn)

stacked = r.reshape(turned, newshape=n).shared()
lies = r.reshape(a, newshape=swapped(stacked.shape), allowzero=False)
drawn = {"a": tensor(2, 3, 5, 5), "b": tensor(6, 5, 5), "p": one_of((0, 1, 3, 2), (0, 1, 2, 3)), "n": one_of((6, 5, 5))}
for product, folded in (
    (r.nn.batch_matmul(stacked, b, transpose_a=f), {"transpose_a": other(f)}),
    (r.nn.batch_matmul(b, stacked, transpose_b=f), {"transpose_b": other(f)}),
):
    operands = (lies, b) if "transpose_a" in folded else (b, lies)
    rule = product >> r.nn.batch_matmul(*operands, **folded, like=product)
    fold += rule.when(swaps_last(p, a.rank), stacks(a.shape, stacked.shape)).drawing(**drawn)

# dense is the product with a matrix that lies transposed; with one more transpose it lies as it is
layer = r.nn.dense(b.has_rank(2), turned, units=u)
rule = layer >> r.nn.matmul(b, a, transpose_a=False, transpose_b=False, like=layer)
fold += rule.when(swaps_last(p, a.rank)).drawing(a=tensor(5, 5), p=one_of(*ORDERS[2]), u=one_of(None, 5))


@dataclass(frozen=True)
class FoldTranspose(ModulePass):
    """A product reads a transposed matrix as it lies."""

    name = "relay-fold-transpose"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold.apply(op)
