"""Results of a program as it is, and how much of them is rounding: computed once, kept for other processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.agreement import Decided, noise_of, perturbed_runs, within
from lamina.debugging.comparison import Comparer
from lamina.debugging.states import run_state
from lamina.debugging.stored_case import savable
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.interpreters.beyond_programs import needs_machine
from lamina.interpreters.relay_reference import main_function
from lamina.ir.context import LaminaContext
from lamina.runtime.entry_names import argument_names, level_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass
class Reference:
    """A module that nobody changes, its inputs by name, and the file that what is known of it stands in."""

    module: ModuleOp
    ctx: LaminaContext
    inputs: Mapping[str, Any]
    file: Path | None
    _decided: Decided | None = None

    def results(self) -> dict[str, Any]:
        """By name: those of the oracles, of te's and tir's interpreters, or of naive loops. Raises LaminaError."""
        return self._kept("", lambda: run_state(self.module.clone(), self.ctx, self.inputs))

    def decided(self, n: int, wrong: Any, got: Any, expected: Any) -> Any:
        """Of the wrong elements of a result those that roundings decide: roundings of every op of a graph, of loops
        those of the inputs (`agreement.Decided`)."""
        if self._decided is None:
            if level_of(self.module) == "relay" and not needs_machine(self.module):
                names = list(self.results())
                self._decided = Comparer(names, noisy=self._rounded, persistent=False).decided
            else:
                self._decided = within(list(self._kept(".noise", self._noise).values()))
        return self._decided(n, wrong, got, expected)

    def _rounded(self, seed: int | None) -> list[Any]:
        """The results of a graph with the roundings of a seed."""
        return list(self._kept(f".rounded {seed}", lambda: self._precise(seed)).values())

    def _precise(self, seed: int | None) -> dict[str, Any]:
        from lamina.debugging.precise import PreciseModule

        main = main_function(self.module)
        arrays = [self.inputs[name] for name in argument_names(main, main.body.block.args)]
        found = PreciseModule(self.module, self.ctx.params, arrays).run(seed)
        return {name: r.astype(e.dtype) for r, (name, e) in zip(found, self.results().items(), strict=True)}

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
