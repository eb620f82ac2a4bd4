"""The fused recurrent layer RNN: lstm, gru, rnn_tanh and rnn_relu, of several layers and both directions.

Its weights lie in one vector (MXNet's rnn-inl.h): of each layer and direction the matrix of the input and that of the
state, and behind all matrices of each the two biases.
"""

from __future__ import annotations

from math import prod

from lamina.frontends.builder import Value
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.mxnet.reader import TABLE
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.recurrent import GATES_OF_CUDNN, cudnn_layer, recurrent_stack


def _layers(
    b: NodeBuilder, mode: str, vector: Value, inputs: int, hidden: int, layers: int, directions: int
) -> list[tuple[tuple[Value, Value], tuple[Value, Value]]]:
    """The matrices and the biases of all layers. Raises InputError where the vector is not as long as they are."""
    rows = len(GATES_OF_CUDNN[mode]) * hidden
    widths = [inputs if layer == 0 else directions * hidden for layer in range(layers) for _ in range(directions)]
    total = sum(rows * (w + hidden + 2) for w in widths)
    vector = b.reshape(vector, (prod(vector.shape),))
    if vector.shape[0] != total:
        raise b.fail(f"takes {total} weights, the vector has {vector.shape[0]}")
    at = 0

    def next_of(*shape: int) -> Value:
        nonlocal at
        first, at = at, at + prod(shape)
        return b.reshape(b.slice(vector, 0, first, at), shape)

    matrices = [(next_of(rows, w), next_of(rows, hidden)) for w in widths]
    biases = [(next_of(rows), next_of(rows)) for _ in widths]
    return list(zip(matrices, biases, strict=True))


@TABLE.op("RNN")
def rnn(b: NodeBuilder, node: NetworkNode, x: Value, vector: Value, *states: Value) -> list[Value]:
    """y [steps, batch, directions * hidden], and the last states [layers * directions, batch, hidden]."""
    attrs = TextAttributes(node)
    mode, hidden, layers = attrs.word("mode"), attrs.int("state_size"), attrs.int("num_layers", 1)
    if mode not in GATES_OF_CUDNN or attrs.bool("use_sequence_length") or attrs.has("projection_size"):
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

    def run(k: int, x: Value, first: list[Value], reverse: bool) -> list[Value]:
        (of_input, of_state), biases = weights[k]
        return cudnn_layer(b, mode, x, of_input, of_state, biases, first, reverse)

    return recurrent_stack(b, x, layers, directions, begins, run)


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
