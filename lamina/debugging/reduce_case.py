"""From the folder of a case to the least program that shows its fault, run in the same way on the same inputs.

What is compiled wrongly becomes the lit test of a step, `reduced.mlir` beside the case; what is imported wrongly an
ONNX model, in a folder `reduced`. A case says which ways it compares (`pair`), so that the guilty one is asked first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.finding import NoFault, find
from lamina.debugging.fuzz_case import IMPORT_PAIR, Report
from lamina.debugging.isolate import Server
from lamina.debugging.judge import Tell
from lamina.debugging.onnx_graph import IMPORTED_PAIR, least_model, text_of
from lamina.debugging.outcome import Outcome
from lamina.debugging.program import Program
from lamina.debugging.stored_case import MODEL, PROGRAM, StoredCase
from lamina.debugging.verdict import How
from lamina.debugging.ways import NATIVE, OTHERS, Compiled, Interpreted, in_double_precision, load
from lamina.driver.relay_source import ports_of
from lamina.errors import InternalError, LaminaError
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import print_pipeline
from lamina.ir.targets import target_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

TEST, FOLDER = "reduced.mlir", "reduced"
FUNCTION = "lamina.debugging.reduce_case:reduced"
EXTRA = 60.0
"""Seconds that a reduction may take beyond its time: the program that runs when it is up, and the test."""


def reduce_case(
    folder: str | os.PathLike[str],
    seconds: float,
    limit: float,
    tell: Tell,
    files: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
    how: How | None = None,
    others: Sequence[How] = (),
) -> tuple[str, Path]:
    """Reduce a stored case: the finding as text, and the test or model written into the folder or as `output`.

    `how` is asked for in the place of the case's own way, `others` where that shows nothing (they run
    here: not for a case of another machine); `files` are loaded.
    Raises InputError for what is no case, NoFault where neither the compiler nor the importer does wrong.
    """
    case = StoredCase.read(folder)
    written = Path(output) if output is not None else None

    def compiled() -> tuple[str, Path]:
        way = next((w for w in OTHERS if w.name == case.pair), NATIVE)
        if how is not None and isinstance(way, Interpreted):
            way = NATIVE
        program = program_of(case, way)
        asked = how or how_of(way, program.module, files)
        found = find(program, asked, seconds, limit, tell, others if isinstance(way, Compiled) else ())
        return str(found), found.write(written or Path(folder) / TEST)

    def imported() -> tuple[str, Path]:
        time = seconds, limit
        found, fault = least_model(str(Path(folder) / MODEL), case.inputs, 0, *time, files, tell, case.ranges)
        who = (
            f"compiled for {', '.join(f'{n}={r}' for n, r in found.ranges.items())}" if case.ranges else "the importer"
        )
        said = f"{fault.outcome.kind}: {fault.outcome.said} ({who})\n{text_of(found.model).rstrip()}"
        return said, found.write(written.with_suffix("") if written else Path(folder) / FOLDER, fault)

    # What is for ranges of sizes is made smaller as a graph: its steps are for all sizes, the inputs of one.
    attempts = [imported] if case.ranges else [compiled, imported] if case.is_onnx else [compiled]
    if case.is_onnx and not case.ranges and case.pair.startswith((IMPORT_PAIR, IMPORTED_PAIR)):
        attempts.reverse()
    failed: Exception | None = None
    for attempt in attempts:
        try:
            return attempt()
        except NoFault as e:
            failed = failed or e
            tell(f"{e}")
        except Exception as e:
            if isinstance(e, LaminaError) and not isinstance(e, InternalError):
                raise
            failed = e  # what cannot be imported, perhaps: that is the next attempt
            tell(f"{type(e).__name__}: {e}")
    assert failed is not None
    raise failed


def program_of(case: StoredCase, way: Compiled | Interpreted = NATIVE) -> Program:
    """The program of a case, imported, with its inputs, in the precision or for the machine of a way.

    Raises LaminaError.
    """
    from lamina.ir.context import LaminaContext
    from lamina.ir.printing import module_text

    double = isinstance(way, Compiled) and way.double
    model = load(in_double_precision(case.program) if double else case.program, case.is_onnx)
    # Parsed again, the names of values are those that every text of it has.
    module = parse_text(LaminaContext(), module_text(model.module), PROGRAM)
    given = [case.inputs[p.name] for p in model.inputs]
    if isinstance(way, Compiled):
        given = [way.input(a) for a in given]
    arrays = {p.name: np.asarray(a) for p, a in zip(ports_of(module)[0], given, strict=True)}
    program = Program(module, arrays, model.params)
    return program.with_target(target_of(way.target, way.threads)) if isinstance(way, Interpreted) else program


def how_of(way: Compiled | Interpreted, module: ModuleOp, files: Sequence[str] = ()) -> How:
    """A way to run a module, as verdicts have it."""
    if isinstance(way, Interpreted):
        return How(print_pipeline(way.passes(module)[1]), threads=way.threads, load=tuple(files), checked=True)
    target = "" if way.target == NATIVE.target else way.target
    return How(None, target, way.opt_level, way.threads, way.sanitize, load=tuple(files))


# -- many of them --------------------------------------------------------------------------------------------------


def reduced(folder: str, seconds: float, limit: float, files: Sequence[str]) -> dict[str, str]:
    """`reduce_case` in a process of its own: the text and the path, as JSON."""
    said, path = reduce_case(folder, seconds, limit, lambda line: None, files)
    return {"said": said, "path": str(path)}


def reduce_faults(
    faults: Mapping[str, Sequence[Report]],
    folder: Path,
    seconds: float,
    limit: float,
    jobs: int,
    files: Sequence[str],
    tell: Callable[[Report, str], object],
) -> None:
    """Reduce one case of each signature, the one with the smallest program; `tell` hears what becomes of each."""

    def size(report: Report) -> int:
        stored = folder / str(report.seed)
        return min((p.stat().st_size for p in (stored / MODEL, stored / PROGRAM) if p.is_file()), default=1 << 60)

    def work(reports: Sequence[Report]) -> None:
        report = min(reports, key=size)
        arguments: dict[str, Any] = {"folder": str(folder / str(report.seed)), "seconds": seconds, "limit": limit}
        with Server([]) as server:
            found = server.call(FUNCTION, {**arguments, "files": list(files)}, seconds + limit + EXTRA)
        if isinstance(found, Outcome):
            tell(report, f"not reduced: {found.said}")
        else:
            tell(report, f"{found['said']}\n{found['path']}")

    with ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(work, reports) for reports in faults.values()]:
            done.result()
