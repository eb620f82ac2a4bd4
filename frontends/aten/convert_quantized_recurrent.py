"""Recurrent layers of quantize_dynamic: their dense layers quantise data as they come, all else is float.

What depends on the input is one dense layer over the whole sequence, with one scale; each step has one of the state,
with a scale of its own, and is written out. Source: aten/src/ATen/native/RNN.cpp (QuantizedCellParamsDynamic).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_quantized_dynamic import dense
from lamina.frontends.aten.quantization import PackedCell, PackedWeights
from lamina.frontends.aten.quantized import packed, quantized
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value
from lamina.frontends.recurrent import joined, recurrent_stack

MOST_STEPS = 128
"""Steps of all layers and directions of a call."""
States = Sequence[Value]
Step = Callable[[AtenBuilder, Value, Value, States], States]


def _gates(b: AtenBuilder, x: Value, count: int) -> list[Value]:
    return b.ops("split", x, indices_or_sections=count, axis=x.rank - 1)


def _lstm(b: AtenBuilder, of_input: Value, of_state: Value, states: States) -> States:
    first, forget, cell, last = _gates(b, b.add(of_state, of_input), 4)
    kept = b.mul(b.op("sigmoid", forget), states[1])
    memory = b.add(kept, b.mul(b.op("sigmoid", first), b.op("tanh", cell)))
    return b.mul(b.op("sigmoid", last), b.op("tanh", memory)), memory


def _gru(b: AtenBuilder, of_input: Value, of_state: Value, states: States) -> States:
    mine, theirs = _gates(b, of_input, 3), _gates(b, of_state, 3)
    reset, update = (b.op("sigmoid", b.add(theirs[k], mine[k])) for k in (0, 1))
    new = b.op("tanh", b.add(mine[2], b.mul(theirs[2], reset)))
    return (b.add(b.mul(b.sub(states[0], new), update), new),)


def _simple(function: str) -> Step:
    def step(b: AtenBuilder, of_input: Value, of_state: Value, states: States) -> States:
        return (b.op(function, b.add(of_state, of_input)),)

    return step


def _dense(b: AtenBuilder, x: Value, w: PackedWeights, reduce_range: bool) -> Value:
    return dense(b, x, quantized(b, w.weight), w.bias, reduce_range)


def _run(b: AtenBuilder, x: Value, cell: PackedCell, states: States, step: Step, reverse: bool) -> list[Value]:
    """A layer in one direction over x [T, N, features]: [T, N, hidden], and the last states."""
    of_input = _dense(b, x, cell.of_input, cell.reduce_range)
    made: list[Value] = []
    for t in range(x.shape[0])[:: -1 if reverse else 1]:
        now = b.reshape(b.slice(of_input, 0, t, t + 1), of_input.shape[1:])
        states = step(b, now, _dense(b, states[0], cell.of_state, cell.reduce_range), states)
        made.append(b.op("expand_dims", states[0], axis=0))
    return [joined(b, made[::-1] if reverse else made, 0), *states]


def _layers(
    b: AtenBuilder, x: Value, hx: Sequence[Value], params: Sequence[Any], step: Step, layers: int, bidirectional: bool,
    batch_first: bool,
) -> tuple[Value, ...]:  # fmt: skip
    """All layers: the output, and the last states [layers * directions, N, hidden]."""
    ways = 2 if bidirectional else 1
    if len(params) != layers * ways or not all(isinstance(p, PackedCell) for p in params):
        raise b.fail(f"{len(params)} packed weights for {layers} layers")
    data = b.transpose(x, (1, 0, 2)) if batch_first else x
    if not 1 <= data.shape[0] * len(params) <= MOST_STEPS:
        what = f"{data.shape[0]} steps of {len(params)} quantised recurrent layers are not supported"
        raise b.unsupported(what, f"at most {MOST_STEPS} in all; keep longer ones in floats")

    def run(k: int, x: Value, states: States, reverse: bool) -> list[Value]:
        return _run(b, x, params[k], states, step, reverse)

    y, *ends = recurrent_stack(b, data, layers, ways, hx, run)
    return b.transpose(y, (1, 0, 2)) if batch_first else y, *ends


@aten_op("quantized_lstm")
def quantized_lstm(
    b: AtenBuilder, input: Value, hx: Any, params: Sequence[Any], has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool, batch_first: Any = False, dtype: Any = None, use_dynamic: bool = True,
) -> tuple[Value, ...]:  # fmt: skip
    if isinstance(hx, Value) or not use_dynamic:
        raise b.unsupported("packed sequences are not supported", "give it a tensor")
    return _layers(b, input, hx, params, _lstm, num_layers, bidirectional, batch_first)


@aten_op("quantized_gru")
def quantized_gru(
    b: AtenBuilder, input: Value, hx: Value, params: Any, has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool, batch_first: Any = False,
) -> tuple[Value, ...]:  # fmt: skip
    if isinstance(params, Value):
        raise b.unsupported("packed sequences are not supported", "give it a tensor")
    return _layers(b, input, [hx], params, _gru, num_layers, bidirectional, batch_first)


def _cell(b: AtenBuilder, x: Value, states: States, w_ih: Any, w_hh: Any, step: Step) -> States:
    of_input, of_state = (packed(b, w, "linear") for w in (w_ih, w_hh))
    return step(b, _dense(b, x, of_input, True), _dense(b, states[0], of_state, True), states)


@aten_op("quantized.quantized_lstm_cell_dynamic")
def lstm_cell(
    b: AtenBuilder, input: Value, hx: Sequence[Any], w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any
) -> tuple[Value, ...]:
    """Convert a step of an LSTM; the biases are packed with the weights."""
    return tuple(_cell(b, input, hx, w_ih, w_hh, _lstm))


@aten_op("quantized.quantized_gru_cell_dynamic", "quantized.quantized_rnn_relu_cell_dynamic",
         "quantized.quantized_rnn_tanh_cell_dynamic")  # fmt: skip
def cell(b: AtenBuilder, input: Value, hx: Value, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Value:
    """Convert a step of a GRU or of a plain recurrence; the biases are packed with the weights."""
    assert b.call is not None
    kind = b.call.packet.removeprefix("quantized.quantized_").removesuffix("_cell_dynamic")
    step = {"gru": _gru, "rnn_relu": _simple("nn.relu"), "rnn_tanh": _simple("tanh")}[kind]
    return _cell(b, input, (hx,), w_ih, w_hh, step)[0]
