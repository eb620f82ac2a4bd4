"""Recurrent layers and their cells in floats: of several layers, in one direction or both.

torch has the gates as i f g o and r z n (torch.nn.LSTM, torch.nn.GRU), relay.nn.lstm and relay.nn.gru as i o f g and
z r n; torch's reset gate scales the product with the state, its bias included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_shape import cat, stack
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value
from lamina.frontends.recurrent import recurrent_layer, rows

_ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2)}
"""The places of relay's gates among torch's."""
_FUNCTIONS = {"lstm": "sigmoid, tanh, tanh", "gru": "sigmoid, tanh", "rnn_tanh": "tanh", "rnn_relu": "relu"}


def _direction(
    b: AtenBuilder, mode: str, x: Value, weights: Sequence[Value | None], states: Sequence[Value], reverse: bool
) -> list[Value]:
    """The outputs by step and the last states, of matrices for x [T, N, I] and for states [N, H], and biases."""
    hidden = states[0].shape[1]
    order = _ORDER.get(mode, (0,))

    def ordered(v: Value) -> Value:
        return v if len(order) == 1 else cat(b, [rows(b, v, g * hidden, (g + 1) * hidden) for g in order])

    of_input, of_state, *biases = (None if w is None else ordered(w) for w in weights)
    if of_input is None or of_state is None or of_state.shape != (len(order) * hidden, hidden):
        raise b.unsupported("layers that project their states are not supported", "leave out proj_size")
    first, second = biases if len(biases) == 2 else (None, None)
    return recurrent_layer(
        b, mode.partition("_")[0], x, of_input, of_state, None if first is None or second is None else (first, second),
        states, late=mode == "gru", activations=_FUNCTIONS[mode], reverse=reverse,
    )  # fmt: skip


def _layers(
    b: AtenBuilder, mode: str, input: Value, hx: Sequence[Value], params: Sequence[Value], has_biases: bool,
    num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> tuple[Value, ...]:  # fmt: skip
    """The output [T, N, directions * H], and the last states [layers * directions, N, H]."""
    if train and dropout and num_layers > 1:
        raise b.unsupported("dropout between recurrent layers is not supported", "call eval() on the model")
    ways, each = 2 if bidirectional else 1, 4 if has_biases else 2
    if len(params) != num_layers * ways * each:
        raise b.unsupported(f"{len(params)} weights of {num_layers} layers are not supported", "leave out proj_size")
    data = b.transpose(input, (1, 0, 2)) if batch_first else input
    if 0 in data.shape:
        raise b.unsupported(f"a sequence {data} without elements is not supported")
    last: list[list[Value]] = []
    for layer in range(num_layers):
        sides: list[Value] = []
        for way in range(ways):
            k = layer * ways + way
            states = [b.reshape(b.slice(h, 0, k, k + 1), h.shape[1:]) for h in hx]
            made, *ends = _direction(b, mode, data, params[k * each : (k + 1) * each], states, way == 1)
            sides.append(made)
            last.append(ends)
        data = cat(b, sides, 2) if ways == 2 else sides[0]
    ends = (stack(b, [states[n] for states in last]) for n in range(len(hx)))
    return b.transpose(data, (1, 0, 2)) if batch_first else data, *ends


@aten_op("lstm.input")
def lstm(
    b: AtenBuilder, input: Value, hx: Sequence[Value], params: Sequence[Value], has_biases: bool, num_layers: int,
    dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> tuple[Value, ...]:  # fmt: skip
    return _layers(
        b, "lstm", input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
    )  # fmt: skip


@aten_op("gru.input", "rnn_tanh.input", "rnn_relu.input")
def gru(
    b: AtenBuilder, input: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int,
    dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> tuple[Value, ...]:  # fmt: skip
    assert b.call is not None
    return _layers(
        b, b.call.packet, input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first
    )  # fmt: skip


@aten_op("lstm.data", "gru.data", "rnn_tanh.data", "rnn_relu.data")
def of_packed(b: AtenBuilder, data: Value, batch_sizes: Value, *_: Any) -> Value:
    raise b.unsupported("packed sequences are not supported", "give the layer a padded tensor")


@aten_op("lstm_cell")
def lstm_cell(
    b: AtenBuilder, input: Value, hx: Sequence[Value], w_ih: Value, w_hh: Value, b_ih: Value | None = None,
    b_hh: Value | None = None,
) -> tuple[Value, ...]:  # fmt: skip
    return _cell(b, "lstm", input, list(hx), [w_ih, w_hh, b_ih, b_hh])


@aten_op("gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def gru_cell(
    b: AtenBuilder, input: Value, hx: Value, w_ih: Value, w_hh: Value, b_ih: Value | None = None,
    b_hh: Value | None = None,
) -> Value:  # fmt: skip
    assert b.call is not None
    return _cell(b, b.call.packet.removesuffix("_cell"), input, [hx], [w_ih, w_hh, b_ih, b_hh])[0]


def _cell(
    b: AtenBuilder, mode: str, x: Value, states: Sequence[Value], weights: Sequence[Value | None]
) -> tuple[Value, ...]:
    """The states behind one step."""
    return tuple(_direction(b, mode, b.reshape(x, (1, *x.shape)), weights, states, False)[1:])
