"""Parts of torch's graphs as compiled programs, called on torch's tensors without a copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lamina.driver.api import Executable, compile
from lamina.errors import UsageError
from lamina.frontends.aten.fx_graph import array_of
from lamina.frontends.aten.graph import AtenGraph
from lamina.frontends.aten.importer import RANDOM_KEY, import_graph
from lamina.torch.library import torch


@dataclass(frozen=True)
class CompileOptions:
    """The options of `torch.compile(..., backend="lamina", options={...})`."""

    freeze: bool = False
    """Whether weights are constants of the program: faster, and changes of them go unnoticed."""
    threads: int | None = None
    """torch's own number of threads where it is None."""
    opt_level: int | None = None
    target: str = "cpu"
    cache: bool = True
    sanitize: bool = False
    numerics: str | None = None

    @staticmethod
    def of(given: dict[str, Any] | None) -> CompileOptions:
        """Read what the user gives. Raises UsageError for a name that there is not."""
        known = [f.name for f in fields(CompileOptions)]
        for name in given or {}:
            if name not in known:
                raise UsageError(f"there is no option {name!r}", where="backend='lamina'", hint=", ".join(known))
        return CompileOptions(**(given or {}))


def compiled(graph: AtenGraph, options: CompileOptions) -> Callable[..., list[Any]]:
    """A function from tensors, in the order of the graph's inputs, to a list of its outputs. Raises LaminaError."""
    library = torch()
    threads = options.threads if options.threads is not None else library.get_num_threads()
    executable = compile(
        import_graph(graph, draws=True), options.target, threads=threads, opt_level=options.opt_level,
        cache=options.cache, sanitize=options.sanitize, numerics=options.numerics,
    )  # fmt: skip
    return (_Program if executable.takes_addresses else _OfArrays)(executable, library)


class _Program:
    """A compiled program as a function of tensors."""

    def __init__(self, executable: Executable, library: Any) -> None:
        self.executable = executable
        self._empty = library.empty
        self._draws = any(p.name == RANDOM_KEY for p in executable.inputs)
        self._randint = library.randint
        self._outputs = [(p.shape, getattr(library, p.dtype)) for p in executable.outputs]
        self._begin()

    def _begin(self) -> None:
        self._run = self.executable.on_addresses()

    def __call__(self, *tensors: Any) -> list[Any]:
        if self._draws:
            tensors = (*tensors, self._randint(-(2**63), 2**63 - 1, (10,)))
        given = [t if t.is_contiguous() and not t.is_neg() else t.resolve_neg().contiguous() for t in tensors]
        outputs = [self._empty(shape, dtype=dtype) for shape, dtype in self._outputs]
        self._called(given, outputs)
        return outputs

    def _called(self, given: list[Any], outputs: list[Any]) -> None:
        """Fill the outputs from tensors whose elements lie in order."""
        self._run([t.data_ptr() for t in given], [t.data_ptr() for t in outputs])


class _OfArrays(_Program):
    """A program with control flow, which takes arrays and makes new ones."""

    def _begin(self) -> None:
        pass

    def _called(self, given: list[Any], outputs: list[Any]) -> None:
        arrays = {port.name: array_of(t) for port, t in zip(self.executable.inputs, given, strict=True)}
        for output, result in zip(outputs, self.executable.run(arrays).values(), strict=True):
            np.copyto(array_of(output), result)
