"""Relay modules of a product, a convolution or rows, and what follows them, in any type of float: to be compiled.

ONNX has few operators in bf16, and graphs that run take their time. These only go through the compiler, for one target
after the other, whichever machine it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.debugging.generators.draw import FLOATS, Draw
from lamina.debugging.generators.onnx_graph import CannotDraw
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.grad.facet import r, shape_of
from lamina.dialects.rules.terms import inserting
from lamina.errors import LaminaError
from lamina.ir.printing import module_text

LONGEST = 70
"""The largest of the extents that are any number: lanes of two vectors of bf16 and some more."""


class FewOps:
    """A module in the making: `@main` and its arguments, all of one type."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.dtype = draw.choice(FLOATS)
        self.block = Block()

    def extent(self) -> int:
        """One as in the other programs, or any."""
        return self.draw.extent(most=1024) if self.draw.chance(0.5) else self.draw.integer(1, LONGEST)

    def argument(self, *shape: int) -> SSAValue:
        """A new argument."""
        return self.block.insert_arg(tensor_type(shape, self.dtype), len(self.block.args))

    def with_rank(self, *ranks: int) -> SSAValue:
        """An argument of any shape with so many dimensions."""
        return self.argument(*self.draw.shape(self.draw.choice(ranks)))

    def text(self) -> str:
        """The module. Raises CannotDraw where its ops do not fit each other."""
        with inserting(Builder(InsertPoint.at_end(self.block))):
            try:
                value = self.draw.choice(BEGINNINGS)(self)
                for _ in range(self.draw.integer(0, 3)):
                    value = self.draw.choice(FOLLOWING if shape_of(value) else (relu,))(self, value)
            except (LaminaError, TypeMismatch) as e:
                raise CannotDraw(str(e)) from None
        self.block.add_op(ReturnOp(value))
        types = [a.type for a in self.block.args]
        main = FuncOp("main", FunctionType.from_lists(types, [value.type]), Region(self.block))
        return module_text(ModuleOp([main]))


def few_ops(draw: Draw) -> str:
    """The text of a module. Raises CannotDraw."""
    return FewOps(draw).text()


# -- beginnings ------------------------------------------------------------------------------------------------------


def dense(m: FewOps) -> SSAValue:
    """A dense layer of two arguments, [N, K] and [M, K]."""
    k = m.extent()
    return r.nn.dense(m.argument(m.extent(), k), m.argument(m.extent(), k))


def batch_matmul(m: FewOps) -> SSAValue:
    """Products of one to three matrices; the second ones are transposed or not, and may be one for all."""
    n, k = m.draw.integer(1, 3), m.extent()
    transposed = m.draw.chance(0.5)
    columns = m.extent()
    shape = (columns, k) if transposed else (k, columns)
    y = m.argument(m.draw.choice((1, n)), *shape)
    return r.nn.batch_matmul(m.argument(n, m.extent(), k), y, transpose_b=transposed)


