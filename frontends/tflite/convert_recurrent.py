"""Recurrent layers of floats, unrolled over time; what they keep from run to run are variable tensors.

LSTM with peepholes, projection, coupled input gates and layer normalisation: H. Sak et al., Long short-term memory
recurrent neural network architectures for large scale acoustic modeling, 2014; SVDF: P. Nakkiran et al., Compressing
deep neural networks using a rank-constrained topology, 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.graph import TfliteNode

MOST_STEPS = 1024
"""Longer sequences are refused: each step is code of its own."""
_NORM_EPSILON = 1e-8


def steps_of(b: TfliteBuilder, x: Value, time_major: bool) -> list[Value]:
    """The slices [batch, ...] of a sequence, in the order of time."""
    axis = 0 if time_major else 1
    if x.rank != 3 or not 0 < x.shape[axis] <= MOST_STEPS:
        raise b.unsupported(f"the sequence {x} is not supported: 1 to {MOST_STEPS} steps are")
    shape = [e for a, e in enumerate(x.shape) if a != axis]
    return [b.reshape(b.slice(x, axis, t, t + 1), shape) for t in range(x.shape[axis])]


def sequence_of(b: TfliteBuilder, steps: Sequence[Value], time_major: bool) -> Value:
    """Slices [batch, ...] as a sequence."""
    return b.op("stack", *steps, axis=0 if time_major else 1)


def keep(b: TfliteBuilder, node: TfliteNode, place: int, value: Value) -> None:
    """Give a variable tensor, which is an operand, its value for the next run."""
    tensor = node.operands[place]
    if tensor is None or tensor.name not in b.states:
        raise b.unsupported(f"operand {place} is no variable tensor")
    b.states[tensor.name] = value


def needed(b: TfliteBuilder, x: Value | None, what: str) -> Value:
    """An operand that must not be left out."""
    if x is None:
        raise b.fail(f"{what} is left out")
    return x


def rows(b: TfliteBuilder, x: Value, w: Value) -> Value:
    """The product of rows [N, K] with weights [U, K]."""
    return b.contraction("nn.dense", x, w, units=w.shape[0])


def operand(operands: Sequence[Value | None], place: int) -> Value | None:
    """An operand, None where it is left out."""
    return operands[place] if place < len(operands) else None


# -- simple recurrence ---------------------------------------------------------------------------


def _recurrence(
    b: TfliteBuilder, steps: Sequence[Value], w: Value, r: Value, bias: Value, h: Value, activation: str
) -> list[Value]:
    """The states h = f(W x + R h + b) after each step."""
    found: list[Value] = []
    for x in steps:
        h = b.activation(b.add(b.add(rows(b, x, w), rows(b, h, r)), bias), activation)
        found.append(h)
    return found


@TABLE.op("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(b: TfliteBuilder, node: TfliteNode, x: Value, w: Value, r: Value, bias: Value, h: Value) -> Value:
    """h = f(W x + R h + b), one step or one for each slice of a sequence."""
    activation = str(node.attr("fused_activation_function", "NONE"))
    time_major = bool(node.attr("time_major", False))
    steps = [x] if node.op == "RNN" else steps_of(b, x, time_major)
    found = _recurrence(b, steps, w, r, bias, h, activation)
    keep(b, node, 4, found[-1])
    return found[-1] if node.op == "RNN" else sequence_of(b, found, time_major)


@TABLE.op("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(b: TfliteBuilder, node: TfliteNode, x: Value, *operands: Value | None) -> Sequence[Value]:
    """A recurrence forward and one backward in time."""
    given = [needed(b, v, f"operand {k + 1}") for k, v in enumerate(operands[:8])]
    if any(v is not None for v in operands[8:]):
        raise b.unsupported("an auxiliary input is not supported")
    activation = str(node.attr("fused_activation_function", "NONE"))
    time_major = bool(node.attr("time_major", False))
    steps = steps_of(b, x, time_major)
    forward = _recurrence(b, steps, given[0], given[1], given[2], given[3], activation)
    backward = _recurrence(b, steps[::-1], given[4], given[5], given[6], given[7], activation)
    keep(b, node, 4, forward[-1])
    keep(b, node, 8, backward[-1])
    return both_ways(b, node, forward, backward[::-1], time_major)


def both_ways(
    b: TfliteBuilder, node: TfliteNode, forward: Sequence[Value], backward: Sequence[Value], time_major: bool
) -> list[Value]:
    """The results of both directions, side by side where `merge_outputs` says so."""
    results = [sequence_of(b, side, time_major) for side in (forward, backward)]
    return [b.op("concatenate", *results, axis=2)] if node.attr("merge_outputs", False) else results


# -- LSTM ----------------------------------------------------------------------------------------


@dataclass
class LstmCell:
    """The weights of an LSTM; lists are for the gates input, forget, cell and output, None for what is left out."""

    input: Sequence[Value | None]
    recurrent: Sequence[Value | None]
    peephole: Sequence[Value | None]
    """For input, forget and output."""
    bias: Sequence[Value | None]
    projection: Value | None
    projection_bias: Value | None
    norm: Sequence[Value | None]
    """The coefficients of layer normalisation."""
    activation: str
    cell_clip: float
    projection_clip: float

    @staticmethod
    def of(node: TfliteNode, given: Sequence[Value | None], first: int, norm: Sequence[Value | None]) -> LstmCell:
        """The cell whose 17 operands begin at a place."""
        at = [operand(given, first + k) for k in range(17)]
        return LstmCell(
            at[0:4], at[4:8], at[8:11], at[11:15], at[15], at[16], norm,
            str(node.attr("fused_activation_function", "NONE")), float(node.attr("cell_clip", 0.0)),
            float(node.attr("proj_clip", 0.0)),
        )  # fmt: skip

    def step(self, b: TfliteBuilder, x: Value, h: Value, c: Value) -> tuple[Value, Value]:
        """The output and the cell's state after a step."""
        is_coupled = self.input[0] is None
        forget = b.op("sigmoid", self._gate(b, 1, x, h, self.peephole[1], c))
        if is_coupled:
            taken = b.sub(b.constant(np.ones((), np.float32)), forget)
        else:
            taken = b.op("sigmoid", self._gate(b, 0, x, h, self.peephole[0], c))
        new = b.activation(self._gate(b, 2, x, h, None, c), self.activation)
        c = _clipped(b, b.add(b.mul(forget, c), b.mul(taken, new)), self.cell_clip)
        out = b.op("sigmoid", self._gate(b, 3, x, h, self.peephole[2], c))
        y = b.mul(out, b.activation(c, self.activation))
        if self.projection is not None:
            y = rows(b, y, self.projection)
            y = y if self.projection_bias is None else b.add(y, self.projection_bias)
            y = _clipped(b, y, self.projection_clip)
        return y, c

    def _gate(self, b: TfliteBuilder, k: int, x: Value, h: Value, peephole: Value | None, c: Value) -> Value:
        """The sum that a gate's function is applied to."""
        w, r = needed(b, self.input[k], "a weight"), needed(b, self.recurrent[k], "a recurrent weight")
        total = b.add(rows(b, x, w), rows(b, h, r))
        total = total if peephole is None else b.add(total, b.mul(peephole, c))
        norm = operand(self.norm, k)
        if norm is not None:
            mean = b.op("mean", total, axis=[1], keepdims=True)
            apart = b.sub(total, mean)
            variance = b.op("mean", b.mul(apart, apart), axis=[1], keepdims=True)
            total = b.mul(b.mul(apart, b.op("rsqrt", b.add(variance, _NORM_EPSILON))), norm)
        bias = self.bias[k]
        return total if bias is None else b.add(total, bias)

    def run(self, b: TfliteBuilder, steps: Sequence[Value], h: Value, c: Value) -> tuple[list[Value], Value]:
        """The outputs of all steps, and the cell's state after the last one."""
        found: list[Value] = []
        for x in steps:
            h, c = self.step(b, x, h, c)
            found.append(h)
        return found, c


