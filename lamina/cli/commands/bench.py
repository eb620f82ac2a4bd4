"""`lamina bench`: times of a model, beside those of onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import compiled, context_of, given_inputs, model_of
from lamina.cli.options import add_compilation, add_inputs, add_model_or_program
from lamina.cli.shell import path_argument
from lamina.errors import EXIT_INPUT, EXIT_OK, UnsupportedError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from lamina.driver.api import Executable
    from lamina.measure.agreement import Agreement
    from lamina.roofline.table import Roofline


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_model_or_program(parser)
    add_compilation(parser)
    add_inputs(parser)
    parser.add_argument("--repeats", type=int, metavar="N", help="runs of each (default: as --seconds allow)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="default: 5")
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help="how far outputs may be off, of the largest value (default: 1e-4, of float16 1e-2, quantised 0.1)",
    )
    parser.add_argument("--profile", action="store_true", help="print the time of each kernel too")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--roofline", action="store_true", help="what part of the machine's limits each kernel reaches")
    parser.add_argument("--output", type=path_argument, metavar="FILE.html", help="write the roofline as a picture")


def _is_onnx(model: str) -> bool:
    """Whether onnxruntime may take a model."""
    from lamina.ir.foreign_files import model_format
    from lamina.ir.suffixes import is_saved, is_text

    return not is_text(model) and not is_saved(model) and model_format(model).name == "onnx"


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Times, by turns with onnxruntime where it is installed."""
    from importlib.util import find_spec

    from lamina.driver.api import threads_text
    from lamina.measure import timing as measure

    if not args.seconds > 0:
        raise UsageError("--seconds must be positive")
    if args.repeats is not None and args.repeats < 1:
        raise UsageError("--repeats must be positive")
    if args.tolerance is not None and not args.tolerance >= 0:
        raise UsageError(f"--tolerance is a part of the largest value, not {args.tolerance}")
    if args.output is not None and not args.roofline:
        raise UsageError("--output is for the picture of --roofline", hint="give both, or neither")
    args.threads = args.threads or 1
    exe = compiled(args, err)
    compile_peak = measure.peak_memory()
    inputs = given_inputs(args, exe, err)
    found: dict[str, Any] = {"model": str(args.model), "threads": exe.threads, "cpu": exe.target.cpu.data}
    found["compile_peak_mb"] = round(compile_peak / 1e6, 1)
    out.write("" if args.json else f"{args.model}: {threads_text(exe.threads)}, {exe.target.cpu.data}\n")
    why = "" if _is_onnx(args.model) else "it is no ONNX model"
    why = why or ("onnxruntime is not installed" if find_spec("onnxruntime") is None else "")
    wrong = False
    try:
        session = measure.onnxruntime_session(str(args.model), exe.threads) if not why else None
    except UnsupportedError as e:
        session, why = None, str(e)
    if session is None:
        ours = exe.benchmark(inputs, args.repeats, args.seconds)
        found["lamina"] = _figures(ours)
        text = f"lamina       {ours}\n({why}: nothing to compare with)\n"
    else:
        result = measure.compare(exe.run, session, inputs, args.repeats, args.seconds)
        found |= {"lamina": _figures(result.ours), "onnxruntime": _figures(result.theirs)}
        found |= {"ratio": result.ratio, "difference": result.difference}
        agreed = _agreement(args, exe, inputs, session)
        saturated = bool(agreed.wrong)
        if saturated:
            agreed = _agreement(args, exe, inputs)
            saturated = not agreed.wrong
        found |= {"allowed": agreed.allowed, "before": agreed.before, "wrong": agreed.wrong}
        wrong = bool(agreed.wrong)
        text = f"{result}\n" + (f"{agreed}\n" if str(agreed) else "")
        text += "             its sums of bytes saturate on this processor: its exact ones agree\n" * saturated
        text += f"             `lamina debug compare {args.model}` finds the step\n" if wrong else ""
    roofline = _roofline(exe, inputs, str(args.model), args.repeats) if args.roofline else None
    if roofline is not None:
        found["roofline"] = roofline.plain()
        text += f"\n{roofline.table()}\n"
        if args.output is not None:
            roofline.save(args.output)
            text += f"{args.output}\n"
    out.write(json.dumps(found, indent=2) + "\n" if args.json else text)
    if args.profile:
        out.write(exe.profile(inputs).table() + "\n")
    return EXIT_INPUT if wrong else EXIT_OK


def _agreement(args: Any, exe: Executable, inputs: Mapping[str, Any], session: Any = None) -> Agreement:
    """Whether a program and onnxruntime compute the same, also before a last op that hides it.

    Without a session of its default settings it is asked for exact sums.
    """
    import onnx

    from lamina.driver import api
    from lamina.measure import agreement
    from lamina.measure import timing as measure

    def both(session: Any, exe: Executable) -> tuple[Any, Any]:
        names = [o.name for o in session.get_outputs()]
        return exe.run(inputs), measure.named(names, session.run(None, dict(inputs)))

    def again(model: Any) -> tuple[Any, Any]:
        data = model.SerializeToString()
        given, shapes = model_of(args, data)
        how = args.threads, context_of(args), None, not args.no_cache, args.sanitize, args.choices
        inner = api.compile(given, args.target, shapes, *how)
        return both(measure.onnxruntime_session(data, exe.threads, exact), inner)

    exact = session is None
    session = session or measure.onnxruntime_session(str(args.model), exe.threads, exact)
    # With the weights that it has in other files.
    model = onnx.load(str(args.model))  # pyright: ignore[reportUnknownMemberType]
    return agreement.agreement(*both(session, exe), model, again, args.tolerance)


def _figures(benchmark: Any) -> dict[str, float]:
    return {"median": benchmark.median, "p10": benchmark.p10, "p90": benchmark.p90, "runs": len(benchmark.times)}


ROOFLINE_REPEATS = 20


def _roofline(exe: Executable, inputs: Mapping[str, Any], name: str, repeats: int | None) -> Roofline:
    """Measure the machine's limits for the program's threads, and its kernels."""
    from lamina.roofline.roofs import measured
    from lamina.roofline.table import Roofline

    roofs = measured(exe.target)
    recording = exe.record(inputs, repeats or ROOFLINE_REPEATS)
    return Roofline.of(recording, roofs, Path(name).name, exe.target.cpu.data)
