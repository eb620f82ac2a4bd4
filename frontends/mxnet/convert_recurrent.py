"""The fused recurrent layer RNN: lstm, gru, rnn_tanh and rnn_relu, of several layers and both directions.

Its weights lie in one vector (MXNet's rnn-inl.h): of each layer and direction the matrix of the input and that of the
state, and behind all matrices of each the two biases. Gates stand as i f c o, or r z n; ours as i o f c, or z r n.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from lamina.frontends.builder import Value
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.mxnet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder

_ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_tanh": (0,), "rnn_relu": (0,)}
"""The places of our gates among MXNet's."""
_FUNCTIONS = {"lstm": "sigmoid, tanh, tanh", "gru": "sigmoid, tanh", "rnn_tanh": "tanh", "rnn_relu": "relu"}


@dataclass(frozen=True)
class _Layer:
    """The weights of one layer in one direction, gates first."""

    of_input: Value
    of_state: Value
    bias_of_input: Value
    bias_of_state: Value


def _reordered(b: NodeBuilder, v: Value, mode: str, hidden: int) -> Value:
    order = _ORDER[mode]
    if list(order) == sorted(order):
        return v
    return b.op("concatenate", *(b.slice(v, 0, g * hidden, (g + 1) * hidden) for g in order), axis=0)


def _layers(b: NodeBuilder, mode: str, vector: Value, inputs: int, hidden: int, layers: int, directions: int
            ) -> list[_Layer]:  # fmt: skip
    """The weights of all layers. Raises InputError where the vector is not as long as they are."""
    rows = len(_ORDER[mode]) * hidden
    widths = [inputs if layer == 0 else directions * hidden for layer in range(layers) for _ in range(directions)]
    total = sum(rows * (w + hidden + 2) for w in widths)
    vector = b.reshape(vector, (prod(vector.shape),))
    if vector.shape[0] != total:
        raise b.fail(f"takes {total} weights, the vector has {vector.shape[0]}")
    at = 0

    def next_of(*shape: int) -> Value:
        nonlocal at
        first, at = at, at + prod(shape)
        return _reordered(b, b.reshape(b.slice(vector, 0, first, at), shape), mode, hidden)

    matrices = [(next_of(rows, w), next_of(rows, hidden)) for w in widths]
    biases = [(next_of(rows), next_of(rows)) for _ in widths]
    return [_Layer(*m, *v) for m, v in zip(matrices, biases, strict=True)]


def _direction(b: NodeBuilder, mode: str, x: Value, w: _Layer, states: list[Value], reverse: bool) -> list[Value]:
    """The result of each step, and the last of each state."""
    gates, (steps, batch, width) = len(_ORDER[mode]), x.shape
    hidden = w.of_state.shape[1]
    bias, inner = b.add(w.bias_of_input, w.bias_of_state), list[Value]()
    if mode == "gru":  # the bias of the product that the reset gate scales stays behind that product
        inner = [b.slice(w.bias_of_state, 0, 2 * hidden, 3 * hidden)]
        bias = b.op("concatenate", b.slice(bias, 0, 0, 2 * hidden),
                    b.slice(w.bias_of_input, 0, 2 * hidden, 3 * hidden), axis=0)  # fmt: skip
    projected = b.contraction("nn.dense", b.reshape(x, (steps * batch, width)), w.of_input, units=gates * hidden)
    projected = b.reshape(b.op("nn.bias_add", projected, bias, axis=1), (steps, batch, gates * hidden))
    weight = b.reshape(w.of_state, (gates, hidden, hidden))
    weights = [b.slice(weight, 0, 0, 2), b.slice(weight, 0, 2, 3)] if mode == "gru" else [weight]
    attrs = {"linear_before_reset": True} if mode == "gru" else {}
    name = "rnn" if mode.startswith("rnn") else mode
    return b.ops(
        f"nn.{name}", projected, *weights, *states, *inner, activations=_FUNCTIONS[mode], reverse=reverse, **attrs
    )


@TABLE.op("RNN")
def rnn(b: NodeBuilder, node: NetworkNode, x: Value, vector: Value, *states: Value) -> list[Value]:
    """y [steps, batch, directions * hidden], and the last states [layers * directions, batch, hidden]."""
    attrs = TextAttributes(node)
    mode, hidden, layers = attrs.word("mode"), attrs.int("state_size"), attrs.int("num_layers", 1)
    if mode not in _ORDER or attrs.bool("use_sequence_length") or attrs.has("projection_size"):
        raise b.unsupported(f"mode = {mode[:40]} is not supported with these options")
    if x.rank != 3 or not 0 < hidden < 1 << 20 or not 0 < layers < 1 << 10:
        raise b.fail(f"{layers} layers of {hidden} units on {x}")
    directions = 2 if attrs.bool("bidirectional") else 1
    shape = (layers * directions, x.shape[1], hidden)
    count = 2 if mode == "lstm" else 1
    # An exported layer makes its first states with a batch of 0, which stands for any.
    begins = [s if 0 not in s.shape else b.zeros(shape, x.dtype) for s in states[:count]]
    if len(begins) != count or any(s.shape != shape for s in begins):
        raise b.fail(f"has {len(begins)} states, expects {count} of the shape {list(shape)}")
    weights = _layers(b, mode, vector, x.shape[2], hidden, layers, directions)
    lasts: list[list[Value]] = [[] for _ in range(count)]
    for layer in range(layers):
        made: list[Value] = []
        for way in range(directions):
            k = layer * directions + way
            first = [b.reshape(b.slice(s, 0, k, k + 1), shape[1:]) for s in begins]
            y, *last = _direction(b, mode, x, weights[k], first, way == 1)
            made.append(y)
            for found, v in zip(lasts, last, strict=True):
                found.append(b.reshape(v, (1, *shape[1:])))
        x = made[0] if directions == 1 else b.op("concatenate", *made, axis=2)
    return [x, *(s[0] if len(s) == 1 else b.op("concatenate", *s, axis=0) for s in lasts)]


@TABLE.op("SequenceMask")
def sequence_mask(b: NodeBuilder, node: NetworkNode, x: Value, lengths: Value | None = None) -> Value:
    """A number behind the length of each sequence."""
    attrs = TextAttributes(node)
    if not attrs.bool("use_sequence_length") or lengths is None:
        return x
    axis = attrs.int("axis")
    return b.op("sequence_mask", x, b.cast(lengths, "int32"), mask_value=attrs.float("value"), axis=axis)


@TABLE.op("SequenceReverse")
def sequence_reverse(b: NodeBuilder, node: NetworkNode, x: Value, lengths: Value | None = None) -> Value:
    """Sequences the other way round, each as far as it is long."""
    if not TextAttributes(node).bool("use_sequence_length") or lengths is None:
        return b.op("reverse", x, axis=0)
    return b.op("reverse_sequence", x, b.cast(lengths, "int32"), seq_axis=0, batch_axis=1)
