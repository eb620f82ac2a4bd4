"""A case on disk: a folder with `model.onnx` or `program.mlir`, `inputs.npz` by input, and `case.json`.

case.json   {"seed": 7, "kind": "layout", "pair": "opt level 0 against 3", "outcome": {"kind": "mismatch", ...}}
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lamina.debugging.outcome import Outcome
from lamina.errors import InputError

MODEL, PROGRAM, INPUTS, FACTS = "model.onnx", "program.mlir", "inputs.npz", "case.json"


@dataclass
class StoredCase:
    """A program, its inputs by name, and where it comes from."""

    program: bytes
    """An ONNX file, or a module as UTF-8 text where `is_onnx` is false."""
    is_onnx: bool
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seed: int | None = None
    kind: str = ""
    """The name of the generator."""
    pair: str = ""
    """The two ways that are compared."""
    outcome: Outcome | None = None
    ranges: Mapping[str, str] = field(default_factory=dict[str, str])
    """The ranges of extents that are names in the program; the inputs are of one size."""

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write the folder; the path of the program in it."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        program = path / (MODEL if self.is_onnx else PROGRAM)
        program.write_bytes(self.program)
        np.savez(path / INPUTS, **{name: savable(np.asarray(a)) for name, a in self.inputs.items()})
        self.write_facts(path)
        return program

    def write_facts(self, folder: str | os.PathLike[str]) -> None:
        """Write what is known of the case by now; its program and inputs are in the folder already."""
        facts = {
            "seed": self.seed,
            "kind": self.kind,
            "pair": self.pair,
            "outcome": self.outcome.json() if self.outcome is not None else None,
            "ranges": dict(self.ranges),
            "dtypes": {name: str(np.asarray(a).dtype) for name, a in self.inputs.items()},
        }
        (Path(folder) / FACTS).write_text(json.dumps(facts, indent=1) + "\n", "utf-8")

    @staticmethod
    def read(folder: str | os.PathLike[str]) -> StoredCase:
        """The case of a folder. Raises InputError where it is none."""
        path = Path(folder)
        try:
            facts = json.loads((path / FACTS).read_text("utf-8"))
            is_onnx = (path / MODEL).is_file()
            program = (path / (MODEL if is_onnx else PROGRAM)).read_bytes()
            with np.load(path / INPUTS, allow_pickle=False) as stored:
                inputs = {name: stored[name].view(np.dtype(facts["dtypes"][name])) for name in stored.files}
            outcome = Outcome.of_json(facts["outcome"]) if facts["outcome"] is not None else None
            ranges = facts.get("ranges", {})
            return StoredCase(program, is_onnx, inputs, facts["seed"], facts["kind"], facts["pair"], outcome, ranges)
        except (OSError, ValueError, KeyError, TypeError) as e:
            hint = f"a case is a folder with {MODEL} or {PROGRAM}, {INPUTS} and {FACTS}"
            raise InputError(f"no case: {e}", where=str(path), hint=hint) from e


def savable(array: Any) -> Any:
    """The array in a type that .npy files know: bfloat16 and its kin are stored as their bits."""
    return array if array.dtype.kind in "biufcSU" else array.view(f"u{array.dtype.itemsize}")