def convolution(m: FewOps) -> SSAValue:
    """A convolution over one to three axes with strides, padding and groups; a quarter of them depthwise."""
    draw = m.draw
    rank = draw.choice((1, 2, 2, 2, 3))
    groups = draw.choice((1, 1, 1, 2, 4))
    kernel = [draw.choice((1, 1, 2, 3, 3, 5, 7)) for _ in range(rank)]
    image = [k + draw.integer(0, (60, 28, 9)[rank - 1]) for k in kernel]
    per_group, filters = draw.integer(1, 40), draw.integer(1, 40)
    if draw.chance(0.25):
        groups, per_group, filters = draw.integer(1, 40), 1, draw.choice((1, 1, 2))
    x = m.argument(draw.integer(1, 2), groups * per_group, *image)
    w = m.argument(groups * filters, per_group, *kernel)
    padding = [draw.integer(0, k // 2) for k in kernel]
    conv: Callable[..., SSAValue] = getattr(r.nn, f"conv{rank}d")
    return conv(x, w, strides=[draw.choice((1, 1, 2)) for _ in kernel], padding=[*padding, *padding], groups=groups)


def rows(m: FewOps) -> SSAValue:
    """An argument of rank 1 to 4 by itself."""
    return m.with_rank(1, 2, 3, 4)


BEGINNINGS: tuple[Callable[[FewOps], SSAValue], ...] = (dense, batch_matmul, convolution, rows)


# -- what follows ----------------------------------------------------------------------------------------------------


def function(m: FewOps, x: SSAValue) -> SSAValue:
    """A function of one element that needs no further operand."""
    return getattr(r, m.draw.choice(("sigmoid", "tanh", "exp", "negative", "abs", "sqrt", "erf")))(x)


def relu(m: FewOps, x: SSAValue) -> SSAValue:
    """A relu, which takes scalars as well."""
    return r.nn.relu(x)


def with_another(m: FewOps, x: SSAValue) -> SSAValue:
    """An op with an argument of the same shape, or of one that is stretched to it."""
    shape = [e if m.draw.chance(0.6) else 1 for e in shape_of(x)]
    return getattr(r, m.draw.choice(("add", "subtract", "multiply", "maximum")))(x, m.argument(*shape))


def cast(m: FewOps, x: SSAValue) -> SSAValue:
    """A conversion to a float type, int32 or int8; arguments made from here on are of that type."""
    m.dtype = m.draw.choice((*FLOATS, "int32", "int8"))
    return r.cast(x, dtype=m.dtype)


def reduction(m: FewOps, x: SSAValue) -> SSAValue:
    """A sum, mean, maximum or product over some axes, which stay as 1 or go."""
    name = m.draw.choice(("sum", "mean", "max", "prod"))
    return getattr(r, name)(x, axis=m.draw.axes(len(shape_of(x))), keepdims=m.draw.chance(0.5))


def normalised(m: FewOps, x: SSAValue) -> SSAValue:
    """A softmax along any axis, or a layer normalisation along the last one."""
    if m.draw.chance(0.5):
        return r.nn.softmax(x, axis=m.draw.axis(len(shape_of(x))))
    last = shape_of(x)[-1]
    return r.nn.layer_norm(x, m.argument(last), m.argument(last), axis=-1)


def transposed(m: FewOps, x: SSAValue) -> SSAValue:
    """The axes in another order."""
    return r.transpose(x, axes=m.draw.permutation(len(shape_of(x))))


def part(m: FewOps, x: SSAValue) -> SSAValue:
    """A slice with steps."""
    shape = shape_of(x)
    begin = [m.draw.integer(0, e - 1) for e in shape]
    end = [m.draw.integer(b + 1, e) for b, e in zip(begin, shape, strict=True)]
    return r.strided_slice(x, begin=begin, end=end, strides=[m.draw.choice((1, 1, 2, 3)) for _ in shape])


def joined(m: FewOps, x: SSAValue) -> SSAValue:
    """Joined with an argument, which may be before it."""
    axis = m.draw.axis(len(shape_of(x)))
    shape = list(shape_of(x))
    shape[axis] = m.draw.integer(1, LONGEST)
    both = [x, m.argument(*shape)]
    return r.concatenate(*m.draw.shuffled(both), axis=axis)


def padded(m: FewOps, x: SSAValue) -> SSAValue:
    """Up to three zeros before and behind each axis."""
    return r.nn.pad(x, pad_width=[m.draw.integer(0, 3) for _ in range(2 * len(shape_of(x)))])


def pooled(m: FewOps, x: SSAValue) -> SSAValue:
    """A maximum or average over windows of up to 3 elements an axis, without padding, of a value [N, C, ...]."""
    rank = len(shape_of(x)) - 2
    size = [m.draw.integer(1, min(3, e)) for e in shape_of(x)[2:]]
    pool: Callable[..., Any] = getattr(r.nn, f"{m.draw.choice(('max', 'avg'))}_pool{rank}d")
    return pool(x, pool_size=size, strides=[m.draw.integer(1, 2) for _ in size], padding=[0] * (2 * rank))


def pooled_or_relu(m: FewOps, x: SSAValue) -> SSAValue:
    """Pooled where there are images."""
    return pooled(m, x) if 3 <= len(shape_of(x)) <= 5 else relu(m, x)


FOLLOWING: tuple[Callable[[FewOps, SSAValue], SSAValue], ...] = (
    function, relu, with_another, cast, reduction, normalised, transposed, part, joined, padded, pooled_or_relu,
)  # fmt: skip
