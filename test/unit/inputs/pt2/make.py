"""Writes `net.pt2` beside this file, a network of several kinds of layers, and some programs of one kind.

python test/unit/inputs/pt2/make.py     needs torch; `NAME.json` gets inputs and what torch makes of them
"""

# pyright: basic, reportMissingImports=false

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch.export import Dim

FOLDER = Path(__file__).parent


class Net(nn.Module):
    """Convolution, batch norm, a linear layer on a view of a weight, several results."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.linear = nn.Linear(4, 3)
        self.register_buffer("shift", torch.arange(3).float())

    def forward(self, x):
        y = torch.relu_(self.norm(self.conv(x)))
        z = self.linear(y.mean((2, 3))) + self.shift
        top, place = torch.max(z, 1)
        return torch.softmax(z, -1), top, place, z.double().sum()


class Control(nn.Module):
    """A scan, and a loop with a choice in it as often as an input says."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(3, 3)

    def forward(self, x, n):
        last, rows = scan(lambda h, row: (torch.tanh(self.cell(h) + row), h * 2), x[0], x)

        def trip(k, y):
            return k - 1, torch.cond(y.sum() > 0, lambda y: self.cell(y) - 1, lambda y: y.cos() + 1, (y,))

        k, y = while_loop(lambda k, y: k > 0, trip, (n, last))
        return y, k, rows


class Region(nn.Module):
    """A layer without gradients, which is a graph in the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(3, 3)

    def forward(self, x, n):
        with torch.no_grad():
            y = self.cell(x)
        return y * n, y + 1


class Recurrent(nn.Module):
    """Recurrent layers of each kind, which torch.export keeps as calls of one operator."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
        self.gru = nn.GRU(8, 3, batch_first=True)
        self.rnn = nn.RNN(3, 2, nonlinearity="relu", bias=False)

    def forward(self, x, n):
        y, (h, c) = self.lstm(x.reshape(2, 2, 3) * n)
        z, last = self.gru(y)
        return h, c, last, *self.rnn(z)


class Kept(nn.Module):
    """A sum and a mean that are kept in buffers, one of them changed in a region and by a part."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("total", torch.ones(3))

    def forward(self, x, n):
        y = torch.nn.functional.batch_norm(x * n, self.norm.running_mean, self.norm.running_var)
        with torch.no_grad():
            self.total += x.sum(0)
            self.norm.running_mean[1:].mul_(0.5)
        return y + self.total, self.total * n


class OpenSequences(nn.Module):
    """A step of attention in each spelling, on any number of sequences of any length up to 40."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30, 8), nn.Embedding(40, 8)
        self.projection, self.layer = nn.Linear(8, 24), nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)

    def forward(self, ids, lengths):
        count, length = ids.shape
        x = self.words(ids % 30) + self.places(torch.arange(length))
        q, k, v = (a.view(count, length, 2, 4).transpose(1, 2) for a in self.projection(x).split(8, dim=2))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = self.layer(x + y.transpose(1, 2).reshape(count, length, 8))
        seen = torch.arange(length)[None, :] < lengths[:, None]
        later = torch.triu(torch.full((length, length), float("-inf")), 1)
        mixed = torch.softmax(x @ x.transpose(1, 2) + later, -1) @ x
        mean = (y * seen[:, :, None]).sum(1) / lengths[:, None]
        rows = torch.cat([x[:, 1:], y], 1).flatten(0, 1)
        return y[:, [-1, 0], :], mean, mixed.var(1), rows, y.new_ones(length + 1) * count


