"""`mx.model.load_checkpoint`: the two files of a checkpoint as a symbol and its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lamina.compat.tvm.nd import NDArray, array
from lamina.frontends.companion import path_of, text_of
from lamina.frontends.mxnet.arrays import arrays_at
from lamina.frontends.mxnet.reader import read_symbol


@dataclass(frozen=True)
class LoadedSymbol:
    """A symbol as its file has it; it can be compiled, and not be changed."""

    text: str

    def tojson(self) -> str:
        """The JSON of the graph."""
        return self.text

    def list_arguments(self) -> list[str]:
        """The names of its variables: inputs and weights, also those that change in training only."""
        return [p.name for p in read_symbol(self.text, "symbol").inputs]


def load_checkpoint(prefix: str, epoch: int) -> tuple[LoadedSymbol, dict[str, NDArray], dict[str, NDArray]]:
    """The symbol `prefix-symbol.json`, and the arrays of `prefix-0000.params`: arguments, and auxiliary states.

    Raises LaminaError for files that are not there or damaged.
    """
    symbol = LoadedSymbol(text_of(path_of(f"{prefix}-symbol.json", "weights")))
    arrays = arrays_at(path_of(Path(f"{prefix}-{epoch:04d}.params"), "symbol"))
    kinds: dict[str, dict[str, NDArray]] = {"arg": {}, "aux": {}}
    for name, values in arrays.items():
        kind, _, short = name.partition(":")
        kinds[kind if kind in kinds else "arg"][short or name] = array(values)
    return symbol, kinds["arg"], kinds["aux"]