def _clipped(b: TfliteBuilder, x: Value, most: float) -> Value:
    return b.op("clip", x, a_min=-most, a_max=most) if most > 0 else x


@TABLE.op("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(b: TfliteBuilder, node: TfliteNode, x: Value, *operands: Value | None) -> Value:
    """An LSTM of one step, or of one for each slice of a sequence."""
    if node.attr("kernel_type", 0):
        raise b.unsupported("the basic kernel of LSTM is not supported", "convert it with the full kernel")
    given = [x, *operands]
    cell = LstmCell.of(node, given, 1, given[20:24])
    time_major = bool(node.attr("time_major", False))
    steps = [x] if node.op == "LSTM" else steps_of(b, x, time_major)
    h, c = (needed(b, operand(given, k), "a state") for k in (18, 19))
    found, c = cell.run(b, steps, h, c)
    keep(b, node, 18, found[-1])
    keep(b, node, 19, c)
    return found[-1] if node.op == "LSTM" else sequence_of(b, found, time_major)


@TABLE.op("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(b: TfliteBuilder, node: TfliteNode, x: Value, *operands: Value | None) -> Sequence[Value]:
    """An LSTM forward and one backward in time."""
    given = [x, *operands]
    if any(v is not None for v in given[39:]):
        raise b.unsupported("an auxiliary input is not supported")
    time_major = bool(node.attr("time_major", False))
    steps = steps_of(b, x, time_major)
    sides: list[list[Value]] = []
    for first, places, order in ((1, (35, 36), 1), (18, (37, 38), -1)):
        h, c = (needed(b, operand(given, k), "a state") for k in places)
        found, c = LstmCell.of(node, given, first, []).run(b, steps[::order], h, c)
        keep(b, node, places[0], found[-1])
        keep(b, node, places[1], c)
        sides.append(found[::order])
    return both_ways(b, node, sides[0], sides[1], time_major)


# -- SVDF ----------------------------------------------------------------------------------------


@TABLE.op("SVDF")
def svdf(
    b: TfliteBuilder, node: TfliteNode, x: Value, feature: Value, time: Value, bias: Value | None, state: Value
) -> Value:
    """Filters over features and then over time: x [N, I], feature [F, I], time [F, M], state [N, F * M] -> [N, U]."""
    rank, filters = int(node.attr("rank", 1)), feature.shape[0]
    if rank < 1 or filters % rank or time.shape[0] != filters:
        raise b.fail(f"{filters} filters of rank {rank}, with times {time}")
    batch, memory = x.shape[0], time.shape[1]
    kept = b.slice(b.reshape(state, (batch, filters, memory)), 2, 1, memory)
    moved = b.op("concatenate", kept, b.reshape(rows(b, x, feature), (batch, filters, 1)), axis=2)
    keep(b, node, 4, b.reshape(moved, (batch, filters * memory)))
    over_time = b.op("sum", b.mul(moved, time), axis=[2], keepdims=False)
    y = b.op("sum", b.reshape(over_time, (batch, filters // rank, rank)), axis=[2], keepdims=False)
    return b.activated(y if bias is None else b.add(y, bias), node)
