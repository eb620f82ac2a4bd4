"""LSTM, GRU and SimpleRNN: one op for all steps, or op by op where a step may be left out or has another activation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.keras.activations import activated
from lamina.frontends.keras.table import Layer, layer, remade
from lamina.frontends.network import NodeBuilder
from lamina.frontends.recurrent import GATES, GATES_OF_CUDNN, recurrent_layer

_FUNCTIONS = {
    "tanh": "tanh", "sigmoid": "sigmoid", "relu": "relu", "softsign": "softsign", "linear": "affine(1.0, 0.0)",
    "hard_sigmoid": f"hard_sigmoid({1 / 6!r}, 0.5)", "hard_sigmoid_2": "hard_sigmoid(0.2, 0.5)",
}  # fmt: skip
"""The functions of relay.nn.lstm and its kin by Keras's names."""
_KINDS = {"LSTM": ("lstm", 4, 2), "GRU": ("gru", 3, 1), "SimpleRNN": ("rnn", 1, 1)}
"""The op, the gates, the states."""
_ORDERS = {"lstm": GATES_OF_CUDNN["lstm"]}
"""Places of relay's gates among Keras's: i f c o are i o f c."""
MOST_STEPS = 1024
"""Steps of a sequence that are written out op by op."""

Step: TypeAlias = "Callable[[Value, list[Value]], list[Value]]"


@layer("LSTM", "GRU", "SimpleRNN", masked=True)
def recurrent(b: NodeBuilder, layer: Layer, x: Value, *given: Any, mask: Any = None, initial_state: Any = None,
              **_: Any) -> list[Value]:  # fmt: skip
    """The output of all steps or of the last, then the states; a step that a mask leaves out changes no state."""
    kind, gates, count = _KINDS[layer.described.class_name]
    if x.rank != 3 or 0 in x.shape:
        raise b.fail(f"the input is {x}, expects sequences [batch, steps, features]")
    units = int(layer.get("units", 0))
    kernel, hidden = layer.weight("cell/kernel"), layer.weight("cell/recurrent_kernel")
    if kernel.shape != (x.shape[2], gates * units) or hidden.shape != (units, gates * units):
        raise b.fail(f"the weights {kernel} and {hidden} do not fit {units} units of {x}")
    states = initial(b, initial_state if initial_state is not None else list(given), count, (x.shape[0], units), x)
    own = mask if isinstance(mask, Value) else layer.mask_of(x)
    activations = _activations(layer, kind)
    if own is None and activations is not None:
        results = _in_one(b, layer, kind, x, kernel, hidden, states, activations)
    else:
        results = _step_by_step(b, layer, kind, x, kernel, hidden, states, own)
    return asked(b, layer, results, own)


def asked(b: NodeBuilder, layer: Layer, results: list[Value], mask: Value | None) -> list[Value]:
    """The results that a layer is to give of its outputs by step and its last states."""
    outputs, last = results[0], results[1:]
    if layer.flag("return_sequences"):
        first = b.transpose(outputs, (1, 0, *range(2, outputs.rank)))
        if mask is not None:
            b.notes[first] = mask
    else:
        first = b.reshape(b.slice(outputs, 0, outputs.shape[0] - 1, outputs.shape[0]), outputs.shape[1:])
    return [first, *last] if layer.flag("return_state") else [first]


def initial(b: NodeBuilder, given: Any, count: int, shape: tuple[int, ...], x: Value) -> list[Value]:
    """The states before the first step: zeros where the call gives none."""
    if isinstance(given, Value):
        given = [given]
    found: list[Any] = []
    for entry in cast("list[Any]", given or []):
        found += entry if isinstance(entry, list) else [entry]
    found = [f for f in found if f is not None]
    if not found:
        return [b.zeros(shape, x.dtype)] * count
    if len(found) != count or any(not isinstance(s, Value) or s.shape != shape for s in found):
        raise b.fail(f"the states before the first step are {[str(s) for s in found]}")
    return found


def _name_of(given: Any) -> str:
    """The name of an activation in a configuration, empty where it has none."""
    if given is None:
        return "linear"
    if isinstance(given, dict):
        given = cast("dict[str, Any]", given).get("config")
    return given if isinstance(given, str) else ""


def _activations(layer: Layer, kind: str) -> str | None:
    """The functions as the op names them, None where it does not know one."""
    outer = _FUNCTIONS.get(_name_of(layer.config.get("activation", "tanh")))
    gate = _FUNCTIONS.get(_name_of(layer.config.get("recurrent_activation", "sigmoid")))
    if kind == "rnn":
        return outer
    if outer is None or gate is None:
        return None
    return f"{gate}, {outer}" + (f", {outer}" if kind == "lstm" else "")


def _biases(b: NodeBuilder, layer: Layer, kind: str) -> tuple[Value, Value] | None:
    """The biases of the product with the input and of that with the state, in Keras's order of gates."""
    bias = layer.some_weight("cell/bias")
    if bias is None:
        return None
    if bias.rank == 2:
        first, second = b.ops("split", bias, indices_or_sections=2, axis=0)
        return b.reshape(first, bias.shape[1:]), b.reshape(second, bias.shape[1:])
    return bias, b.zeros(bias.shape, bias.dtype)


