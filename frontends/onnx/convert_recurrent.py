"""RNN, GRU and LSTM, one step after the other: the number of steps is known, and each is a few products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lamina.frontends.onnx.builder import Builder, Node, Value
from lamina.frontends.onnx.convert_control import MOST_TRIPS, part, stacked
from lamina.frontends.onnx.registry import onnx_op

Function: TypeAlias = Callable[[Value], Value]
Step: TypeAlias = Callable[[Value, tuple[Value, ...]], tuple[Value, ...]]
"""From a step's input and the states before it to the states behind it."""


def _function(n: Node, b: Builder, name: str, alpha: float | None, beta: float | None) -> Function:
    def number(given: float | None, default: float) -> float:
        return default if given is None else given

    def affine(x: Value, scale: float, shift: float) -> Value:
        return b.op("add", b.op("multiply", x, b.scalar(scale, x)), b.scalar(shift, x))

    def scaled_tanh(x: Value) -> Value:
        y = b.op("tanh", b.op("multiply", x, b.scalar(number(beta, 1.0), x)))
        return b.op("multiply", y, b.scalar(number(alpha, 1.0), y))

    table: dict[str, Function] = {
        "relu": lambda x: b.op("nn.relu", x),
        "tanh": lambda x: b.op("tanh", x),
        "sigmoid": lambda x: b.op("sigmoid", x),
        "affine": lambda x: affine(x, number(alpha, 1.0), number(beta, 0.0)),
        "leakyrelu": lambda x: b.op("nn.leaky_relu", x, alpha=number(alpha, 0.01)),
        "hardsigmoid": lambda x: b.op("clip", affine(x, number(alpha, 0.2), number(beta, 0.5)), a_min=0.0, a_max=1.0),
        "scaledtanh": scaled_tanh,
        "softsign": lambda x: b.op("divide", x, b.op("add", b.op("abs", x), b.scalar(1, x))),
    }
    found = table.get(name.lower())
    if found is None:
        raise n.unsupported(f"the activation {name!r} is not supported")
    return found


@dataclass
class _Direction:
    """One direction: its weights and activations."""

    n: Node
    b: Builder
    w: Value
    r: Value
    w_bias: Value | None
    r_bias: Value | None
    peephole: Value | None
    f: list[Function]
    clip: float

    def act(self, which: int, x: Value) -> Value:
        if self.clip:
            x = self.b.op("clip", x, a_min=-self.clip, a_max=self.clip)
        return self.f[which](x)

    def dense(self, x: Value, w: Value, bias: Value | None) -> Value:
        y = self.b.contraction("nn.dense", x, w, units=w.shape[0])
        return y if bias is None else self.b.op("nn.bias_add", y, bias, axis=1)

    def gates(self, y: Value, count: int) -> list[Value]:
        return self.b.ops("split", y, indices_or_sections=count, axis=1) if count > 1 else [y]

    def add(self, *values: Value) -> Value:
        total = values[0]
        for v in values[1:]:
            total = self.b.op("add", total, v)
        return total

    def mul(self, x: Value, y: Value) -> Value:
        return self.b.op("multiply", x, y)


def _rnn(d: _Direction) -> Step:
    def step(x: Value, states: tuple[Value, ...]) -> tuple[Value, ...]:
        return (d.act(0, d.add(d.dense(x, d.w, d.w_bias), d.dense(states[0], d.r, d.r_bias))),)

    return step


def _gru(d: _Direction) -> Step:
    """z = f(xW + hR), r likewise, h~ = g(xW + (r h) R) or, with linear_before_reset, g(xW + r (hR + b))."""
    b, late = d.b, bool(d.n.attr("linear_before_reset", 0))
    size = d.r.shape[1]

    def rows(v: Value | None, first: int, last: int) -> Value | None:
        if v is None:
            return None
        return b.op("strided_slice", v, begin=[first * size], end=[last * size], strides=[1], axes=[0])

    def step(x: Value, states: tuple[Value, ...]) -> tuple[Value, ...]:
        (h,) = states
        xz, xr, xh = d.gates(d.dense(x, d.w, d.w_bias), 3)
        r_zr, r_h = rows(d.r, 0, 2), rows(d.r, 2, 3)
        assert r_zr is not None and r_h is not None
        hz, hr = d.gates(d.dense(h, r_zr, rows(d.r_bias, 0, 2)), 2)
        z, r = d.act(0, d.add(xz, hz)), d.act(0, d.add(xr, hr))
        if late:
            inner = d.mul(r, d.dense(h, r_h, rows(d.r_bias, 2, 3)))
        else:
            inner = d.dense(d.mul(r, h), r_h, rows(d.r_bias, 2, 3))
        new = d.act(1, d.add(xh, inner))
        return (d.add(d.mul(b.op("subtract", b.scalar(1, z), z), new), d.mul(z, h)),)

    return step


