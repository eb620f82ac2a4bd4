"""Writes `traced.pt` and `scripted.pt` beside this file, and what torch makes of an input in `results.json`.

python test/unit/inputs/torchscript/make.py     needs torch
"""

# pyright: basic, reportMissingImports=false

import json
from pathlib import Path

import torch
from torch import nn

FOLDER = Path(__file__).parent


class Layer(nn.Module):
    """A convolution, a norm, a residual sum in place."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        y = self.norm(self.conv(x))
        y += x
        return torch.relu_(y)


class Net(nn.Module):
    """Layers of a list, branches over sizes and flags, a list that grows."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Linear(3, 4)
        self.rounds = 2

    def forward(self, x, double: bool = False):
        found = [x]
        for layer in self.layers:
            found.append(layer(found[-1]))
        y = torch.cat(found, 1)
        if y.size(1) > 8:
            y = y[:, :6]
        for i in range(self.rounds):
            y = y * (i + 1)
        z = self.head(y.mean((2, 3)).view(x.size(0), 2, 3).sum(1))
        if double:
            z = z * 2
        top, place = torch.max(z, 1)
        return torch.softmax(z, dim=-1), top, place


def main() -> None:
    torch.manual_seed(0)
    net = Net().eval()
    for layer in net.layers:
        layer.norm.running_mean.normal_(0, 0.1)
        layer.norm.running_var.uniform_(0.5, 1.5)
    x = torch.randn(2, 3, 5, 4)
    torch.jit.trace(net, x).save(str(FOLDER / "traced.pt"))
    torch.jit.script(net).save(str(FOLDER / "scripted.pt"))
    torch.save(net.state_dict(), FOLDER / "weights.pt")
    with torch.no_grad():
        results = net(x)
    data = {"x": x.flatten().tolist(), "results": [r.flatten().tolist() for r in results]}
    (FOLDER / "results.json").write_text(json.dumps(data) + "\n")


if __name__ == "__main__":
    main()
