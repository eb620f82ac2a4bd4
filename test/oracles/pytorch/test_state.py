"""Buffers that models change, as the state of a session: scripts, traces and exported programs against eager torch."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import copy

import numpy as np
import pytest

import lamina
from lamina.errors import UnsupportedError

torch = pytest.importorskip("torch")
nn = torch.nn

pytestmark = pytest.mark.usefixtures("fresh")


class Stream(nn.Module):
    """A causal convolution over time that keeps its last inputs, shifted in place."""

    def __init__(self, channels: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, kernel)
        self.register_buffer("cache", torch.randn(1, channels, kernel - 1))

    def forward(self, x):
        y = torch.cat([self.cache, x], 2)
        self.cache.copy_(y[:, :, y.size(2) - self.cache.size(2) :])
        return torch.relu(self.conv(y))


class Streams(nn.Module):
    """Streams one after the other, a mean over all calls, a ring that is written at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(Stream(8, 3), Stream(8, 5))
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("sum", torch.zeros(8))
        self.register_buffer("ring", torch.arange(12.0).reshape(4, 3))

    def forward(self, x):
        y = self.layers(x)
        self.count += 1
        self.sum.add_(y.mean((0, 2)))
        self.ring[:-1] = self.ring[1:].clone()
        self.ring[-1].copy_(y[0, :3, 0])
        return y + (self.sum / self.count)[:, None], self.ring.sum(1)


class Mean(nn.Module):
    """A norm in training, whose statistics change without a call in place."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(x), x * 2


def scripted(net, x, path):
    torch.jit.script(net).save(str(path))
    return path


def traced(net, x, path):
    made = torch.jit.trace(copy.deepcopy(net), x, check_trace=False)
    made.load_state_dict(net.state_dict())  # which tracing has changed
    made.save(str(path))
    return path


def exported(net, x, path):
    return torch.export.export(net, (x,))


def decomposed(net, x, path):
    return exported(net, x, path).run_decompositions({})


def checked(program, net, shape, calls: int = 6) -> None:
    session = lamina.compile(
        program, shapes={"x": list(shape)} if not hasattr(program, "graph_module") else None
    ).session()
    for _ in range(calls):
        x = torch.randn(shape)
        with torch.no_grad():
            expected = net(x)
        for value, wanted in zip(session(x.numpy()), expected, strict=False):
            np.testing.assert_allclose(np.asarray(value), wanted.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("way", [scripted, traced, exported, decomposed])
@pytest.mark.parametrize("shape", [(1, 8, 7), (1, 8, 160)])
def test_buffers_that_are_changed_in_place(way, shape, tmp_path) -> None:
    net = Streams().eval()
    program = way(copy.deepcopy(net), torch.randn(shape), tmp_path / "net.pt")
    checked(program, net, shape)


def test_a_norm_in_training_keeps_its_statistics(tmp_path) -> None:
    net = Mean()
    checked(decomposed(copy.deepcopy(net), torch.randn(5, 8), tmp_path), net, (5, 8))


@pytest.mark.parametrize("both", [False, True])
def test_buffers_in_one_memory_are_refused(both, tmp_path) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("counts", torch.zeros(3))
            self.register_buffer("count", self.counts[:1])

        def forward(self, x):
            self.counts.add_(1)
            if both:
                self.count.mul_(2)
            return x + self.count, self.counts

    with pytest.raises(UnsupportedError, match="counts? is changed, and shares its memory with count"):
        lamina.load(exported(Tied(), torch.randn(2), tmp_path))


def test_buffers_too_large_for_a_text_are_refused(tmp_path) -> None:
    class Large(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.randn(600, 600))

        def forward(self, x):
            self.table.add_(1)
            return (x + self.table[0, 0],)

    with pytest.raises(UnsupportedError, match="the initial value of 'table' has 1440000 bytes"):
        lamina.load(exported(Large(), torch.randn(2), tmp_path))
