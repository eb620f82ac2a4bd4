"""The builder of converters that take tensors and numbers: shorthands for the ops that many of them emit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.dialects.infos import is_symbolic
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.frontends.builder import RelayBuilder, Value

DEFAULT = "float32"
"""The type of a tensor of a Python float."""

UNFIT = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, StopIteration, TypeError, ValueError
)  # fmt: skip
"""Errors that Python and NumPy raise for arguments that are not of the kinds that a converter expects."""


class TensorBuilder(RelayBuilder):
    """Emits the Relay ops of converters; operands may be numbers, which become constants."""

    def fail(self, what: str, hint: str = "correct the model") -> InputError:
        """The error of a call that is wrong."""
        return InputError(what, where=self.where, hint=hint)

    def unsupported(self, what: str, hint: str = "change the model, or report the need") -> UnsupportedError:
        """The error of a call that is right, but not supported."""
        return UnsupportedError(what, where=self.where, hint=hint)

    def mismatch(self, what: str, operands: Sequence[Any]) -> LaminaError:
        return self.fail(what, f"the operands are {', '.join(map(str, operands)) or 'none'}")

    # -- operands ------------------------------------------------------------------------------------

    def tensor(self, x: Any, dtype: str | None = None) -> Value:
        """An operand as a tensor of a type, by default its own; a number becomes a constant."""
        if isinstance(x, Value):
            return x if dtype is None else self.cast(x, dtype)
        if is_symbolic(x):
            return self.cast(self.reshape(self.numbers([x]), ()), dtype or "int64")
        if not is_number(x):
            raise self.unsupported(f"an operand is {type(x).__name__}, no tensor or number")
        return self.constant(_as_type(x, dtype or number_type(x)))

    def cast(self, x: Value, dtype: str) -> Value:
        """A tensor of a type; of a number that is not zero the boolean is true."""
        if x.dtype == dtype:
            return x
        if dtype == "bool":
            return self.op("not_equal", x, self.scalar(0, x))
        return self.op("cast", x, dtype=dtype)

    def number(self, x: Any, what: str) -> Any:
        """A number that must be known now: of Python, of symbols, or of a constant tensor of one element."""
        if is_number(x):
            return x
        if isinstance(x, Value) and x.array is not None and x.array.size == 1:
            return x.array.reshape(-1)[0].item()
        raise self.unsupported(f"{what} is computed at run time")

    def ints(self, given: Any, count: int | None = None) -> list[int]:
        """A list of integers; one number stands for `count` equal ones, as does a list of one."""
        values = [given] if isinstance(given, (int, Value)) or is_symbolic(given) else list(given)
        numbers = [self.number(v, "an extent, axis or count") for v in values]
        found = [n if is_symbolic(n) else int(n) for n in numbers]
        return found * count if count is not None and len(found) == 1 else found

    # -- axes ----------------------------------------------------------------------------------------

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front. Raises InputError where there is none; rank 0 has one."""
        most = max(rank, 1)
        if not -most <= axis < most:
            raise self.fail(f"axis {axis} is out of range for rank {rank}")
        return axis + most if axis < 0 else axis

    def axes(self, axes: Any, rank: int) -> list[int]:
        """Axes counted from the front; None and an empty list are all."""
        given = [] if axes is None else self.ints(axes)
        return sorted({self.axis(a, rank) for a in given}) if given else list(range(rank))

    # -- shorthands ----------------------------------------------------------------------------------

    def slice(self, x: Value, axis: int, begin: int, end: int, step: int = 1) -> Value:
        """The elements [begin, end) of an axis, counted from the front."""
        if begin == 0 and end >= x.shape[axis] and step == 1:
            return x
        return self.op("strided_slice", x, begin=[begin], end=[end], strides=[step], axes=[axis])

    def transpose(self, x: Value, axes: Sequence[int]) -> Value:
        """The tensor with its axes in another order."""
        return x if list(axes) == list(range(x.rank)) else self.op("transpose", x, axes=list(axes))

    def swapped(self, x: Value, a: int = -1, b: int = -2) -> Value:
        """The tensor with two axes changed for each other."""
        axes = list(range(x.rank))
        axes[a], axes[b] = axes[b], axes[a]
        return self.transpose(x, axes)

    def zeros(self, shape: Sequence[int], dtype: str) -> Value:
        """A tensor of zeros."""
        return self.filled(0, shape, dtype)

    def filled(self, number: Any, shape: Sequence[int], dtype: str) -> Value:
        """A tensor of one number."""
        return self.splat(_as_type(number, dtype)[()], tuple(shape))

    def one(self, name: str, *operands: Any, **attrs: Any) -> Value:
        """`relay.<name>` of operands that may be numbers, all of the type of the first tensor among them."""
        like = next(o for o in operands if isinstance(o, Value))
        return self.op(name, *(self.tensor(o, None if isinstance(o, Value) else like.dtype) for o in operands), **attrs)

    def add(self, x: Any, y: Any) -> Value:
        """x + y."""
        return self.one("add", x, y)

    def sub(self, x: Any, y: Any) -> Value:
        """x - y."""
        return self.one("subtract", x, y)

    def mul(self, x: Any, y: Any) -> Value:
        """x * y."""
        return self.one("multiply", x, y)

    def div(self, x: Any, y: Any) -> Value:
        """x / y."""
        return self.one("divide", x, y)

    def looked_up(self, x: Value, table: Any) -> Value:
        """The entries of a table of all integers of x's type, in their order."""
        place, low = self.cast(x, "int32"), np.iinfo(x.dtype).min
        place = self.op("subtract", place, self.constant(np.int32(low))) if low else place
        return self.op("take", self.constant(table), place)

    def choose(self, condition: Value, x: Any, y: Any) -> Value:
        """x where the condition holds, else y."""
        like = next(o for o in (x, y) if isinstance(o, Value))
        return self.op("where", condition, self.tensor(x, like.dtype), self.tensor(y, like.dtype))


def is_number(x: Any) -> bool:
    """Whether something is a number of Python, or one that depends on symbols."""
    return isinstance(x, (bool, int, float)) or is_symbolic(x)


def number_type(number: bool | int | float) -> str:
    """The type of a tensor of a Python number."""
    whole = isinstance(number, int) or is_symbolic(number)
    return "bool" if isinstance(number, bool) else "int64" if whole else DEFAULT


def _as_type(number: Any, dtype: str) -> np.ndarray[Any, Any]:
    if is_float(dtype) or dtype == "bool":
        return np.asarray(number).astype(numpy_dtype(dtype))
    # An integer wraps around, as torch's do; a float is cut off.
    bits = np.dtype(dtype).itemsize * 8
    return np.asarray(int(number) % (1 << bits)).astype(np.uint64).astype(dtype)
