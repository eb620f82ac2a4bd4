"""Exported programs with open extents, in memory and saved, against eager torch at sizes of all kinds."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import math

import numpy as np
import pytest

import lamina
from lamina.errors import LaminaError

torch = pytest.importorskip("torch")
nn, F, Dim = torch.nn, torch.nn.functional, torch.export.Dim


class Decoder(nn.Module):
    """Causal attention by a mask that is cut to the length, and the words of the last place."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 32), nn.Embedding(64, 32)
        self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)
        self.register_buffer("before", torch.tril(torch.ones(64, 64)).view(1, 1, 64, 64))

    def forward(self, ids):
        count, length = ids.shape
        x = self.words(ids) + self.places(torch.arange(length))
        q, k, v = self.qkv(self.norm(x)).split(32, dim=2)
        q, k, v = (a.view(count, length, 4, 8).transpose(1, 2) for a in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(8))
        scores = scores.masked_fill(self.before[:, :, :length, :length] == 0, float("-inf"))
        y = (F.softmax(scores, -1) @ v).transpose(1, 2).contiguous().view(count, length, 32)
        x = x + self.out(y)
        return x[:, [-1], :], (x @ self.words.weight.T).argmax(-1)


class Rows(nn.Module):
    """Reductions, sums along and parts of rows that are open."""

    def forward(self, x):
        length = x.size(1)
        later = torch.triu(torch.full((length, length), float("-inf")), 1)
        mixed = torch.softmax(x @ x.transpose(1, 2) + later, -1) @ x
        return (
            mixed,
            torch.cumsum(x, 1),
            x.var(1),
            x.std(dim=(1, 2)),
            torch.cat([x.roll(2, 1), x.roll(-1, 1).flip(1)], 1),
            x[:, ::2],
            x.amax(1),
        )


class Signals(nn.Module):
    """Convolutions, normalisation of groups, pools and padding along an open axis."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv1d(4, 8, 3, padding=1), nn.GroupNorm(2, 8)

    def forward(self, x, lengths):
        y = F.gelu(self.norm(self.conv(x)))
        y = y * (torch.arange(x.shape[-1])[None, :] < lengths[:, None])[:, None, :]
        means = y.sum(-1) / lengths[:, None]
        return means, y.reshape(x.shape[0], -1), F.pad(y, (1, 2)), y.permute(2, 0, 1).flatten(1), F.avg_pool1d(y, 2)


class Images(nn.Module):
    """Strided and grouped convolutions, pools, and the mean over all places."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16)
        self.grouped, self.last, self.classes = (
            nn.Conv2d(16, 16, 3, 1, 1, groups=16),
            nn.Conv2d(16, 24, 1),
            nn.Linear(24, 10),
        )

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 3, 2, 1)
        y = F.silu(self.last(F.hardswish(self.grouped(x))))
        return self.classes(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1)), y


def words(count, length):
    return (torch.randint(0, 50, (count, length)),)


def signals(count, length):
    return torch.randn(count, 4, length), torch.randint(1, length, (count,))


CASES = {
    "decoder": (Decoder, words, ({0: Dim.AUTO, 1: Dim.AUTO},), [(2, 7), (1, 63), (3, 33)]),
    "layer": (
        lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
        lambda count, length: (torch.randn(count, length, 16),),
        ({0: Dim.AUTO, 1: Dim.AUTO},),
        [(3, 7), (2, 100), (9, 4)],
    ),
    "rows": (Rows, lambda n, m: (torch.randn(n, m, 6),), ({0: Dim.AUTO, 1: Dim.AUTO},), [(2, 7), (1, 64), (3, 33)]),
    "signals": (Signals, signals, ({0: Dim.AUTO, 2: Dim.AUTO}, {0: Dim.AUTO}), [(2, 7), (1, 64), (3, 33)]),
    "images": (
        Images,
        lambda n, h, w: (torch.randn(n, 3, h, w),),
        ({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},),
        [(2, 32, 40), (1, 65, 33), (2, 17, 96)],
    ),
}