class OpenImages(nn.Module):
    """Convolutions on any number of images of any even size: strides, pools, and back to the size of before."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.deep = nn.Conv2d(2, 6, 3, padding=1), nn.Conv2d(6, 8, 3, stride=2, padding=1)
        self.norm, self.up = nn.BatchNorm2d(8), nn.ConvTranspose2d(8, 6, 2, stride=2)
        self.last = nn.Conv2d(12, 3, 1)

    def forward(self, x):
        wide = torch.relu(self.first(x))
        deep = torch.nn.functional.silu(self.norm(self.deep(wide)))
        near = torch.nn.functional.interpolate(deep, scale_factor=2, mode="nearest")
        both = self.last(torch.cat([wide, self.up(deep)], 1))
        pooled = torch.nn.functional.max_pool2d(wide, 2)
        return both, pooled + deep[:, :6], torch.nn.functional.adaptive_avg_pool2d(near, 1).flatten(1)


def saved(program: torch.export.ExportedProgram, name: str) -> None:
    """Write a program; where files lie on this machine is taken out of its stacks."""
    made = BytesIO()
    torch.export.save(program, made)
    with ZipFile(made) as old, ZipFile(FOLDER / name, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            for folder in (FOLDER, Path(str(torch.__file__)).parent.parent):
                data = data.replace(f"{folder}/".encode(), b"/")
            new.writestr(info, data)


def numbered(net: nn.Module, name: str) -> None:
    """Write a program, and what it makes of a tensor and several numbers."""
    x = torch.randn(4, 3)
    program = torch.export.export(net.eval(), (x, torch.tensor(1)))
    saved(program, f"{name}.pt2")
    if isinstance(net, Kept):
        # Before a call changes the buffers, which the program shares.
        saved(program.run_decompositions({}), f"{name}_functional.pt2")
    numbers = [0, 1, 5]
    results = [[r.detach().flatten().tolist() for r in net(x, torch.tensor(n))] for n in numbers]
    data = {"x": x.flatten().tolist(), "numbers": numbers, "results": results}
    (FOLDER / f"{name}.json").write_text(json.dumps(data) + "\n")


def drawn(*shape: int) -> np.ndarray:
    """Numbers between -1 and 1 that a test makes again."""
    return np.sin(np.arange(np.prod(shape)) * 0.7).astype(np.float32).reshape(shape)


def ids_of(count: int, length: int) -> tuple[np.ndarray, ...]:
    """Words, and how many of each row count."""
    return np.arange(count * length).reshape(count, length) * 7 % 30, np.arange(count) % length + 1


def opened(net: nn.Module, name: str, dims: dict, sizes: list, inputs) -> None:
    """Write a program whose extents are open, and what it makes of inputs of several sizes."""
    net.eval()
    program = torch.export.export(net, tuple(map(torch.from_numpy, inputs(*sizes[0]))), dynamic_shapes=dims)
    saved(program, f"{name}.pt2")
    with torch.no_grad():
        results = [[r.flatten().tolist() for r in net(*map(torch.from_numpy, inputs(*s)))] for s in sizes[1:]]
    rounded = [[[round(v, 6) for v in r] for r in found] for found in results]
    (FOLDER / f"{name}.json").write_text(json.dumps({"sizes": sizes[1:], "results": rounded}) + "\n")


def open_programs() -> None:
    """The programs whose extents are open."""
    torch.manual_seed(1)
    count, length = Dim("count"), Dim("length", min=3, max=40)
    dims = {"ids": {0: count, 1: length}, "lengths": {0: count}}
    opened(OpenSequences(), "open_sequences", dims, [[2, 7], [1, 3], [3, 40], [4, 17]], ids_of)
    height, width = (2 * Dim(name, min=2, max=400) for name in ("height", "width"))
    net = OpenImages()
    net.norm.running_mean.normal_(0, 0.1)
    sizes = [[2, 3, 4], [3, 2, 7], [5, 9, 3]]
    opened(net, "open_images", {"x": {0: Dim.AUTO, 2: height, 3: width}}, sizes,
           lambda n, h, w: (drawn(n, 2, 2 * h, 2 * w),))  # fmt: skip


def main() -> None:
    torch.manual_seed(0)
    net = Net().eval()
    net.norm.running_mean.normal_(0, 0.1)
    net.norm.running_var.uniform_(0.5, 1.5)
    with torch.no_grad():
        # A weight whose elements do not lie in order.
        net.linear.weight = nn.Parameter(torch.randn(4, 3).t())
    x = torch.randn(2, 2, 4, 4)
    program = torch.export.export(net, (x,))
    saved(program, "net.pt2")
    with torch.no_grad():
        results = net(x)
    data = {"x": x.flatten().tolist(), "results": [r.flatten().tolist() for r in results]}
    (FOLDER / "net.json").write_text(json.dumps(data) + "\n")
    numbered(Control(), "control")
    numbered(Region(), "region")
    numbered(Recurrent(), "recurrent")
    numbered(Kept(), "kept")
    open_programs()


if __name__ == "__main__":
    main()
