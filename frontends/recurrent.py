"""Recurrent layers of files: the products with the input for all steps at once, then one op for the steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamina.frontends.builder import RelayBuilder, Value
from lamina.frontends.tensor_builder import TensorBuilder

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
"""The gates of relay.nn.<kind>, in its order: z r n of a gru, i o f c of an lstm."""
GATES_OF_CUDNN = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_tanh": (0,), "rnn_relu": (0,)}
"""The places of relay's gates in a mode of cuDNN's, which torch and MXNet have: i f g o of an lstm, r z n of a gru."""
_FUNCTIONS_OF_CUDNN = {"lstm": "sigmoid, tanh, tanh", "gru": "sigmoid, tanh", "rnn_tanh": "tanh", "rnn_relu": "relu"}


def recurrent_layer(
    b: RelayBuilder, kind: str, x: Value, w: Value, r: Value, biases: tuple[Value, Value] | None,
    states: Sequence[Value], rest: Sequence[Value] = (), *, late: bool = False, activations: str,
    reverse: bool = False, clip: float = 0.0, input_forget: bool = False, peephole: bool = False,
    lengths: bool = False,
) -> list[Value]:  # fmt: skip
    """The outputs by step [T, B, H] and the last of each state, of a layer `kind` in one direction.

    x is [T, B, I], w [G H, I], r [G H, H], the biases of both products [G H]. `rest` are the peephole weights [3, H]
    and the lengths, where there are some. With `late` the reset gate of a gru scales its product, bias included.
    """
    steps, batch, width = x.shape
    hidden, gates = r.shape[1], GATES[kind]
    inner: list[Value] = []
    projected = b.contraction("nn.dense", b.reshape(x, (steps * batch, width)), w, units=gates * hidden)
    if biases is not None:
        of_w, of_r = biases
        if late:
            # The bias of the product that the reset gate scales stays behind that product.
            inner = [rows(b, of_r, 2 * hidden, 3 * hidden)]
            none = b.op("full", b.scalar(0, of_r), shape=[hidden], dtype=of_r.dtype)
            of_r = b.op("concatenate", rows(b, of_r, 0, 2 * hidden), none, axis=0)
        projected = b.op("nn.bias_add", projected, b.op("add", of_w, of_r), axis=1)
    elif late:
        inner = [b.op("full", b.scalar(0, x), shape=[hidden], dtype=x.dtype)]
    attrs: dict[str, object] = {"activations": activations, "reverse": reverse, "clip": clip, "lengths": lengths}
    weights = [b.reshape(r, (gates, hidden, hidden))]
    if kind == "gru":
        weights = [b.reshape(rows(b, r, first * hidden, last * hidden), (last - first, hidden, hidden))
                   for first, last in ((0, 2), (2, 3))]  # fmt: skip
        attrs["linear_before_reset"] = late
    if kind == "lstm":
        attrs |= {"input_forget": input_forget, "peephole": peephole}
    return b.ops(
        f"nn.{kind}", b.reshape(projected, (steps, batch, gates * hidden)), *weights, *states, *inner, *rest, **attrs
    )


def cudnn_layer(
    b: RelayBuilder, mode: str, x: Value, w: Value, r: Value, biases: tuple[Value, Value] | None,
    states: Sequence[Value], reverse: bool,
) -> list[Value]:  # fmt: skip
    """`recurrent_layer` of weights in cuDNN's order of gates; the reset gate scales the product with the state."""
    order, hidden = GATES_OF_CUDNN[mode], r.shape[1]

    def ordered(v: Value) -> Value:
        return v if len(order) == 1 else joined(b, [rows(b, v, g * hidden, (g + 1) * hidden) for g in order], 0)

    return recurrent_layer(
        b, mode.partition("_")[0], x, ordered(w), ordered(r),
        None if biases is None else (ordered(biases[0]), ordered(biases[1])), states,
        late=mode == "gru", activations=_FUNCTIONS_OF_CUDNN[mode], reverse=reverse,
    )  # fmt: skip


def recurrent_stack(
    b: TensorBuilder, x: Value, layers: int, ways: int, states: Sequence[Value],
    run: Callable[[int, Value, list[Value], bool], Sequence[Value]],
) -> list[Value]:  # fmt: skip
    """The output [T, B, ways * H] of layers, each on what the one before gives, and the last states.

    x is [T, B, I], each of the states [layers * ways, B, H], the weights of both ways of a layer side by side. `run`
    gives the output and the last states of the k-th weights, from x, first states [B, H] and whether it goes backwards.
    """
    lasts: list[list[Value]] = [[] for _ in states]
    for layer in range(layers):
        sides: list[Value] = []
        for k in range(layer * ways, (layer + 1) * ways):
            first = [b.reshape(b.slice(s, 0, k, k + 1), s.shape[1:]) for s in states]
            made, *ends = run(k, x, first, k % ways == 1)
            sides.append(made)
            for found, end in zip(lasts, ends, strict=True):
                found.append(b.op("expand_dims", end, axis=0))
        x = joined(b, sides, 2)
    return [x, *(joined(b, found, 0) for found in lasts)]


def joined(b: RelayBuilder, parts: Sequence[Value], axis: int) -> Value:
    """Tensors one after the other along an axis."""
    return parts[0] if len(parts) == 1 else b.op("concatenate", *parts, axis=axis)


def rows(b: RelayBuilder, v: Value, first: int, last: int) -> Value:
    """The rows [first, last) of a tensor."""
    return b.op("strided_slice", v, begin=[first], end=[last], strides=[1], axes=[0])
