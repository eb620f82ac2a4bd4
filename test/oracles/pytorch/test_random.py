"""What draws random numbers is compiled: distributions, seeds, and the same numbers forwards and backwards."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import pytest

import lamina.torch

torch = pytest.importorskip("torch")
nn, functional, checkpoint = torch.nn, torch.nn.functional, pytest.importorskip("torch.utils.checkpoint").checkpoint
X = torch.linspace(-2, 2, 60_000).reshape(300, 200)
DRAWN = {
    "rand": (lambda x: torch.rand_like(x), 0.5, 0.2887),
    "randn": (lambda x: torch.randn_like(x) * 2 + 1, 1.0, 2.0),
    "uniform": (lambda x: torch.empty_like(x).uniform_(-1, 3), 1.0, 1.1547),
    "normal": (lambda x: torch.empty_like(x).normal_(2, 0.5), 2.0, 0.5),
    "exponential": (lambda x: torch.empty_like(x).exponential_(2.0), 0.5, 0.5),
    "randint": (lambda x: torch.randint(3, 9, x.shape), 5.5, 1.7078),
    "bernoulli": (lambda x: torch.bernoulli(x * 0 + 0.2), 0.2, 0.4),
    "dropout": (lambda x: functional.dropout(x * 0 + 1, 0.3), 1.0, 0.6547),
    "replacement": (lambda x: torch.multinomial(x[:, :4] * 0 + torch.arange(1.0, 5.0), 200, True), 2.0, 1.0),
}


@pytest.mark.parametrize("name", DRAWN)
def test_numbers_have_their_distribution(name: str) -> None:
    function, mean, deviation = DRAWN[name]
    assert not lamina.torch.explain(function, X).eager
    compiled = torch.compile(function, backend="lamina")
    torch.manual_seed(5)
    first, second = compiled(X), compiled(X)
    assert not torch.equal(first, second)
    for y in (first, second):
        assert abs(y.double().mean() - mean) < 0.03 * deviation
        assert abs(y.double().std() - deviation) < 0.02 * deviation
    torch.manual_seed(5)
    assert torch.equal(compiled(X), first)


def test_what_is_taken_out_is_no_longer_there() -> None:
    weights = torch.tensor([1.0, 2, 3, 4]).repeat(4000, 1)
    compiled = torch.compile(lambda w: torch.multinomial(w, 2), backend="lamina")
    first, second = compiled(weights).T
    assert (first != second).all()
    for k in range(4):
        assert abs((first == k).float().mean() - (k + 1) / 10) < 0.03
        # After another has been taken out: the sum over it of its share and of the share among the rest.
        share = sum((j + 1) / 10 * (k + 1) / (9 - j) for j in range(4) if j != k)
        assert abs((second == k).float().mean() - share) < 0.03


def test_a_permutation_has_each_number_once() -> None:
    found = torch.compile(lambda x: torch.randperm(1000) + 0 * x.long().sum(), backend="lamina")(X)
    assert torch.equal(found.sort().values, torch.arange(1000)) and not torch.equal(found, torch.arange(1000))


def test_gradients_pass_where_values_were_kept() -> None:
    x = torch.ones(1000, requires_grad=True)
    y = torch.compile(lambda x: functional.dropout(x, 0.5), backend="lamina")(x)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach()) and 400 < (y == 0).sum() < 600


def test_what_is_computed_again_drops_the_same() -> None:
    def block(x):
        return functional.dropout(x.sin(), 0.5).cos() * x

    x = torch.linspace(1, 2, 1000, requires_grad=True)
    y = torch.compile(lambda x: checkpoint(block, x, use_reentrant=False), backend="lamina")(x)
    y.sum().backward()
    kept = (y - x).abs() > 1e-4
    wanted = torch.where(kept, (2 * x.sin()).cos() - x * (2 * x.sin()).sin() * 2 * x.cos(), 1.0)
    assert 400 < kept.sum() < 600
    torch.testing.assert_close(x.grad, wanted.detach())


def test_a_model_with_dropout_is_trained_as_one_program_each_way() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
    compiled, optimizer = torch.compile(layer, backend="lamina"), torch.optim.SGD(layer.parameters(), 0.3)
    x, target = torch.randn(8, 12, 32), torch.randn(8, 12, 32)
    assert not lamina.torch.explain(layer, x).eager
    losses: list[float] = []
    for _ in range(30):
        loss = functional.mse_loss(compiled(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])


def test_fractional_pools_take_the_numbers_that_they_are_given() -> None:
    x, samples = torch.randn(2, 3, 13, 17), torch.rand(2, 3, 2)

    def pool(x, samples):
        return functional.fractional_max_pool2d(x, 3, (5, 6), return_indices=True, _random_samples=samples)

    assert not lamina.torch.explain(pool, x, samples).eager
    for y, wanted in zip(torch.compile(pool, backend="lamina")(x, samples), pool(x, samples), strict=True):
        assert torch.equal(y, wanted)
