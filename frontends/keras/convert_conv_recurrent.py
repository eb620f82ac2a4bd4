"""ConvLSTM: an LSTM whose products are convolutions, op by op."""

from __future__ import annotations

from typing import Any

from lamina.frontends.builder import Value
from lamina.frontends.keras.activations import activated
from lamina.frontends.keras.convert_conv import convolved
from lamina.frontends.keras.convert_recurrent import asked, by_steps, initial
from lamina.frontends.keras.table import Layer, layer
from lamina.frontends.keras.windows import channel_axis
from lamina.frontends.network import NodeBuilder


@layer("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", masked=True)
def conv_lstm(b: NodeBuilder, layer: Layer, x: Value, *given: Any, mask: Any = None, initial_state: Any = None,
              **_: Any) -> list[Value]:  # fmt: skip
    """x is [batch, steps, image]; the convolution of the state keeps the size of its image."""
    rank = int(layer.described.class_name[-2])
    if x.rank != rank + 3 or 0 in x.shape:
        raise b.fail(f"the input is {x}, expects sequences of images with {rank} axes")
    batch, steps, *image = x.shape
    hidden, axis = layer.weight("cell/recurrent_kernel"), channel_axis(layer, rank)
    folded = b.reshape(x, (batch * steps, *image))
    y = convolved(b, layer, folded, layer.weight("cell/kernel"), layer.ints("strides", rank),
                  layer.ints("dilation_rate", rank))  # fmt: skip
    bias = layer.some_weight("cell/bias")
    if bias is not None:
        y = b.op("nn.bias_add", y, bias, axis=axis)
    projected = b.reshape(y, (batch, steps, *y.shape[1:]))
    shape = [batch, *y.shape[1:]]
    shape[axis] //= 4
    outer, gate = layer.config.get("activation", "tanh"), layer.config.get("recurrent_activation", "hard_sigmoid")

    def step(now: Value, states: list[Value]) -> list[Value]:
        inner = convolved(b, layer, states[0], hidden, [1] * rank, [1] * rank, "same")
        i, f, c, o = b.ops("split", b.add(now, inner), indices_or_sections=4, axis=axis)
        cell = b.add(b.mul(activated(b, f, gate), states[1]), b.mul(activated(b, i, gate), activated(b, c, outer)))
        return [b.mul(activated(b, o, gate), activated(b, cell, outer)), cell]

    states = initial(b, initial_state if initial_state is not None else list(given), 2, tuple(shape), x)
    own = mask if isinstance(mask, Value) else layer.mask_of(x)
    return asked(b, layer, by_steps(b, layer, projected, step, states, own), own)