def _in_one(b: NodeBuilder, layer: Layer, kind: str, x: Value, kernel: Value, hidden: Value, states: list[Value],
            activations: str) -> list[Value]:  # fmt: skip
    """The outputs by step and the last states, by one op."""

    order = _ORDERS.get(kind, tuple(range(GATES[kind])))

    def ordered(v: Value, turned: bool = False) -> Value:
        """A weight with relay's order of gates in its last axis, which comes first where it is turned."""

        def by_ops(v: Value) -> Value:
            parts = b.ops("split", v, indices_or_sections=len(order), axis=v.rank - 1)
            found = b.op("concatenate", *(parts[k] for k in order), axis=v.rank - 1)
            return b.transpose(found, (1, 0)) if turned else found

        def as_array(a: Any) -> Any:
            parts = np.split(a, len(order), axis=-1)
            found = np.concatenate([parts[k] for k in order], axis=-1)
            return found.T if turned else found

        return remade(b, v, as_array, by_ops)

    biases = _biases(b, layer, kind)
    way = layer.flag("go_backwards")
    results = recurrent_layer(
        b, kind, b.transpose(x, (1, 0, 2)), ordered(kernel, True), ordered(hidden, True),
        None if biases is None else (ordered(biases[0]), ordered(biases[1])), states,
        late=kind == "gru" and layer.flag("reset_after"), activations=activations, reverse=way,
    )  # fmt: skip
    # Keras gives the outputs of a layer that goes backwards in the order in which they were computed.
    return [b.op("reverse", results[0], axis=0), *results[1:]] if way else results


def _step_by_step(b: NodeBuilder, layer: Layer, kind: str, x: Value, kernel: Value, hidden: Value,
                  states: list[Value], mask: Value | None) -> list[Value]:  # fmt: skip
    """The same op by op."""
    from lamina.frontends.keras.convert_core import product

    projected = product(b, x, kernel)
    biases = _biases(b, layer, kind)
    if biases is not None:
        projected = b.op("nn.bias_add", projected, biases[0], axis=2)
    step = _step_of(b, layer, kind, hidden, None if biases is None else biases[1])
    return by_steps(b, layer, projected, step, states, mask)


def by_steps(
    b: NodeBuilder, layer: Layer, x: Value, step: Step, states: list[Value], mask: Value | None
) -> list[Value]:
    """The outputs of all steps of x [batch, steps, ...], along a new first axis, and the last states.

    A step that a mask leaves out changes no state.
    """
    batch, steps, *rest = x.shape
    if steps > MOST_STEPS:
        raise b.unsupported(f"{steps} steps of this layer are not supported, {MOST_STEPS} are")
    order = list(range(steps))
    if layer.flag("go_backwards"):
        order.reverse()
    there = None if mask is None else b.cast(mask, "bool")
    outputs: list[Value] = []
    for t in order:
        made = step(b.reshape(b.slice(x, 1, t, t + 1), (batch, *rest)), states)
        output = made[0]
        if there is not None:
            now = b.reshape(b.slice(there, 1, t, t + 1), (batch, *[1] * (output.rank - 1)))
            made = [b.choose(now, new, old) for new, old in zip(made, states, strict=True)]
            output = b.choose(now, output, 0.0) if layer.flag("zero_output_for_mask") else made[0]
        states = made
        outputs.append(output)
    return [b.op("stack", *outputs, axis=0), *states]


def _step_of(b: NodeBuilder, layer: Layer, kind: str, hidden: Value, bias: Value | None) -> Step:
    """One step: the new states from what the input gives and the states before."""
    from lamina.frontends.keras.convert_core import product

    outer, gate = layer.config.get("activation", "tanh"), layer.config.get("recurrent_activation", "sigmoid")

    def with_bias(y: Value, own: Value | None) -> Value:
        return y if own is None else b.op("nn.bias_add", y, own, axis=1)

    def parts(v: Value, count: int) -> Sequence[Value]:
        return b.ops("split", v, indices_or_sections=count, axis=v.rank - 1)

    def simple(x: Value, states: list[Value]) -> list[Value]:
        return [activated(b, b.add(x, product(b, states[0], hidden)), outer)]

    def lstm(x: Value, states: list[Value]) -> list[Value]:
        i, f, c, o = parts(b.add(x, product(b, states[0], hidden)), 4)
        cell = b.add(b.mul(activated(b, f, gate), states[1]), b.mul(activated(b, i, gate), activated(b, c, outer)))
        return [b.mul(activated(b, o, gate), activated(b, cell, outer)), cell]

    def gru(x: Value, states: list[Value]) -> list[Value]:
        (h,) = states
        xz, xr, xn = parts(x, 3)
        if layer.flag("reset_after"):
            hz, hr, hn = parts(with_bias(product(b, h, hidden), bias), 3)
            z, reset = activated(b, b.add(xz, hz), gate), activated(b, b.add(xr, hr), gate)
            inner = b.mul(reset, hn)
        else:
            rz, rr, rn = parts(hidden, 3)
            z = activated(b, b.add(xz, product(b, h, rz)), gate)
            reset = activated(b, b.add(xr, product(b, h, rr)), gate)
            inner = product(b, b.mul(reset, h), rn)
        new = activated(b, b.add(xn, inner), outer)
        return [b.add(b.mul(z, h), b.mul(b.sub(b.tensor(1.0, z.dtype), z), new))]

    return {"rnn": simple, "lstm": lstm, "gru": gru}[kind]
