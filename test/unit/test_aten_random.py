"""Graphs of ATen's that draw random numbers: the key that their program takes, what is refused without it."""

from __future__ import annotations

import numpy as np
import pytest

import lamina
from lamina.errors import UnsupportedError
from lamina.frontends.aten.fx_text import read_graph
from lamina.frontends.aten.importer import RANDOM_KEY, import_graph, refused_calls
from lamina.interpreters.relay_reference import main_function, run_relay

TEXT = """
def forward(self, x: "f32[64, 50]"):
    kept: "f32[64, 50]" = torch.ops.aten.bernoulli.p(x, 0.25)
    noise: "f32[64, 50]" = torch.ops.aten.randn_like.default(x)
    places: "i64[64, 3]" = torch.ops.aten.multinomial.default(kept, 3, True)
    return (kept, noise, places)
"""


def key(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**63, 10, np.uint64)


def test_a_key_is_the_last_input_and_decides_all_numbers() -> None:
    imported = import_graph(read_graph(TEXT, "net"), draws=True)
    assert [p.name for p in imported.inputs] == ["x", RANDOM_KEY]
    exe = lamina.compile(imported, threads=1, cache=False)
    x = np.zeros((64, 50), np.float32)
    first, again, other = (exe(x, key(seed)) for seed in (1, 1, 2))
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)
    kept, noise, places = first
    assert np.unique(kept).tolist() == [0.0, 1.0] and abs(kept.mean() - 0.25) < 0.03
    assert abs(noise.mean()) < 0.06 and abs(noise.std() - 1) < 0.05
    assert abs(np.corrcoef(kept.ravel(), noise.ravel())[0, 1]) < 0.06
    assert (np.take_along_axis(kept, places, 1) == 1).all()
    for have, want in zip(first, run_relay(main_function(imported.module), [x, key(1)], imported.store), strict=True):
        np.testing.assert_allclose(have, np.asarray(want), rtol=1e-4, atol=1e-6)


def test_without_a_key_it_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"aten.bernoulli.p: draws random numbers; call eval\(\)"):
        import_graph(read_graph(TEXT, "net"))
    assert set(refused_calls(read_graph(TEXT, "net"))) == {"kept", "noise", "places"}
    assert not refused_calls(read_graph(TEXT, "net"), draws=True)


def test_a_program_that_draws_nothing_takes_no_key() -> None:
    text = TEXT.replace("bernoulli.p(x, 0.25)", "relu.default(x)").replace("randn_like", "exp")
    text = text.replace("multinomial.default(kept, 3, True)", "argmax.default(x)").replace("i64[64, 3]", "i64[]")
    assert [p.name for p in import_graph(read_graph(text, "net"), draws=True).inputs] == ["x"]
