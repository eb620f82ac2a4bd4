"""`--run @main --input x.npz --output y.npz`: a module of any level, executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from lamina.errors import InputError
from lamina.ir.context import LaminaContext

if TYPE_CHECKING:
    import numpy as np


def execute(module: ModuleOp, ctx: LaminaContext, entry: str, inputs: str | None, output: str | None) -> str:
    """Run the function and return its results as text; with `output` also saved as npz."""
    import numpy as np

    from lamina.driver.execute import run_module
    from lamina.ir.array_files import read_arrays, write_arrays
    from lamina.vm.values import value_text

    arrays = read_arrays(inputs) if inputs is not None else {}
    if not isinstance(arrays, dict):
        raise InputError("an npy file does not name its array", where=inputs or "", hint="save it with numpy.savez")
    results: dict[str, Any] = run_module(module, ctx, entry.removeprefix("@"), arrays)
    if output is not None:
        # A tuple, or what a constructor made, is no array.
        write_arrays(output, {n: v for n, v in results.items() if hasattr(v, "dtype")})
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
