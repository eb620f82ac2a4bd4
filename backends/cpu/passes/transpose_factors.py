"""cpu-transpose-factors: second factors of products lie as the micro-kernel reads them, row by row.

Before:
    %y = relay.nn.dense %x, %w : (tensor<32x64xf32>, tensor<40x64xf32>) -> tensor<32x40xf32>
After:
    %t = relay.transpose %w {axes = [1, 0]} : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %y = relay.nn.matmul %x, %t : (tensor<32x64xf32>, tensor<64x40xf32>) -> tensor<32x40xf32>

A product in vectors reads neighbours of the result's row, so a factor that lies transposed is gathered anew for every
few rows of the first one. Moved once it is read as it lies: from eight rows on that is less work. What moved it before
the product (relay-fold-transpose has taken that away) and this make one kernel; constants move at compile time.
Stacks of stacks of matrices, and stacks of matrices of few rows, are multiplied as one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, ClassVar

from lamina.backends.cpu.costs import FITTED, for_target
from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float
from lamina.dialects.index.symbol_forms import symbols_of
from lamina.dialects.infos import at_least, hint_of, is_symbolic
from lamina.dialects.rules.terms import attr, computed, var
from lamina.dialects.target import module_target
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

x, w = var("x w")
f, u = attr("f u")


@computed
def many_rows(shape: tuple[int, ...], transposed: bool, least: int) -> bool:
    """Whether a matrix, or each of a batch, has rows enough."""
    return hint_of(shape[-1 if transposed else -2]) >= least and hint_of(prod(shape)) > 0


@computed
def many_of_any(shape: tuple[int, ...], transposed: bool, factor: tuple[int, ...], least: int) -> bool:
    """The same beside a second factor: where it has the rows of the first one and others besides, it stays.

    Of a language model's step the queries are one row, and the keys all that were before.
    """
    rows: Any = shape[-1 if transposed else -2]
    others: Any = factor[-2]
    if is_symbolic(rows) and not at_least(rows, least) and is_symbolic(others):
        if set(symbols_of(rows.form)) < set(symbols_of(others.form)):
            return False
    return bool(many_rows(shape, transposed, least))


@computed
def as_matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """All rows of a stack of matrices, one below the other."""
    return prod(shape[:-1]), shape[-1]


@computed
def many_in_all(shape: tuple[int, ...], least: int) -> bool:
    """Whether all matrices of a stack have rows enough together."""
    return hint_of(prod(shape[:-1])) >= least and hint_of(prod(shape)) > 0


@computed
def real(dtype: str) -> bool:
    """Whole numbers are multiplied by other kernels."""
    return is_float(dtype)


@cache
def moving(least: int) -> Rules:
    """Products whose first factor has so many rows, with the second one as it is read."""
    rules = Rules("cpu-transpose-factors")
    # Drawn are factors of more rows than the ops' samples have.
    dense = r.nn.dense(x.has_rank(2), w, units=u)
    product = r.nn.matmul(x, r.transpose(w, axes=(1, 0)), transpose_a=False, transpose_b=False, like=dense)
    rule = (dense >> product).when(many_rows(x.shape, False, least), real(x.dtype))
    rules += rule.drawing(x=tensor(9, 9), w=tensor(5, 9), u=one_of(None, 5))

    dense = r.nn.dense(x.has_rank(3), w, units=u)
    matrices = r.transpose(r.expand_dims(w, axis=0, num_newaxis=1), axes=(0, 2, 1))
    product = r.nn.batch_matmul(x, matrices, transpose_a=False, transpose_b=False, like=dense)
    rule = (dense >> product).when(many_rows(x.shape, False, least), real(x.dtype))
    rules += rule.drawing(x=tensor(2, 9, 9), w=tensor(5, 9), u=one_of(None, 5))

    # Stacks of stacks, and matrices of few rows each, are one matrix.
    for shape in ((9, 1, 9), (1, 2, 9, 9)):
        dense = r.nn.dense(x.has_rank(len(shape)), w, units=u)
        rows = r.reshape(x, newshape=as_matrix(x.shape), allowzero=False)
        product = r.nn.matmul(rows, r.transpose(w, axes=(1, 0)), transpose_a=False, transpose_b=False, like=dense)
        whole = r.reshape(product, newshape=dense.shape, allowzero=False)
        rule = (dense >> whole).when(many_in_all(x.shape, least), real(x.dtype))
        rules += rule.drawing(x=tensor(*shape), w=tensor(5, 9), u=one_of(None, 5))

    for op, axes, batch in ((r.nn.matmul, (1, 0), ()), (r.nn.batch_matmul, (0, 2, 1), (2,))):
        lying = op(x, w, transpose_a=f, transpose_b=True)
        standing = op(x, r.transpose(w, axes=axes), transpose_b=False, like=lying)
        rule = (lying >> standing).when(many_of_any(x.shape, f, w.shape, least), real(x.dtype))
        rules += rule.drawing(x=tensor(*batch, 9, 9), w=tensor(*batch, 5, 9))
    return rules


transpose_factors = moving(FITTED.transposed_rows)
"""The rules where the equation tests find them."""


@dataclass(frozen=True)
class CpuTransposeFactors(ModulePass):
    """Second factors of products lie as the micro-kernel reads them."""

    name = "cpu-transpose-factors"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        moving(for_target(module_target(op)).transposed_rows).apply(op)
