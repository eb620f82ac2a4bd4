"""Steps of optimisers, which are plain arithmetic on tensors."""

from __future__ import annotations

from collections.abc import Callable

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op

_DOMAIN = "ai.onnx.preview.training"


class _Arithmetic:
    """Sums and products of tensors and numbers, in the tensors' type."""

    def __init__(self, b: Builder) -> None:
        self.b = b

    def add(self, x: Value, y: Value) -> Value:
        return self.b.op("add", x, y)

    def mul(self, x: Value, y: Value | float) -> Value:
        return self.b.op("multiply", x, y if isinstance(y, Value) else self.b.scalar(y, x))

    def sub(self, x: Value, y: Value) -> Value:
        return self.b.op("subtract", x, y)

    def div(self, x: Value, y: Value) -> Value:
        return self.b.op("divide", x, y)

    def number(self, x: Value, like: Value) -> Value:
        return self.b.cast(self.b.reshape(x, ()), like.dtype)


def _groups(n: Node, count: int) -> list[list[Value]]:
    """The tensors of each optimised one: itself, its gradient and the states, which stand one kind after the other."""
    values = n.values()[2:]
    if not values or len(values) % count:
        raise n.fail(f"{len(values)} tensors are no multiple of {count}")
    each = len(values) // count
    return [[values[k * each + i] for k in range(count)] for i in range(each)]


def _all(n: Node, count: int, step: Callable[[list[Value]], tuple[Value, ...]]) -> list[Value]:
    results = [step(group) for group in _groups(n, count)]
    return [v for column in zip(*results, strict=True) for v in column]


EPSILON = 9.999999974752427e-07
"""The number that Adagrad and Adam add to a root that may be zero, where nothing is said: 1e-6 in single precision."""


@onnx_op("Adagrad", domain=_DOMAIN)
def adagrad(n: Node, b: Builder) -> list[Value]:
    m = _Arithmetic(b)

    def step(group: list[Value]) -> tuple[Value, ...]:
        x, gradient, squares = group
        rate, count = m.number(n.input(0), x), m.number(n.input(1), x)
        decay = m.add(m.mul(count, n.attr("decay_factor", 0.0)), b.scalar(1, x))
        rate = m.div(rate, decay)
        gradient = m.add(m.mul(x, n.attr("norm_coefficient", 0.0)), gradient)
        squares = m.add(squares, m.mul(gradient, gradient))
        root = m.add(b.op("sqrt", squares), b.scalar(n.attr("epsilon", EPSILON), x))
        return m.sub(x, m.div(m.mul(rate, gradient), root)), squares

    return _all(n, 3, step)


@onnx_op("Momentum", domain=_DOMAIN)
def momentum(n: Node, b: Builder) -> list[Value]:
    m = _Arithmetic(b)
    alpha, beta = n.attr("alpha"), n.attr("beta")
    nesterov = n.attr("mode") == "nesterov"

    def step(group: list[Value]) -> tuple[Value, ...]:
        x, gradient, velocity = group
        rate, count = m.number(n.input(0), x), m.number(n.input(1), x)
        gradient = m.add(m.mul(x, n.attr("norm_coefficient", 0.0)), gradient)
        first = b.op("greater", count, b.scalar(0, count))
        share = b.op("where", first, b.scalar(beta, x), b.scalar(1, x))
        velocity = m.add(m.mul(velocity, alpha), m.mul(gradient, share))
        change = m.add(gradient, m.mul(velocity, alpha)) if nesterov else velocity
        return m.sub(x, m.mul(change, rate)), velocity

    return _all(n, 3, step)


@onnx_op("Adam", domain=_DOMAIN)
def adam(n: Node, b: Builder) -> list[Value]:
    m = _Arithmetic(b)
    alpha, beta = n.attr("alpha", 0.9), n.attr("beta", 0.999)

    def step(group: list[Value]) -> tuple[Value, ...]:
        x, gradient, mean, square = group
        rate, count = m.number(n.input(0), x), m.number(n.input(1), x)
        gradient = m.add(m.mul(x, n.attr("norm_coefficient", 0.0)), gradient)
        mean = m.add(m.mul(mean, alpha), m.mul(gradient, 1 - alpha))
        square = m.add(m.mul(square, beta), m.mul(m.mul(gradient, gradient), 1 - beta))
        root = m.add(b.op("sqrt", square), b.scalar(n.attr("epsilon", EPSILON), x))
        one = b.scalar(1, x)
        late = b.op("greater", count, b.scalar(0, count))

        def left(decay: float) -> Value:
            return m.sub(one, b.op("power", b.scalar(decay, x), count))

        # Until the means have settled they are too small.
        rate = b.op("where", late, m.div(m.mul(rate, b.op("sqrt", left(beta))), left(alpha)), rate)
        y = m.sub(x, m.div(m.mul(rate, mean), root))
        return m.mul(y, 1 - n.attr("norm_coefficient_post", 0.0)), mean, square

    return _all(n, 4, step)