def _lstm(d: _Direction) -> Step:
    """Gates i, o, f, c: C = f C + i c, H = o h(C); peepholes let the gates see C."""
    b, coupled = d.b, bool(d.n.attr("input_forget", 0))
    peep = d.gates(b.reshape(d.peephole, (1, d.peephole.shape[0])), 3) if d.peephole is not None else None

    def seen(gate: Value, which: int, cell: Value) -> Value:
        return gate if peep is None else d.add(gate, d.mul(peep[which], cell))

    def step(x: Value, states: tuple[Value, ...]) -> tuple[Value, ...]:
        h, cell = states
        i, o, f, c = d.gates(d.add(d.dense(x, d.w, d.w_bias), d.dense(h, d.r, d.r_bias)), 4)
        i = d.act(0, seen(i, 0, cell))
        f = b.op("subtract", b.scalar(1, i), i) if coupled else d.act(0, seen(f, 2, cell))
        cell = d.add(d.mul(f, cell), d.mul(i, d.act(1, c)))
        o = d.act(0, seen(o, 1, cell))
        return d.mul(o, d.act(2, cell)), cell

    return step


_KINDS: dict[str, tuple[Callable[[_Direction], Step], int, tuple[str, ...], int]] = {
    "RNN": (_rnn, 1, ("Tanh",), 1),
    "GRU": (_gru, 3, ("Sigmoid", "Tanh"), 1),
    "LSTM": (_lstm, 4, ("Sigmoid", "Tanh", "Tanh"), 2),
}
"""How a step is made, the number of gates, the activations, the number of states."""


@onnx_op("RNN", "GRU", "LSTM")
def recurrent(n: Node, b: Builder) -> list[Value]:
    """Y [steps, directions, batch, hidden], then the last of each state; `layout` 1 puts the batch first."""
    make, gates, usual, count = _KINDS[n.op_type]
    x, w, r = n.input(0), n.input(1), n.input(2)
    batch_first = bool(n.attr("layout", 0))
    if batch_first:
        x = b.op("transpose", x, axes=[1, 0, 2])
    if x.rank != 3 or w.rank != 3 or r.rank != 3 or w.shape[1] != gates * r.shape[2]:
        raise n.fail("the shapes do not fit")
    steps, batch, _ = x.shape
    hidden, directions = r.shape[2], w.shape[0]
    if not 0 < steps <= MOST_TRIPS:
        raise n.unsupported(f"{steps} steps are not supported, only 1 to {MOST_TRIPS}")
    lengths = n.input(4) if n.has(4) else None
    names = list(n.attr("activations", usual * directions))
    alphas, betas = list(n.attr("activation_alpha", ())), list(n.attr("activation_beta", ()))
    if len(names) != len(usual) * directions:
        raise n.fail(f"{len(names)} activations, expects {len(usual) * directions}")
    functions: list[Function] = []
    for name in names:
        takes_alpha = name.lower() in ("affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu")
        takes_beta = name.lower() in ("affine", "scaledtanh", "hardsigmoid")
        alpha = alphas.pop(0) if alphas and takes_alpha else None
        beta = betas.pop(0) if betas and takes_beta else None
        functions.append(_function(n, b, name, alpha, beta))
    way = n.attr("direction", "forward")
    if directions != (2 if way == "bidirectional" else 1):
        raise n.fail(f"{directions} directions for {way!r}")
    outputs: list[list[Value]] = []
    finals: list[tuple[Value, ...]] = []
    for k in range(directions):
        biases: list[Value | None] = [None, None]
        if n.has(3):
            biases = list(b.ops("split", part(b, n.input(3), 0, k), indices_or_sections=2, axis=0))
        direction = _Direction(
            n, b, part(b, w, 0, k), part(b, r, 0, k), biases[0], biases[1],
            part(b, n.input(7), 0, k) if n.has(7) else None,
            functions[k * len(usual) : (k + 1) * len(usual)], n.attr("clip", 0.0),
        )  # fmt: skip
        states = tuple(_initial(n, b, 5 + s, k, batch_first, (batch, hidden), x) for s in range(count))
        back = way == "reverse" or k == 1
        made, final = _run(b, make(direction), x, states, lengths, back)
        outputs.append(made)
        finals.append(final)
    y = stacked(b, [stacked(b, [o[t] for o in outputs]) for t in range(steps)])
    last = [stacked(b, [f[s] for f in finals]) for s in range(count)]
    if batch_first:
        y = b.op("transpose", y, axes=[2, 0, 1, 3])
        last = [b.op("transpose", v, axes=[1, 0, 2]) for v in last]
    return [y, *last]


def _initial(n: Node, b: Builder, i: int, k: int, batch_first: bool, shape: tuple[int, int], x: Value) -> Value:
    if not n.has(i):
        return b.op("full", b.scalar(0, x), shape=list(shape), dtype=x.dtype)
    return part(b, n.input(i), 1 if batch_first else 0, k)


def _run(
    b: Builder, step: Step, x: Value, states: tuple[Value, ...], lengths: Value | None, back: bool
) -> tuple[list[Value], tuple[Value, ...]]:
    """The outputs by step and the states at the end; beyond a sequence's length outputs are 0 and states stay."""
    made: dict[int, Value] = {}
    order: Sequence[int] = range(x.shape[0])
    for t in order[::-1] if back else order:
        new = step(part(b, x, 0, t), states)
        out = new[0]
        if lengths is not None:
            inside = b.op("less", b.scalar(t, lengths), b.reshape(lengths, (x.shape[1], 1)))
            out = b.op("where", inside, new[0], b.scalar(0, new[0]))
            new = tuple(b.op("where", inside, v, old) for v, old in zip(new, states, strict=True))
        made[t], states = out, new
    return [made[t] for t in order], states
