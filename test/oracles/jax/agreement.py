"""What the tests of this folder share: programs as JAX exports them, run by Lamina and by jaxlib."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path

import numpy as np

import lamina


def exported_text(jax, function, args) -> tuple[str, list[int]]:
    """The text of a function for arguments like these, and which of their leaves it takes."""
    exported = jax.export.export(jax.jit(function), platforms=["cpu"])(*args)
    return str(exported.mlir_module()), list(exported.module_kept_var_idx)


def agree(jax, folder: Path, function, *args, tolerance: float = 1e-5, **options) -> None:
    """Check that a function gives what jaxlib gives, within a tolerance relative to the largest element."""
    text, kept = exported_text(jax, function, args)
    path = folder / "program.stablehlo.mlir"
    path.write_text(text, "utf-8")
    leaves = jax.tree_util.tree_leaves(args)
    executable = lamina.compile(path, cache=False, **options)
    found = executable(*(np.asarray(leaves[n]) for n in kept))
    expected = jax.tree_util.tree_leaves(jax.jit(function)(*args))
    results = list(found) if isinstance(found, tuple) else [found]
    assert len(results) == len(expected)
    for n, (have, want) in enumerate(zip(results, map(np.asarray, expected), strict=True)):
        assert have.shape == want.shape and have.dtype == want.dtype, f"result {n}: {have.dtype}{have.shape}"
        near(np.asarray(have), want, tolerance, f"result {n}")


def near(have: np.ndarray, want: np.ndarray, tolerance: float, what: str) -> None:
    """Check two arrays: integers are equal, floats differ by at most the tolerance times the largest one."""
    if want.dtype.kind in "iub":
        np.testing.assert_array_equal(have, want, err_msg=what)
        return
    have, want = have.astype(np.float64), want.astype(np.float64)
    assert (np.isfinite(have) == np.isfinite(want)).all(), what
    finite = np.isfinite(want)
    np.testing.assert_array_equal(have[~finite], want[~finite], err_msg=what)
    largest = np.abs(want[finite]).max(initial=0.0)
    difference = np.abs(have[finite] - want[finite]).max(initial=0.0)
    assert difference <= tolerance * max(largest, 1e-30), f"{what}: {difference} of {largest}"
