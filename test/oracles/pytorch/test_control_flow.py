"""`torch.cond`, `while_loop`, `scan`, `map` and regions under a mode, through both doors, against eager torch."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import lamina.torch
from lamina.errors import LaminaError

torch = pytest.importorskip("torch")
nn = torch.nn
ops = pytest.importorskip("torch._higher_order_ops")

pytestmark = pytest.mark.usefixtures("fresh")


class Model(nn.Module):
    """A function of a linear layer and inputs."""

    def __init__(self, function: Callable, width: int = 4) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.function = function

    def forward(self, *inputs):
        return self.function(self.linear, *inputs)


def chosen(linear, x):
    return torch.cond(x.sum() > 0, lambda x: linear(x).sin(), lambda x: x - 1, (x,))


def of_integers(linear, x):
    return torch.cond((x > 0).any(), lambda x: (x * 2, x > 1), lambda x: (x - 1, x < 0), (x,))


def counted(linear, n, x):
    return ops.while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, linear(x).tanh()), (n, x))


def known(linear, x):
    begin = torch.zeros((), dtype=torch.int64)
    return ops.while_loop(lambda k, x: k < 5, lambda k, x: (k + 1, linear(x).sin()), (begin, x))


def nested(linear, x, n):
    def trip(k, x):
        return k + 1, torch.cond(x.sum() > 0, lambda x: linear(x) * 0.5 - 1, lambda x: x.cos() + 1, (x,))

    begin = torch.zeros((), dtype=torch.int64)
    return ops.while_loop(lambda k, x: (k < n) & (x.abs().max() < 50), trip, (begin, x))


def scanned(linear, h, x):
    return ops.scan(lambda h, row: (torch.tanh(linear(h) + row), h * 2), h, x, dim=1)


def backwards(linear, h, x):
    return ops.scan(lambda h, row: (torch.tanh(linear(h) + row), h * 2), h, x, dim=1, reverse=True)


def mapped(linear, x, y):
    return ops.map(lambda row, y: (linear(row).sin() @ y, (row > 0).sum()), x, y)


def in_place_without_gradients(linear, x):
    y = x * 2
    with torch.no_grad():
        y.add_(1)
        z = linear(y).relu()
        with torch.enable_grad():
            z = z + 1
    return y + z, y


def randn(*shape: int):
    return torch.randn(*shape)


CASES = {
    "a choice": (chosen, lambda: [randn(3, 4)]),
    "a choice of several results": (of_integers, lambda: [torch.randint(-3, 3, (3, 4))]),
    "a loop": (counted, lambda: [torch.randint(0, 6, ()), randn(2, 4)]),
    "a loop whose trips are known": (known, lambda: [randn(2, 4)]),
    "a choice in a loop": (nested, lambda: [randn(3, 4), torch.randint(0, 9, ())]),
    "a short scan": (scanned, lambda: [randn(2, 4), randn(2, 5, 4)]),
    "a long scan": (scanned, lambda: [randn(2, 4), randn(2, 1500, 4)]),
    "a scan backwards": (backwards, lambda: [randn(2, 4), randn(2, 5, 4)]),
    "a short map": (mapped, lambda: [randn(5, 3, 4), randn(4, 2)]),
    "a long map": (mapped, lambda: [randn(1100, 3, 4), randn(4, 2)]),
    "no gradients": (in_place_without_gradients, lambda: [randn(3, 4)]),
}


def agree(found, expected) -> None:
    found = found if isinstance(found, tuple) else (found,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for value, wanted in zip(found, expected, strict=True):
        wanted = wanted.detach().numpy()
        assert value.dtype == wanted.dtype and value.shape == wanted.shape
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("decomposed", [False, True])
def test_an_exported_program_computes_what_torch_computes(case, decomposed) -> None:
    function, draw = CASES[case]
    model = Model(function).eval()
    with torch.no_grad():
        program = torch.export.export(model, tuple(draw()))
        if decomposed:
            program = program.run_decompositions({})
        executable = lamina.compile(program)
        for _ in range(4):
            inputs = draw()
            agree(executable(*(x.numpy() for x in inputs)), model(*inputs))


@pytest.mark.parametrize("case", CASES)
def test_a_compiled_model_computes_what_torch_computes(case) -> None:
    function, draw = CASES[case]
    model = Model(function).eval()
    compiled = torch.compile(model, backend="lamina")
    with torch.no_grad():
        for _ in range(4):
            inputs = draw()
            found = compiled(*(x.clone() for x in inputs))
            found = found if isinstance(found, tuple) else (found,)
            agree(tuple(f.numpy() for f in found), model(*inputs))


def test_a_choice_is_compiled_and_not_left_to_torch() -> None:
    with torch.no_grad():
        text = str(lamina.torch.explain(Model(chosen).eval(), randn(3, 4)))
    assert "0 eager" in text, text


def test_random_numbers_in_a_choice_are_refused() -> None:
    def drawn(linear, x):
        return torch.cond(x.sum() > 0, lambda x: x + torch.rand_like(x), lambda x: x + 1, (x,))

    program = torch.export.export(Model(drawn).eval(), (randn(3),))
    with pytest.raises(LaminaError, match="draws random numbers"):
        lamina.compile(program)


def test_casts_of_autocast_are_in_the_decomposed_program() -> None:
    def cast(linear, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return linear(x)

    x = randn(3, 4)
    model = Model(cast).eval()
    with torch.no_grad():
        program = torch.export.export(model, (x,))
        with pytest.raises(LaminaError, match="run_decompositions"):
            lamina.compile(program)
        (found,) = (lamina.compile(program.run_decompositions({}))(x.numpy()),)
        wanted = model(x).float().numpy()
    np.testing.assert_allclose(np.asarray(found, np.float32), wanted, rtol=2**-7, atol=2**-7)


def test_bodies_of_types_without_a_program_stay_eager_alone() -> None:
    def program(x, z):
        kept = torch.cond(x.sum() > 0, lambda z: z.clone(), lambda z: z.clone(), (z,))
        return torch.relu(x) @ x, kept

    x = torch.randn(4, 4)
    z = x.to(torch.complex32)
    explained = lamina.torch.explain(program, x, z)
    assert "higher_order.cond" in [e.target for e in explained.eager] and explained.programs == 1, str(explained)
    found, expected = torch.compile(program, backend="lamina")(x, z), program(x, z)
    assert (found[0] - expected[0]).abs().max() < 1e-5 and torch.equal(
        found[1].to(torch.complex64), expected[1].to(torch.complex64)
    )
