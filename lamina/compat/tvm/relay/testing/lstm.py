"""An LSTM, its cell called as often as there are steps."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay


def lstm_cell(num_hidden: int, batch_size: int = 1, dtype: str = "float32", name: str = "") -> Any:
    """A step: of the input, the two states, and the weights and biases of both products, (output, (hidden, cell))."""
    state = relay.TensorType((batch_size, num_hidden), dtype)
    matrix, vector = (relay.TensorType((4 * num_hidden, *more), dtype) for more in ((num_hidden,), ()))
    inputs = relay.Var("inputs", state)
    states = relay.Var("states", relay.TupleType([state, state]))
    i2h, i2h_bias = relay.Var("i2h_weight", matrix), relay.Var("i2h_bias", vector)
    h2h, h2h_bias = relay.Var("h2h_weight", matrix), relay.Var("h2h_bias", vector)
    sums = relay.nn.bias_add(relay.nn.dense(inputs, i2h, units=4 * num_hidden), i2h_bias, axis=-1)
    sums = sums + relay.nn.bias_add(
        relay.nn.dense(relay.TupleGetItem(states, 0), h2h, units=4 * num_hidden), h2h_bias, axis=-1
    )
    gates = relay.split(sums, indices_or_sections=4, axis=1)
    entering, kept, leaving = (relay.sigmoid(gates[n]) for n in (0, 1, 3))
    cell = kept * relay.TupleGetItem(states, 1) + entering * relay.tanh(gates[2])
    hidden = leaving * relay.tanh(cell)
    body = relay.Tuple([hidden, relay.Tuple([hidden, cell])])
    result = relay.TupleType([state, relay.TupleType([state, state])])
    return relay.Function([inputs, states, i2h, i2h_bias, h2h, h2h_bias], body, result)


def get_net(iterations: int, num_hidden: int, batch_size: int = 1, dtype: str = "float32") -> Any:
    """So many steps from states of zeros, each on `data`; what the last one gives."""
    state = relay.TensorType((batch_size, num_hidden), dtype)
    matrix, vector = (relay.TensorType((4 * num_hidden, *more), dtype) for more in ((num_hidden,), ()))
    builder = relay.ScopeBuilder()
    cell = builder.let("lstm_cell", lstm_cell(num_hidden, batch_size, dtype))
    zeros = builder.let("zeros", relay.zeros((batch_size, num_hidden), dtype))
    states: Any = relay.Tuple([zeros, zeros])
    data = relay.Var("data", state)
    params, out = [data], data
    for n in range(iterations):
        weights = [
            relay.Var(f"{w}_{'weight' if t is matrix else 'bias'}" + (f"_{n}" if n else ""), t)
            for w in ("i2h", "h2h")
            for t in (matrix, vector)
        ]
        params += weights
        found = builder.let(f"step_{n}", relay.Call(cell, [data, states, *weights]))
        out, states = relay.TupleGetItem(found, 0), relay.TupleGetItem(found, 1)
    builder.ret(out)
    return relay.Function(params, builder.get(), state)


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
