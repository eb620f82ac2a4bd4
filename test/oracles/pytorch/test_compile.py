"""`torch.compile(model, backend="lamina")` against eager torch: results, gradients, changed weights, what is eager."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import copy

import numpy as np
import pytest

import lamina.torch
from lamina.errors import UsageError

torch = pytest.importorskip("torch")
nn = torch.nn
functional = nn.functional

pytestmark = pytest.mark.usefixtures("fresh")


def near(found, expected, tolerance=1e-4) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert (found - expected).abs().max() <= tolerance * expected.abs().max() + 1e-6


class Block(nn.Module):
    """A convolution, attention over the pixels, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.linear = nn.Linear(8, 5)

    def forward(self, x):
        y = functional.relu(self.norm(self.conv(x))).flatten(2).transpose(1, 2)
        y = y + self.attention(y, y, y, need_weights=False)[0]
        return self.linear(y.mean(1))


@pytest.mark.parametrize("options", [{}, {"freeze": True}, {"threads": 2, "opt_level": 0}])
def test_inference_is_that_of_torch(options) -> None:
    model = Block().eval()
    model.norm.running_mean.normal_(0, 0.1)
    compiled = torch.compile(model, backend="lamina", options=options)
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(2, 3, 6, 5)
            near(compiled(x), model(x))


def test_gradients_are_those_of_torch() -> None:
    model, x = Block(), torch.randn(2, 3, 6, 5, requires_grad=True)
    twin = copy.deepcopy(model)
    compiled = torch.compile(model, backend="lamina")
    for _ in range(3):
        loss, expected = compiled(x).square().sum(), twin(x).square().sum()
        (found,) = torch.autograd.grad(loss, x, retain_graph=True)
        (wanted,) = torch.autograd.grad(expected, x, retain_graph=True)
        loss.backward()
        expected.backward()
        near(loss.detach(), expected.detach())
        near(found, wanted, 1e-3)
        for p, q in zip(model.parameters(), twin.parameters(), strict=True):
            near(p.grad, q.grad, 1e-3)
            p.grad = q.grad = None
        near(model.norm.running_mean, twin.norm.running_mean)
        near(model.norm.running_var, twin.norm.running_var)


def test_a_changed_weight_is_never_stale() -> None:
    model = nn.Sequential(nn.Linear(6, 7), nn.GELU(), nn.Linear(7, 3)).eval()
    compiled = torch.compile(model, backend="lamina")
    linear = model[0]

    def in_place():
        linear.weight.add_(0.1)

    def through_data():
        linear.weight.data.mul_(1.1)

    def load():
        model.load_state_dict({k: torch.randn_like(v) for k, v in model.state_dict().items()})

    def through_numpy():
        linear.bias.detach().numpy()[:] = np.random.default_rng(0).standard_normal(7)

    def another():
        linear.weight = nn.Parameter(torch.randn(7, 6))

    with torch.no_grad():
        ways = (in_place, through_data, load, through_numpy, another)
        for k in range(1000 * len(ways)):
            ways[k % len(ways)]()
            x = torch.randn(4, 6)
            near(compiled(x), model(x))


def test_each_shape_has_its_program() -> None:
    model = nn.Sequential(nn.Linear(6, 7), nn.ReLU()).eval()
    compiled = torch.compile(model, backend="lamina")
    with torch.no_grad():
        for rows in (4, 5, 1, 9, 5):
            x = torch.randn(rows, 6)
            near(compiled(x), model(x))


@pytest.mark.parametrize(
    "function, inputs",
    [
        (lambda a, b: torch.igamma(a.expand(3, 5) + 0 * b, b), (torch.rand(5), torch.rand(3, 5))),
        (lambda a, b: torch.igamma(a.expand(3, 5), b), (torch.rand(5), torch.rand(3, 5))),
        (lambda a, b: torch.view_as_real(torch.polar(a.abs(), b)), (torch.randn(3), torch.randn(3))),
        (lambda a, b: torch.view_as_real(torch.complex(a, b)) * 2, (torch.randn(3), torch.randn(3))),
    ],
)
def test_what_stays_eager_takes_what_is_compiled(function, inputs) -> None:
    near(torch.compile(function, backend="lamina")(*inputs), function(*inputs))


def test_what_has_no_row_stays_eager_and_is_told() -> None:
    def program(x):
        y = torch.linalg.inv(functional.relu(x) + torch.eye(4) * 5)
        return y * 2 + 1, x.to(torch.complex64).real

    x = torch.randn(4, 4)
    explained = lamina.torch.explain(program, x)
    assert explained.programs >= 1
    assert any(e.target.startswith("aten.linalg_inv") for e in explained.eager)
    assert "no converter" in str(explained) and "test_compile.py" in str(explained)
    found, expected = torch.compile(program, backend="lamina")(x), program(x)
    near(found[0], expected[0])
    near(found[1], expected[1])


def test_layouts_in_memory_do_not_matter() -> None:
    model = nn.Conv2d(4, 4, 3).eval()
    compiled = torch.compile(model, backend="lamina")
    with torch.no_grad():
        last = torch.randn(1, 4, 6, 6).to(memory_format=torch.channels_last)
        for x in (last, torch.randn(1, 6, 6, 4).permute(0, 3, 1, 2)):
            near(compiled(x), model(x))


def test_an_option_that_there_is_not_is_an_error() -> None:
    compiled = torch.compile(nn.ReLU(), backend="lamina", options={"fast": True})
    with pytest.raises((UsageError, torch._dynamo.exc.BackendCompilerFailed), match="there is no option 'fast'"):
        compiled(torch.randn(3))


def test_an_exported_program_is_compiled() -> None:
    model, x = Block().eval(), torch.randn(2, 3, 6, 5)
    with torch.no_grad():
        exe = lamina.compile(torch.export.export(model, (x,)), threads=1)
        near(torch.from_numpy(exe(x.numpy())), model(x))


class Named(nn.Module):
    """Weights of every kind, and an input whose name is like one of theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x, my_parameters_x):
        return self.linear(x) + self.shift + my_parameters_x


def test_what_is_frozen_are_weights_and_no_inputs_of_such_names() -> None:
    model = Named().eval()
    compiled = torch.compile(model, backend="lamina", options={"freeze": True})
    with torch.no_grad():
        for rows in (2, 2, 5, 7):
            x, y = torch.randn(rows, 3), torch.randn(3)
            near(compiled(x, y), model(x, y))


def test_memory_that_does_not_lie_in_order_is_read_by_torch() -> None:
    def program(x):
        return torch.as_strided(x, (3,), (2,)) * 2, torch.as_strided(x * 1, (3,), (2,)) + 1

    x = torch.arange(12.0).reshape(3, 4).t()
    for found, expected in zip(torch.compile(program, backend="lamina")(x), program(x), strict=True):
        near(found, expected)


def test_tensors_of_other_devices_stay_with_torch() -> None:
    explained = lamina.torch.explain(lambda x: x * 2 + 1, torch.randn(3, device="meta"))
    assert explained.programs == 0
