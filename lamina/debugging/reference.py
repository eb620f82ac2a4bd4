"""Results of a program as it is, and how much of them is rounding: computed once, kept for other processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.agreement import Decided, noise_of, perturbed_runs, within
from lamina.debugging.comparison import Comparer
from lamina.debugging.states import run_state
from lamina.debugging.stored_case import savable
from lamina.dialects.entry_names import argument_names, level_of
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.interpreters.beyond_programs import needs_machine
from lamina.interpreters.relay_reference import main_function
from lamina.ir.context import LaminaContext

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.debugging.precise import PreciseModule


@dataclass
class Reference:
    """A module that nobody changes, its inputs by name, and the file that what is known of it stands in."""

    module: ModuleOp
    ctx: LaminaContext
    inputs: Mapping[str, Any]
    file: Path | None

    def results(self) -> dict[str, Any]:
        """By name: those of the oracles, of te's and tir's interpreters, or of naive loops. Raises LaminaError."""
        return self._kept("", lambda: run_state(self.module.clone(), self.ctx, self.inputs))

    @cached_property
    def decided(self) -> Decided:
        """Tells which elements roundings decide: roundings of every op of a graph, of loops those of the inputs."""
        if level_of(self.module) != "relay" or needs_machine(self.module):
            return within(list(self._kept(".noise", self._noise).values()))
        return Comparer(list(self.results()), noisy=self._rounded, persistent=False).decided

    def _rounded(self, seed: int | None) -> list[Any]:
        """The results of a graph with the roundings of a seed."""

        def compute() -> dict[str, Any]:
            found = zip(self._precise.run(seed), self.results().items(), strict=True)
            return {name: r.astype(e.dtype) for r, (name, e) in found}

        return list(self._kept(f".rounded {seed}", compute).values())

    @cached_property
    def _precise(self) -> PreciseModule:
        from lamina.debugging.precise import PreciseModule

        main = main_function(self.module)
        arrays = [self.inputs[name] for name in argument_names(main, main.body.block.args)]
        return PreciseModule(self.module, self.ctx.params, arrays)

    def _noise(self) -> dict[str, Any]:
        expected = self.results()
        runs = perturbed_runs(
            lambda moved: run_state(self.module.clone(), self.ctx, moved), self.inputs, list(expected.values())
        )
        return dict(zip(expected, noise_of(runs), strict=True))

    def _kept(self, part: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Arrays by name, from a file where they have been computed before."""
        file = self.file.with_suffix(f"{part}.npz") if self.file is not None else None
        if file is not None and file.is_file():
            with np.load(file, allow_pickle=False) as stored:
                facts = enumerate(zip(map(str, stored["names"]), map(str, stored["dtypes"]), strict=True))
                return {name: stored[f"array {n}"].view(numpy_dtype(dtype)) for n, (name, dtype) in facts}
        found = compute()
        if file is not None and all(isinstance(a, np.ndarray) for a in found.values()):
            arrays = {f"array {n}": savable(a) for n, a in enumerate(found.values())}
            whole = file.with_suffix(f".{os.getpid()}.npz")
            np.savez(whole, names=list(found), dtypes=[str(a.dtype) for a in found.values()], **arrays)
            whole.replace(file)  # this process may be ended while it writes
        return found
