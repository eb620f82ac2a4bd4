"""Writes scripts beside this file, and what torch makes of inputs in `results.json`, and by call in files
named like scripts that keep something.

python test/unit/inputs/torchscript/make.py     needs torch
"""

# pyright: basic, reportMissingImports=false

import copy
import json
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

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


class Keeping(nn.Module):
    """A recurrent cell whose state, last input and counts are kept from call to call; no state is an empty tensor."""

    state: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.state = torch.zeros(0)
        self.last_rate = 0
        self.register_buffer("total", torch.ones(3))

    def forward(self, x, rate: int):
        if self.last_rate and self.last_rate != rate:
            self.state = torch.zeros(0)
        if len(self.state):
            h, c = self.cell(x, (self.state[0], self.state[1]))
        else:
            h, c = self.cell(x)
        self.state = torch.stack([h, c])
        self.total = self.total + x.sum(0)
        self.last_rate = rate
        return h * rate + self.total.mean()


class Growing(nn.Module):
    """Rows that grow with each call."""

    rows: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.rows = torch.zeros(0, 3)

    def forward(self, x):
        self.rows = torch.cat([self.rows, x])
        return self.rows.sum(0)


class Beginning(nn.Module):
    """A mean that begins with the first input, and so with no number that is known before."""

    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(0)

    def forward(self, x):
        self.mean = 0.5 * (self.mean + x) if len(self.mean) else x * 1
        return self.mean * 2


class Started(nn.Module):
    """Another factor in the first call, which a flag tells."""

    def __init__(self) -> None:
        super().__init__()
        self.started = False

    def forward(self, x):
        y = x * 3 if self.started else x * 2
        self.started = True
        return y


class Warming(nn.Module):
    """A second call that differs from the first and from all later ones."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x):
        y = x * 3 if self.calls == 1 else x * 2
        self.calls = min(self.calls + 1, 2)
        return y


class Filter(nn.Module):
    """A filter over time whose last inputs are kept in a buffer, in place, by parts and as a whole."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 3)
        self.register_buffer("cache", torch.ones(1, 2, 2))
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        y = torch.cat([self.cache, x], 2)
        self.cache.copy_(y[:, :, -2:])
        self.cache[:, 0].mul_(0.5)
        self.count += 1
        return self.conv(y) + self.count


class Caching(nn.Module):
    """Two filters, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Filter()
        self.second = Filter()

    def forward(self, x):
        return self.second(self.first(x))


class Tied(nn.Module):
    """A buffer that is changed, and another one in its memory."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("counts", torch.zeros(3))
        self.register_buffer("count", self.counts[:1])

    def forward(self, x):
        self.counts += 1
        return x + self.count


class Listed(nn.Module):
    """A tensor that is changed, of no module."""

    def forward(self, x):
        return x + CONSTANT.add_(1)


CONSTANT = torch.zeros(3)


class Looking(nn.Module):
    """A choice by a number that was written through a part of its tensor."""

    def forward(self, x):
        numbers = torch.zeros(3)
        part = numbers[1:]
        part += 1.0
        if float(numbers[1]) > 0.5:
            return x * 2
        return x * 3


def saved(script: torch.jit.ScriptModule, name: str) -> None:
    """Write a script without what tells where its source lay on this machine."""
    made = BytesIO()
    torch.jit.save(script, made)
    with ZipFile(made) as old, ZipFile(FOLDER / name, "w") as new:
        for info in old.infolist():
            if not info.filename.endswith(".debug_pkl"):
                new.writestr(info, old.read(info))


def keeping() -> None:
    """Write scripts that keep something."""
    for kind in (Growing, Beginning, Started, Warming, Tied, Looking):
        saved(torch.jit.script(kind()), f"{kind.__name__.lower()}.pt")
    saved(torch.jit.trace(Listed(), torch.randn(2, 3), check_trace=False), "listed.pt")
    called(torch.jit.script(Keeping().eval()), "keeping", (2, 3), 3)
    caching = Caching().eval()
    traced = torch.jit.trace(copy.deepcopy(caching), torch.randn(1, 2, 5), check_trace=False)
    traced.load_state_dict(caching.state_dict())  # which tracing has changed
    saved(traced, "caching_traced.pt")
    called(torch.jit.script(caching), "caching", (1, 2, 5))


def operators() -> None:
    """Write the code that the tests with torch have one by one (`test_scripts.py`), as a script and as a trace."""
    sys.path.insert(0, str(FOLDER.parents[2] / "oracles" / "pytorch"))
    from test_scripts import BODIES, TRACED, X, method_of, net_of

    x = torch.tensor(X)
    for name, bodies in (("operators", BODIES.strip().split("\n")), ("operators_traced", TRACED)):
        methods = [method_of(body, f"of_{k}") for k, body in enumerate(bodies)]
        methods.append(method_of(f"return {', '.join(f'self.of_{k}(x)' for k in range(len(bodies)))}"))
        with TemporaryDirectory() as folder:
            net = net_of("\n".join(methods), Path(folder) / "code_of_a_net.py")
            saved(torch.jit.trace(net, x) if bodies is TRACED else torch.jit.script(net), f"{name}.pt")
        numbers = [[str(r.dtype).removeprefix("torch."), *r.flatten().tolist()] for r in net(x)]
        data = {"bodies": bodies, "x": X, "results": numbers}
        (FOLDER / f"{name}.json").write_text(json.dumps(data) + "\n")


def called(script: torch.jit.ScriptModule, name: str, shape: tuple[int, ...], *further: int) -> None:
    """Write a script, and what five calls of it give."""
    saved(script, f"{name}.pt")
    calls = [torch.randn(shape) for _ in range(5)]
    with torch.no_grad():
        results = [script(x, *further).flatten().tolist() for x in calls]
    data = {"calls": [x.flatten().tolist() for x in calls], "results": results}
    (FOLDER / f"{name}.json").write_text(json.dumps(data) + "\n")


def main() -> None:
    operators()
    torch.manual_seed(0)
    net = Net().eval()
    for layer in net.layers:
        layer.norm.running_mean.normal_(0, 0.1)
        layer.norm.running_var.uniform_(0.5, 1.5)
    x = torch.randn(2, 3, 5, 4)
    saved(torch.jit.trace(net, x), "traced.pt")
    saved(torch.jit.script(net), "scripted.pt")
    torch.save(net.state_dict(), FOLDER / "weights.pt")
    with torch.no_grad():
        results = net(x)
    data = {"x": x.flatten().tolist(), "results": [r.flatten().tolist() for r in results]}
    (FOLDER / "results.json").write_text(json.dumps(data) + "\n")
    keeping()


if __name__ == "__main__":
    main()
