"""Tensor intrinsics of the tree, found by name: `backends/cpu/intrinsics/bf16_dot_16x2.mlir` is `@cpu.bf16_dot_16x2`.

A text file holds one te.tensor_intrin of that name. A Python file makes a family of them: `fma_tile.py` with
`PARAMETERS = "MxNxK"` and `declare(numbers) -> te.tensor_intrin` stands for `@cpu.fma_tile_14x32x64` and the like.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.parser import Parser

from lamina.errors import InternalError

if TYPE_CHECKING:
    from lamina.dialects.te.tensor_intrin import TensorIntrinOp

ROOT = Path(__file__).parents[1]
_FAMILY = re.compile(r"(\w+)_(\d+(?:x\d+)*)")
_PARAMETERS = re.compile(r'^PARAMETERS = "(\w+)"$', re.M)


def intrinsic_files() -> dict[str, Path]:
    """The file of each intrinsic; a family is named with its parameters: `cpu.fma_tile_MxNxK`."""
    found: dict[str, Path] = {}
    for folder in sorted((ROOT / "backends").glob("*/intrinsics")):
        backend = folder.parent.name
        for path in sorted(folder.glob("*.mlir")):
            found[f"{backend}.{path.stem}"] = path
        for path in sorted(folder.glob("*.py")):
            parameters = _PARAMETERS.search(path.read_text("utf-8"))
            if parameters is not None:
                found[f"{backend}.{path.stem}_{parameters[1]}"] = path
    return found


def find_intrinsic(name: str, context: Context) -> TensorIntrinOp | None:
    """The declaration of a name; None where there is none.

    Raises ValueError for parameters that a family does not have.
    """
    from lamina.dialects.te.tensor_intrin import TensorIntrinOp

    files = intrinsic_files()
    path = files.get(name)
    if path is not None and path.suffix == ".mlir":
        module = Parser(context, path.read_text("utf-8"), str(path)).parse_module()
        module.verify()
        declarations = [op for op in module.ops if isinstance(op, TensorIntrinOp)]
        if [op.sym_name.data for op in declarations] != [name]:
            raise InternalError(f"{path} does not hold @{name} alone")
        declarations[0].detach()
        return declarations[0]
    backend, _, rest = name.partition(".")
    family = _FAMILY.fullmatch(rest)
    if family is None:
        return None
    numbers = [int(n) for n in family[2].split("x")]
    for known, file in files.items():
        stem = f"{backend}.{family[1]}_"
        if file.suffix == ".py" and known.startswith(stem) and known.removeprefix(stem).count("x") == len(numbers) - 1:
            made: TensorIntrinOp = import_module(f"lamina.backends.{backend}.intrinsics.{file.stem}").declare(numbers)
            made.verify()
            return made
    return None
