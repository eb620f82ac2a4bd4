"""Torch's operators, a few samples of each, imported and run: nothing is wrong, and most are compiled wholly."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch's own samples import it")

from op_samples import MEMORY, outcomes, report  # noqa: E402


@pytest.mark.parametrize("dtype, least", [("float32", 0.94), ("int64", 0.8), ("bool", 0.8), ("uint8", 0.8)])
def test_no_sample_is_wrong_and_most_are_compiled(dtype: str, least: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcomes(getattr(torch, dtype), 3, "oracles", [])
    assert not [f"{o.name}: {o.said['wrong']}" for o in found if o.counts["wrong"] and not MEMORY.search(o.name)]
    real = [
        o
        for o in found
        if o.kind != "nothing" and (o.kind in ("same", "drawn") or o.reason not in ("complex", "decomposes matrices"))
    ]
    assert sum(o.kind in ("same", "drawn") for o in real) >= least * len(real), report(found, False)


@pytest.mark.parametrize("dtype, least", [("float32", 0.8), ("int64", 0.8), ("bool", 0.75)])
def test_no_sample_is_wrong_as_a_script(dtype: str, least: float) -> None:
    """Scripts have torch's operators before they are decomposed, their arguments without names or overloads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcomes(getattr(torch, dtype), 3, "script", [])
    assert not [f"{o.name}: {o.said['wrong']}" for o in found if o.counts["wrong"] and not MEMORY.search(o.name)]
    real = [o for o in found if o.kind != "nothing" and o.reason not in ("complex", "decomposes matrices")]
    assert sum(o.kind in ("same", "drawn") for o in real) >= least * len(real), report(found, False)


@pytest.mark.parametrize("part", range(8))
def test_machine_code_computes_what_torch_does(part: int) -> None:
    found = outcomes(torch.float32, 2, "compiled", [], part, 8)
    assert not [f"{o.name}: {o.said['wrong']}" for o in found if o.counts["wrong"] and not MEMORY.search(o.name)]
