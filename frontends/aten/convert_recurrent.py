"""Recurrent layers and their cells in floats: of several layers, in one direction or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value
from lamina.frontends.recurrent import GATES_OF_CUDNN, cudnn_layer, recurrent_stack


def _direction(
    b: AtenBuilder, mode: str, x: Value, weights: Sequence[Value | None], states: Sequence[Value], reverse: bool
) -> list[Value]:
    """The outputs by step and the last states, of matrices for x [T, N, I] and for states [N, H], and biases."""
    hidden = states[0].shape[1]
    of_input, of_state, *biases = weights
    if of_input is None or of_state is None or of_state.shape != (len(GATES_OF_CUDNN[mode]) * hidden, hidden):
        raise b.unsupported("layers that project their states are not supported", "leave out proj_size")
    first, second = biases if len(biases) == 2 else (None, None)
    both = None if first is None or second is None else (first, second)
    return cudnn_layer(b, mode, x, of_input, of_state, both, states, reverse)


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

    def run(k: int, x: Value, states: list[Value], reverse: bool) -> list[Value]:
        return _direction(b, mode, x, params[k * each : (k + 1) * each], states, reverse)

    y, *ends = recurrent_stack(b, data, num_layers, ways, hx, run)
    return b.transpose(y, (1, 0, 2)) if batch_first else y, *ends


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
