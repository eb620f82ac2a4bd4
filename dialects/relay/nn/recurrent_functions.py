"""The functions of recurrent layers, as te, as NumPy and as relay ops: what their attribute `activations` names.

"sigmoid, tanh, leaky_relu(0.01)"

sigmoid, tanh, relu, softsign          x / (1 + |x|) is softsign
affine(a, b), hard_sigmoid(a, b)       a x + b, and the same kept within 0 and 1
leaky_relu(a), scaled_tanh(a, b)       a x where x < 0, and a tanh(b x)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple, cast

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.elementwise.transcendental import SigmoidOp

_ONE = re.compile(r"\s*([a-z_]+)\s*(?:\(([^()]*)\))?\s*(?:,|$)")


class Function:
    """One function in three forms; each takes the numbers behind its argument."""

    PARAMETERS: ClassVar[int] = 0
    element: ClassVar[Callable[..., Any]]
    """Of one element of a te.compute."""
    array: ClassVar[Callable[..., Any]]
    """Of an array."""
    value: ClassVar[Callable[..., Any]]
    """Of a relay value."""


class Sigmoid(Function):
    """1 / (1 + exp(-x))."""

    @staticmethod
    def element(x: Any) -> Any:
        return 1.0 / (te.exp(-x) + 1.0)

    @staticmethod
    def array(x: Any) -> Any:
        return SigmoidOp.np_ref(x)

    @staticmethod
    def value(x: Any) -> Any:
        return r.sigmoid(x)


class Tanh(Function):
    """The hyperbolic tangent."""

    @staticmethod
    def element(x: Any) -> Any:
        return te.tanh(x)

    @staticmethod
    def array(x: Any) -> Any:
        return np.tanh(x)

    @staticmethod
    def value(x: Any) -> Any:
        return r.tanh(x)


class Relu(Function):
    """max(x, 0)."""

    @staticmethod
    def element(x: Any) -> Any:
        return te.maximum(x, 0.0)

    @staticmethod
    def array(x: Any) -> Any:
        return np.maximum(x, 0)

    @staticmethod
    def value(x: Any) -> Any:
        return r.nn.relu(x)


class Softsign(Function):
    """x / (1 + |x|)."""

    @staticmethod
    def element(x: Any) -> Any:
        return x / (te.abs(x) + 1.0)

    @staticmethod
    def array(x: Any) -> Any:
        return x / (1 + np.abs(x))

    @staticmethod
    def value(x: Any) -> Any:
        return r.divide(x, r.add(r.abs(x), number(1.0, x)))


class Affine(Function):
    """a x + b."""

    PARAMETERS: ClassVar[int] = 2

    @staticmethod
    def element(x: Any, a: float, b: float) -> Any:
        return x * a + b

    @staticmethod
    def array(x: Any, a: float, b: float) -> Any:
        return a * x + b

    @staticmethod
    def value(x: Any, a: float, b: float) -> Any:
        return r.add(r.multiply(x, number(a, x)), number(b, x))


class HardSigmoid(Function):
    """a x + b, cut off below 0 and above 1."""

    PARAMETERS: ClassVar[int] = 2

    @staticmethod
    def element(x: Any, a: float, b: float) -> Any:
        return te.minimum(te.maximum(x * a + b, 0.0), 1.0)

    @staticmethod
    def array(x: Any, a: float, b: float) -> Any:
        return np.clip(a * x + b, 0, 1)

    @staticmethod
    def value(x: Any, a: float, b: float) -> Any:
        return r.clip(Affine.value(x, a, b), a_min=0.0, a_max=1.0)


class LeakyRelu(Function):
    """x, and a x where x < 0."""

    PARAMETERS: ClassVar[int] = 1

    @staticmethod
    def element(x: Any, a: float) -> Any:
        return te.select(x < 0.0, x * a, x)

    @staticmethod
    def array(x: Any, a: float) -> Any:
        return cast(Any, np).where(x < 0, a * x, x)

    @staticmethod
    def value(x: Any, a: float) -> Any:
        return r.nn.leaky_relu(x, alpha=a)


class ScaledTanh(Function):
    """a tanh(b x)."""

    PARAMETERS: ClassVar[int] = 2

    @staticmethod
    def element(x: Any, a: float, b: float) -> Any:
        return te.tanh(x * b) * a

    @staticmethod
    def array(x: Any, a: float, b: float) -> Any:
        return a * np.tanh(b * x)

    @staticmethod
    def value(x: Any, a: float, b: float) -> Any:
        return r.multiply(r.tanh(r.multiply(x, number(b, x))), number(a, x))


FUNCTIONS: dict[str, type[Function]] = {
    "sigmoid": Sigmoid,
    "tanh": Tanh,
    "relu": Relu,
    "softsign": Softsign,
    "affine": Affine,
    "hard_sigmoid": HardSigmoid,
    "leaky_relu": LeakyRelu,
    "scaled_tanh": ScaledTanh,
}


class Activation(NamedTuple):
    """A function and its numbers, behind a clip of its argument where `clip` is not 0."""

    function: type[Function]
    numbers: tuple[float, ...]
    clip: float

    def element(self, x: Any) -> Any:
        """On one element of a te.compute."""
        if self.clip:
            x = te.minimum(te.maximum(x, -self.clip), self.clip)
        return self.function.element(x, *self.numbers)

    def array(self, x: Any) -> Any:
        """On an array."""
        given: Any = np.clip(x, -self.clip, self.clip) if self.clip else x
        return np.asarray(self.function.array(given, *self.numbers)).astype(given.dtype)

    def value(self, x: Any) -> Any:
        """On a relay value."""
        if self.clip:
            x = r.clip(x, a_min=-self.clip, a_max=self.clip)
        return self.function.value(x, *self.numbers)


@cache
def activations_of(text: str, count: int, clip: float) -> tuple[Activation, ...]:
    """The functions that a text names. Raises TypeMismatch where it names others, or not `count` of them."""
    found: list[Activation] = []
    position = 0
    while position < len(text):
        match = _ONE.match(text, position)
        if match is None:
            raise TypeMismatch(f"activations {text!r}: names with numbers are expected, such as 'affine(1.0, 0.0)'")
        position = match.end()
        name, given = match.groups()
        function = FUNCTIONS.get(name)
        if function is None:
            raise TypeMismatch(f"activation {name!r} is none of {', '.join(FUNCTIONS)}")
        found.append(Activation(function, _numbers(name, given or "", function.PARAMETERS), clip))
    if len(found) != count:
        raise TypeMismatch(f"{len(found)} activations, expects {count}")
    if clip < 0:
        raise TypeMismatch(f"clip {clip} is negative")
    return tuple(found)


def _numbers(name: str, given: str, count: int) -> tuple[float, ...]:
    try:
        numbers = tuple(float(v) for v in given.split(",") if v.strip())
    except ValueError:
        raise TypeMismatch(f"activation {name!r} takes numbers, got ({given})") from None
    if len(numbers) != count:
        raise TypeMismatch(f"activation {name!r} takes {count} numbers, got {len(numbers)}")
    return numbers


def activation_text(name: str, numbers: Sequence[float] = ()) -> str:
    """One function as `activations` names it."""
    return f"{name}({', '.join(repr(float(v)) for v in numbers)})" if numbers else name
