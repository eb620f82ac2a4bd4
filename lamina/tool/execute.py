"""`--run @main --input x.npz --output y.npz`: a module of any level, executed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from lamina.context import LaminaContext
from lamina.errors import InputError

if TYPE_CHECKING:
    import numpy as np


def execute(module: ModuleOp, ctx: LaminaContext, entry: str, inputs: str | None, output: str | None) -> str:
    """Run the function and return its results as text; with `output` also saved as npz."""
    import numpy as np

    from lamina.runtime.execute import run_module
    from lamina.runtime.vm_values import value_text

    arrays = _load(inputs) if inputs is not None else {}
    results: dict[str, Any] = run_module(module, ctx, entry.removeprefix("@"), arrays)
    if output is not None:
        try:
            # A tuple, or what a constructor made, is no array.
            arrays = {n: v for n, v in results.items() if hasattr(v, "dtype")}
            np.savez(output, allow_pickle=False, **arrays)
        except OSError as e:
            raise InputError(f"cannot write: {e.strerror}", where=output) from e
    lines: list[str] = []
    for name, found in results.items():
        if not hasattr(found, "dtype"):
            lines.append(f"{name}: {value_text(found)}")
            continue
        value: np.ndarray[Any, Any] = np.asarray(found)
        shape = ", ".join(map(str, value.shape))
        lines.append(f"{name}: {value.dtype}[{shape}]")
        lines.append(np.array2string(value, threshold=64, precision=6, separator=", "))
    return "\n".join(lines) + "\n"


def _load(path: str) -> dict[str, np.ndarray[Any, Any]]:
    from zipfile import is_zipfile

    import numpy as np

    if not Path(path).is_file():
        raise InputError("no such file", where=path, hint="--input takes arrays saved by numpy.savez")
    if not is_zipfile(path):
        raise InputError("not an npz file", where=path, hint="save the arrays with numpy.savez")
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError) as e:
        raise InputError(f"not an npz file of plain arrays: {e}", where=path) from e
