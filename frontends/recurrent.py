"""Recurrent layers of files: the products with the input for all steps at once, then one op for the steps."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.frontends.builder import RelayBuilder, Value

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
"""The gates of relay.nn.<kind>, in its order: z r n of a gru, i o f c of an lstm."""


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


def rows(b: RelayBuilder, v: Value, first: int, last: int) -> Value:
    """The rows [first, last) of a tensor."""
    return b.op("strided_slice", v, begin=[first], end=[last], strides=[1], axes=[0])
