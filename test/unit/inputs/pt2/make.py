"""Writes `net.pt2` beside this file, a network of several kinds of layers, and some programs of one kind.

python test/unit/inputs/pt2/make.py     needs torch; `NAME.json` gets inputs and what torch makes of them
"""

# pyright: basic, reportMissingImports=false

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop

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


if __name__ == "__main__":
    main()
