"""The commands of `lamina`: a function for each, of its parsed arguments and the streams to write to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli import debug_commands as debugging_commands
from lamina.cli import fuzz_command, machine_commands, profile_commands, schedule_commands
from lamina.cli.command_models import compiled, context_of, given_inputs, model_of, texts_of
from lamina.errors import EXIT_INPUT, EXIT_OK, EXIT_UNSUPPORTED, InputError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from lamina.driver.api import Executable
    from lamina.measure.agreement import Agreement


def check(args: Any, out: TextIO, err: TextIO) -> int:
    """All unsupported operators at once."""
    from dataclasses import asdict

    from lamina.frontends.onnx import check_model
    from lamina.ir.foreign_files import refuse_foreign
    from lamina.ir.suffixes import is_text, refuse_saved

    refuse_saved(args.model)
    if is_text(args.model):
        raise UsageError("check is about the operators of ONNX models", hint=f"`opt-tool {args.model}` checks a text")
    refuse_foreign(args.model)
    report = check_model(args.model)
    if args.json:
        unsupported = [{**asdict(u), "name": u.full_name} for u in report.unsupported]
        found = {"model": report.label, "nodes": report.nodes, "supported": report.supported}
        out.write(json.dumps({**found, "unsupported": unsupported, "ok": report.ok}, indent=2) + "\n")
    else:
        out.write(f"{report}\n")
    return EXIT_OK if report.ok else EXIT_UNSUPPORTED


def compile_model(args: Any, out: TextIO, err: TextIO) -> int:
    """Compile; print the text of one level, write those of all, or write the program."""
    from lamina.driver.pipelines import pipeline_text
    from lamina.ir.suffixes import is_saved, refuse_saved
    from lamina.ir.targets import spec_of

    context = context_of(args)
    if args.print_pipeline:
        out.write(pipeline_text(context, args.sanitize, spec_of(args.target, args.threads)) + "\n")
        return EXIT_OK
    if args.model is None:
        raise UsageError("no MODEL given", hint="`lamina compile --help` shows how")
    refuse_saved(args.model)
    saved = args.output if is_saved(args.output) else None
    if saved is not None and args.emit is not None:
        hint = f"{args.output} would hold the program: give -o a folder, or leave --emit out"
        raise UsageError("--emit writes texts", hint=hint)
    if args.output is not None and saved is None and args.emit is None:
        args.emit = "all"
    alone = saved is None and args.output is not None and _ends_as_a_file(str(args.output))
    if alone and args.emit == "all":
        hint = f"-o {args.output}/ is a folder, -o FILE.lamina the program, --emit LEVEL -o FILE one text"
        raise UsageError(f"-o {args.output} names a file, and all texts are several", hint=hint)
    if args.emit is None:
        exe = compiled(args, err)
        out.write(f"{exe!r}\n")
        if exe.placement:
            out.write(f"{exe.placement}\n")
        if exe.is_fixed:
            out.write(f"memory: {exe.memory}\n")
        if saved is not None:
            exe.save(saved)
            out.write(f"{saved}\n")
        return EXIT_OK
    # The text of a machine that this one is not can be had as well.
    texts = texts_of(args)
    if args.output is not None:
        folder = Path(args.output)
        if args.emit == "all":
            for path in texts.save(folder):
                out.write(f"{path}\n")
            return EXIT_OK
        from lamina.driver.stage_texts import FILES

        path = folder if alone else folder / FILES[args.emit]
        _write_text(path, texts.get(args.emit))
        out.write(f"{path}\n")
        return EXIT_OK
    if args.emit == "all":
        raise UsageError("--emit all needs a folder", hint="give one with -o")
    out.write(texts.get(args.emit))
    return EXIT_OK


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """One inference: the outputs, described or written to a file."""
    import numpy as np

    exe = compiled(args, err)
    inputs = given_inputs(args, exe, err)
    results = exe.run(inputs)
    arrays: dict[str, np.ndarray[Any, Any]] = {n: v for n, v in results.items() if isinstance(v, np.ndarray)}
    for name, value in results.items():
        if name not in arrays:
            from lamina.vm.vm import value_text

            out.write(f"{name}: {value_text(value)[:400]}\n")
            continue
        array = arrays[name]
        flat = array.reshape(-1)
        head = np.array2string(flat[:6], precision=6, separator=", ", threshold=7).replace("\n", "")
        more = f" ... {flat.size:,} values" if flat.size > 6 else ""
        out.write(f"{name}: {array.dtype}[{', '.join(map(str, array.shape))}] {head}{more}\n")
    if args.output is not None:
        for name in set(results).difference(arrays):
            raise InputError(f"the output {name!r} is no array", where=args.output, hint="npz files hold arrays")
        from lamina.ir.array_files import write_arrays

        write_arrays(args.output, arrays)
    if args.profile:
        out.write(exe.profile(inputs).table() + "\n")
    return EXIT_OK


def bench(args: Any, out: TextIO, err: TextIO) -> int:
    """Times, by turns with onnxruntime where it is installed."""
    from importlib.util import find_spec

    from lamina.driver.api import threads_text
    from lamina.ir.suffixes import is_saved, is_text
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
    why = "it is no ONNX model" if is_text(args.model) or is_saved(args.model) else ""
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
    roofline = profile_commands.roofline(exe, inputs, str(args.model), args.repeats) if args.roofline else None
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


COMMANDS: dict[str, Callable[[Any, TextIO, TextIO], int]] = {
    "compile": compile_model,
    "run": run,
    "bench": bench,
    "profile": profile_commands.profile,
    "tune": schedule_commands.tune,
    "explain-schedule": schedule_commands.explain_schedule,
    "calibrate": machine_commands.calibrate,
    "info": machine_commands.info,
    "check": check,
    "fuzz": fuzz_command.fuzz,
    "debug": debugging_commands.debug,
    "reduce": debugging_commands.reduce,
}


def _figures(benchmark: Any) -> dict[str, float]:
    return {"median": benchmark.median, "p10": benchmark.p10, "p90": benchmark.p90, "runs": len(benchmark.times)}


def _ends_as_a_file(path: str) -> bool:
    """Whether a path that is given for output has a suffix, and is no folder."""
    return bool(Path(path).suffix) and not path.endswith("/") and not Path(path).is_dir()


def _write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror}", where=str(path)) from None
