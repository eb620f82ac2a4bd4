"""Writes `net.pt2` beside this file: a small network of several kinds of layers, weights and results.

python test/unit/inputs/pt2/make.py     needs torch; `net.json` gets an input and what torch makes of it
"""

# pyright: basic, reportMissingImports=false

import json
from pathlib import Path

import torch
from torch import nn

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
    torch.export.save(program, FOLDER / "net.pt2")
    with torch.no_grad():
        results = net(x)
    data = {"x": x.flatten().tolist(), "results": [r.flatten().tolist() for r in results]}
    (FOLDER / "net.json").write_text(json.dumps(data) + "\n")


if __name__ == "__main__":
    main()