@pytest.mark.parametrize("door", ["memory", "file"])
@pytest.mark.parametrize("name", CASES)
def test_one_program_computes_what_torch_does(name, door, tmp_path):
    make, inputs, dims, sizes = CASES[name]
    torch.manual_seed(0)
    net = make().eval()
    program = torch.export.export(net, inputs(*sizes[0]), dynamic_shapes=dims)
    if door == "file":
        torch.export.save(program, str(tmp_path / "net.pt2"))
    exe = lamina.compile(program if door == "memory" else tmp_path / "net.pt2", threads=1, cache=False)
    for at in sizes:
        given = inputs(*at)
        with torch.no_grad():
            expected = net(*given)
        expected = expected if isinstance(expected, tuple) else (expected,)
        found = exe(*(t.numpy() for t in given))
        found = found if isinstance(found, (tuple, list)) else [found]
        for value, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.asarray(value), wanted.numpy(), rtol=1e-4, atol=1e-5, err_msg=f"{name} {at}")


def test_ranges_are_for_programs_in_memory_too():
    program = torch.export.export(Rows(), (torch.randn(2, 7, 6),), dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},))
    assert lamina.load(program, {"x": [3, 9, 6]}).inputs[0].shape == (3, 9, 6)
    with pytest.raises(LaminaError, match="rank 3"):
        lamina.load(program, {"x": [3, 9]})


class Step(nn.Module):
    """A step of attention over the rows of before and its own."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, past_keys, past_values):
        count, length, _ = x.shape
        q, k, v = (a.view(count, length, 2, 8).transpose(1, 2) for a in self.qkv(x).split(16, 2))
        keys, values = torch.cat([past_keys, k], 2), torch.cat([past_values, v], 2)
        y = F.scaled_dot_product_attention(q, keys, values).transpose(1, 2).reshape(count, length, 16)
        return self.out(y), keys, values


def test_the_past_of_an_exported_step_grows_in_a_session(tmp_path):
    net, past = Step().eval(), {2: Dim("past", min=0, max=200)}
    given = torch.randn(2, 3, 16), torch.randn(2, 2, 5, 8), torch.randn(2, 2, 5, 8)
    program = torch.export.export(net, given, dynamic_shapes=({1: Dim("length", min=2, max=64)}, past, past))
    torch.export.save(program, str(tmp_path / "step.pt2"))
    states = {"past_keys": "output_1", "past_values": "output_2"}
    exe = lamina.compile(tmp_path / "step.pt2", threads=1, cache=False, states=states)
    session, keys, values = exe.session(capacity=64), torch.zeros(2, 2, 0, 8), torch.zeros(2, 2, 0, 8)
    for length in (4, 3, 2, 7):
        x = torch.randn(2, length, 16)
        with torch.no_grad():
            y, keys, values = net(x, keys, values)
        np.testing.assert_allclose(session.run({"x": x.numpy()})["output_0"], y.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(session.state["past_keys"], keys.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [lambda x: (7, 2 * x.shape[3]), lambda x: (6, 3 * x.shape[3])], ids=["odd", "whole"])
def test_one_axis_of_an_image_is_open_and_the_other_is_resized_too(size):
    class Resized(nn.Module):
        def forward(self, x):
            return F.interpolate(x, size=size(x), mode="nearest")

    net = Resized()
    program = torch.export.export(net, (torch.randn(1, 2, 3, 5),), dynamic_shapes=({3: Dim.AUTO},))
    try:
        exe = lamina.compile(program, threads=1, cache=False)
    except LaminaError as e:
        assert "counts with" in str(e)
        return
    for width in (5, 8, 31):
        x = torch.randn(1, 2, 3, width)
        np.testing.assert_array_equal(np.asarray(exe(x.numpy())), net(x).numpy())
