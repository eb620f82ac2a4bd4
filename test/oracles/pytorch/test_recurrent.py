"""LSTM, GRU and RNN layers and cells: exported, traced and scripted, against eager torch."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from io import BytesIO
from itertools import product

import numpy as np
import pytest

import lamina

torch = pytest.importorskip("torch")
nn = torch.nn
SHAPES = ((3, 4, 5), (1, 1, 5), (40, 2, 5))


class Net(nn.Module):
    """A recurrent layer, all results of it."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


class OfStates(nn.Module):
    """A recurrent layer or cell on states."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x, h, c):
        return self.layer(x, (h, c) if "LSTM" in type(self.layer).__name__ else h)


def flat(value):
    return [leaf for v in value for leaf in flat(v)] if isinstance(value, (tuple, list)) else [value]


def agree(found, expected) -> None:
    for value, wanted in zip(found if isinstance(found, tuple) else [found], flat(expected), strict=True):
        assert value.shape == wanted.shape
        np.testing.assert_allclose(value, wanted.numpy(), rtol=1e-5, atol=1e-6)


def compiled(net, x, door: str):
    if door == "exported":
        return lamina.compile(torch.export.export(net, (x,)))
    file = BytesIO()
    torch.jit.save(torch.jit.script(net) if door == "scripted" else torch.jit.trace(net, x), file)
    return lamina.compile(file.getvalue(), shapes={"x": list(x.shape)})


@pytest.mark.parametrize("door", ["exported", "scripted", "traced"])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "RNN of relu"])
def test_a_layer_computes_what_torch_computes(kind, door) -> None:
    torch.manual_seed(0)
    name, _, function = kind.partition(" of ")
    further = {"nonlinearity": function} if function else {}
    options = list(product((1, 2), (False, True), (False, True), (True, False)))
    for n, (layers, bidirectional, batch_first, bias) in enumerate(options):
        layer = getattr(nn, name)(
            5, 7, num_layers=layers, bidirectional=bidirectional, batch_first=batch_first, bias=bias, **further
        )
        net, x = Net(layer).eval(), torch.randn(SHAPES[n % len(SHAPES)])
        with torch.no_grad():
            agree(compiled(net, x, door)(x.numpy()), net(x))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"])
def test_states_are_taken_and_given(kind, bias) -> None:
    torch.manual_seed(0)
    cell = kind.endswith("Cell")
    net = OfStates(getattr(nn, kind)(5, 7, bias=bias)).eval()
    states = [torch.randn(3, 7) if cell else torch.randn(1, 3, 7) for _ in range(2)]
    inputs = (torch.randn(3, 5) if cell else torch.randn(4, 3, 5), *states)
    with torch.no_grad():
        executable = lamina.compile(torch.export.export(net, inputs))
        agree(executable(*(t.numpy() for t in inputs)), net(*inputs))
