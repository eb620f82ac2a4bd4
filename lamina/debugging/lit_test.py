"""The lit test of a fault: the smallest program that shows it, the one guilty pass, and what must come out.

    // RUN: lamina debug compare %s -p relay-simplify-expr | filecheck %s
    // mismatch: result 'y'[0] is 3.0, expected 4.0
    // pass relay-simplify-expr, edit simplify_expr.py:55  %y -> %x (1 of 1)
    // CHECK: all {{[0-9]+}} steps agree
    func.func @main(...) ...

It fails until the fault is mended. Written among the reproducers it is one: `opt-tool --run-reproducer FILE`.
"""

from __future__ import annotations

import json
import os
import shlex
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.bisect import Guilt
from lamina.debugging.outcome import Kind
from lamina.debugging.program import Program
from lamina.debugging.stored_case import savable
from lamina.debugging.subgraph import function_name
from lamina.debugging.verdict import How, Verdict
from lamina.errors import InputError
from lamina.ir.reproducer import FOLDER, MARK

if TYPE_CHECKING:
    from collections.abc import Mapping

INPUTS = "inputs"
"""The folder beside a test for files that it reads; lit does not enter it."""


def write_test(
    program: Program, verdict: Verdict, guilt: Guilt, how: How, drawn: bool, path: str | os.PathLike[str] | None
) -> Path:
    """Write the test of a program, and beside it the arrays that it cannot do without; where it is.

    `how` says what was run; `drawn` that inputs are those which `lamina debug compare` draws. Without a path the file
    goes where reproducers do. Raises InputError where it cannot be written.
    """
    named = guilt.step.partition("{")[0] or "program"
    digest = sha256(program.text().encode()).hexdigest()[:8]
    folder = Path(os.environ.get("LAMINA_REPRODUCER_DIR") or FOLDER)
    target = Path(path) if path is not None else folder / f"{named.replace('-', '_')}-{digest}.mlir"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if path is None and target.parent == Path(FOLDER):
            (target.parent / ".gitignore").write_text("*\n", "utf-8")
        program.rename_params(_write_params(program, target))
        inputs = None if drawn or not program.arrays else _write_arrays(program.arrays, target)
        target.write_text(test_text(program, verdict, guilt, how, inputs, target, path is None), "utf-8")
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror}", where=str(e.filename or target)) from None
    return target


def test_text(
    program: Program, verdict: Verdict, guilt: Guilt, how: How, inputs: str | None, path: Path, reproduces: bool
) -> str:
    """The text of the test: what to run, what is wrong, what must come out, and the program.

    With `reproduces` it names the pass in the line that `opt-tool --run-reproducer` reads, which has absolute paths.
    """
    loads = [f"--load=%S/{os.path.relpath(f, path.parent)}" for f in how.load]
    passes = shlex.quote(guilt.step)
    if verdict.outcome.kind is Kind.MISMATCH or verdict.outcome.where == "run" or not guilt.step:
        words = ["lamina debug compare %s", *([f"-p {passes}"] if guilt.step else []), *loads]
        words += [f"--input={inputs}"] if inputs else []
        if not guilt.step:
            words += ["--compiled", *([f"--target={how.target}"] if how.target else [])]
            words += [f"--threads={how.threads}"] if how.threads > 1 else []
            words += [f"--opt-level={how.opt_level}"] if how.opt_level != 3 else []
        check = "all {{[0-9]+}} steps agree"
    else:
        words = [f"opt-tool %s -p {passes}", *loads]
        check = f"@{next((n for op in program.module.ops if (n := function_name(op))), 'main')}"
    config = {"passes": guilt.step, "options": [f"--load={Path(f).absolute()}" for f in how.load], "source": None}
    lines = [f"RUN: {' '.join(words)} | filecheck %s", str(verdict.outcome.kind) + f": {verdict.outcome.said}"]
    lines += str(guilt).split("\n")
    rows = [f"// {line}" for line in lines]
    rows += [f"{MARK}{json.dumps(config)}"] if guilt.step and reproduces else []
    return "\n".join([*rows, f"// CHECK: {check}", _unwrapped(program.text())])


def _unwrapped(text: str) -> str:
    """The text without the module around it, where that says nothing."""
    rows = text.rstrip("\n").split("\n")
    if rows[0] == "builtin.module {" and rows[-1] == "}":
        rows = [row.removeprefix("  ") for row in rows[1:-1]]
    return "\n".join(rows) + "\n"


def _write_params(program: Program, path: Path) -> str | None:
    params = program.params()
    if not params:
        return None
    name = f"{INPUTS}/{path.stem}.safetensors"
    (path.parent / INPUTS).mkdir(exist_ok=True)
    program.store.save(path.parent / name, params)
    return name


def _write_arrays(arrays: Mapping[str, Any], path: Path) -> str:
    name = f"{INPUTS}/{path.stem}.npz"
    (path.parent / INPUTS).mkdir(exist_ok=True)
    np.savez(path.parent / name, **{n: savable(np.asarray(a)) for n, a in arrays.items()})
    return f"%S/{name}"
