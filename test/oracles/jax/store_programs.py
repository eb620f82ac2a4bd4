"""Writes the programs of `programs.py` as texts, with what jaxlib computes, for tests that have no jax.

    python test/oracles/jax/store_programs.py

Each is a file in `test/frontends/stablehlo/inputs/`, as `jax.export` prints it but for the paths of files, and one of
outputs. Inputs are those of `stored_inputs`, so that they need not be stored.
"""

# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "unit"))
from programs import PROGRAMS  # noqa: E402
from stored_stablehlo import FOLDER, NAMES, stored_inputs  # noqa: E402


def main() -> None:
    """Write all of them."""
    for name in NAMES:
        function, *args = PROGRAMS[name](jax, np.random.default_rng(3))
        exported = jax.export.export(jax.jit(function), platforms=["cpu"])(*args)
        text = str(exported.mlir_module()).replace(f"{Path(__file__).parent}/", "")
        leaves, tree = jax.tree_util.tree_flatten(args)
        assert len(exported.module_kept_var_idx) == len(leaves), f"{name}: all arguments are to be used"
        types = [(a.shape, a.dtype) for a in map(np.asarray, leaves)]
        outputs = jax.jit(function)(*jax.tree_util.tree_unflatten(tree, stored_inputs(types)))
        (FOLDER / f"{name}.stablehlo.mlir").write_text(text.replace(f"{Path.cwd()}/", ""), "utf-8")
        arrays = {f"{n}": np.asarray(a) for n, a in enumerate(jax.tree_util.tree_leaves(outputs))}
        np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


if __name__ == "__main__":
    main()
