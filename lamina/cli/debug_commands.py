"""The commands `lamina debug compare`, `lamina debug bisect` and `lamina reduce`, on parsed arguments and streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.errors import EXIT_INPUT, EXIT_OK, InputError, InternalError, LaminaError, UsageError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.debugging.finding import Finding
    from lamina.debugging.program import Program
    from lamina.debugging.verdict import How
    from lamina.ir.context import LaminaContext


def debug(args: Any, out: TextIO, err: TextIO) -> int:
    """Find the step that makes a fault; status 1 where there is one."""
    return _bisect(args, out, err) if args.what == "bisect" else _compare(args, out, err)


def _compare(args: Any, out: TextIO, err: TextIO) -> int:
    """Compare a program level by level; status 1 where a step differs."""
    from lamina.cli.command_models import arrays_of
    from lamina.debugging.compare import compare_levels
    from lamina.ir.diagnostics import location_text
    from lamina.ir.pipeline import parse_pipeline
    from lamina.ir.targets import target_of

    sizes, text, ctx = _program_text(args)
    passes = None if args.pipeline is None else parse_pipeline(args.pipeline, args.registry)

    def tell(line: str) -> None:
        if not args.quiet:
            out.write(f"{line}\n")
            out.flush()

    try:
        found = compare_levels(
            text,
            args.file,
            pipeline=passes,
            target=None if args.target is None else target_of(args.target, 1),
            sizes=sizes if args.file.endswith(".mlir") else {},
            inputs=arrays_of(args.input),
            seed=args.seed,
            tell=tell,
            ctx=ctx,
            checked=True if args.checked else None,
            start=args.start or "",
            load=args.load,
            progress=lambda line: print(line, file=err),
            compiled=_how(args) if args.compiled else None,
        )
    except LaminaError as e:
        e.where = e.where or (location_text(e.op) if e.op is not None else "") or args.file
        raise
    out.write(f"{found}\n")
    return EXIT_OK if found.difference is None else EXIT_INPUT


def _bisect(args: Any, out: TextIO, err: TextIO) -> int:
    """Name the pass, the rule or primitive, and the firing or op, that make a fault; status 1 where there is one."""
    from lamina.debugging.finding import guilty

    found = guilty(_given(args), _how(args), args.limit, lambda line: _told(args, err, line))
    if found is None:
        out.write("there is no fault\n")
        return EXIT_OK
    out.write(f"{found.verdict.outcome.kind}: {found.verdict.outcome.said}\n{found}\n")
    return EXIT_INPUT


def reduce(args: Any, out: TextIO, err: TextIO) -> int:
    """Shrink a program while its fault stays, and write a test of the guilty step."""
    from lamina.debugging.finding import NoFault, find

    def tell(line: str) -> None:
        _told(args, err, line)

    if Path(args.file).is_dir():
        return _reduce_case(args, out, tell)
    is_model = args.file.endswith(".onnx") and args.pipeline is None
    try:
        program = _given(args)
    except Exception as e:
        if not is_model or isinstance(e, LaminaError) and not isinstance(e, InternalError):
            raise
        return _reduce_import(args, out, tell)
    try:
        found = find(program, _how(args), args.seconds, args.limit, tell, _other_ways(args))
    except NoFault:
        if not is_model:
            raise
        tell("what is imported is compiled rightly; is it what the model says?")
        return _reduce_import(args, out, tell)
    out.write(f"{found}\n{found.write(args.output)}\n")
    return EXIT_OK


def _reduce_case(args: Any, out: TextIO, tell: Callable[[str], object]) -> int:
    """Shrink the program of a case that `lamina fuzz` has left in a folder, on its inputs, in the way that differed."""
    from lamina.debugging.reduce_case import reduce_case

    for name in ("input", "shape", "size", "seed"):
        if name in args.given:
            raise UsageError(f"--{name} is for programs", where=args.file, hint="a case has the inputs that it has")
    how = _how(args)
    own = None if {"pipeline", "target", "opt_level", "threads"}.isdisjoint(args.given) else how
    others = _other_ways(args)
    said, path = reduce_case(args.file, args.seconds, args.limit, tell, how.load, args.output, own, others)
    out.write(f"{said}\n{path}\n")
    return EXIT_OK


def _reduce_import(args: Any, out: TextIO, tell: Callable[[str], None]) -> int:
    """Shrink a model of which the importer makes something else than onnxruntime; a folder with a case of it."""
    from lamina.cli.command_models import arrays_of
    from lamina.debugging.onnx_graph import least_model, text_of

    time = args.seconds, args.limit
    found, fault = least_model(args.file, arrays_of(args.input), args.seed, *time, args.load, tell)
    folder = Path(args.output).with_suffix("") if args.output else None
    out.write(f"{fault.outcome.kind}: {fault.outcome.said} (the importer)\n{text_of(found.model).rstrip()}\n")
    out.write(f"{found.write(folder, fault)}\n")
    return EXIT_OK


def reduce_module(
    module: ModuleOp,
    ctx: LaminaContext,
    pipeline: str,
    load: Sequence[str],
    inputs: str | None,
    output: str | None,
    err: TextIO,
) -> tuple[Finding, Path]:
    """Shrink a module in which passes make a fault: what was found, and the file of its test.

    Raises UsageError where they make none.
    """
    from lamina.debugging.entry import draw_inputs, entry_of
    from lamina.debugging.finding import find
    from lamina.debugging.program import Program
    from lamina.debugging.verdict import How
    from lamina.ir.array_files import read_arrays

    program = Program(module, {}, ctx.params)
    how = How(pipeline, load=tuple(str(Path(f).resolve()) for f in load))
    try:
        read = {} if inputs is None else read_arrays(inputs)
        given = read if isinstance(read, dict) else {"arg0": read}
        program.arrays = {**given, **draw_inputs(entry_of(module.clone()), {}, given, 0)}
    except LaminaError:
        how = replace(how, numbers=False)  # what cannot be run can still be compiled
    found = find(program, how, tell=lambda line: print(line, file=err))
    return found, found.write(output)


def _told(args: Any, err: TextIO, line: str) -> None:
    if not args.quiet:
        err.write(f"{line}\n")
        err.flush()


def _how(args: Any) -> How:
    from lamina.debugging.verdict import How

    named = args.target or ""
    pipeline = args.pipeline
    return How(pipeline, named, args.opt_level, args.threads, load=tuple(str(Path(f).resolve()) for f in args.load))


def _other_ways(args: Any) -> list[How]:
    """The ways to compile in which a fault may show as well, where none was asked for."""
    from lamina.backends.cpu.processors import available_threads
    from lamina.debugging.verdict import How

    if args.pipeline is not None or {"target", "opt_level", "threads"}.intersection(args.given):
        return []
    load = _how(args).load
    ways = [How(copies=True), How(threads=max(available_threads(), 2)), How(opt_level=0), How(sanitize=True)]
    return [replace(way, load=load) for way in (*ways, How(target="x86-64-v3"), How(target="x86-64-v2"))]


def _given(args: Any) -> Program:
    """The program of a file, with inputs that are given or drawn, and a target."""
    from lamina.cli.command_models import arrays_of
    from lamina.debugging.entry import draw_inputs, entry_of
    from lamina.debugging.program import Program
    from lamina.debugging.verdict import target_of
    from lamina.dialects.target import TARGET
    from lamina.driver.relay_source import ports_of
    from lamina.ir.parsing import parse_text
    from lamina.measure.timing import random_inputs

    sizes, text, ctx = _program_text(args)
    module = parse_text(ctx, text, args.file)
    ctx.open_params(module)
    program = Program(module, {}, ctx.params)
    given = arrays_of(args.input)
    if program.level == "relay" and program.main is not None:
        drawn: Mapping[str, Any] = random_inputs(ports_of(module)[0], args.seed)
        unknown = [name for name in given if name not in drawn]
        if unknown:
            raise UsageError(f"there is no input {unknown[0]!r}", hint=f"the inputs are {', '.join(drawn)}")
        program.arrays = {**drawn, **given}
    else:
        program.arrays = {**given, **draw_inputs(entry_of(module.clone()), sizes, given, args.seed)}
    if args.pipeline is not None and (args.target or TARGET not in module.attributes):
        program.with_target(target_of(_how(args)))
    return program


def _program_text(args: Any) -> tuple[dict[str, int], str, LaminaContext]:
    """The sizes that are given, the text of the program, and the context that knows its weights."""
    from lamina.cli.command_models import shapes_of

    sizes: dict[str, int] = {}
    for given in args.size:
        name, mark, value = given.partition("=")
        if not mark or not value.isdecimal():
            raise UsageError(f"--size {given!r} is no size", hint="give e.g. --size n=65")
        sizes[name] = int(value)
    return sizes, *_text_and_weights(args.file, {**sizes, **shapes_of(args.shape)})


def _text_and_weights(path: str, shapes: Mapping[str, Any]) -> tuple[str, LaminaContext]:
    """A program as text, and the context that knows where its weights are; a model is imported for `shapes`."""
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import decode

    ctx = LaminaContext(source_path=Path(path))
    if path.endswith(".mlir"):
        try:
            return decode(Path(path).read_bytes(), path), ctx
        except OSError as e:
            raise InputError(f"cannot read: {e.strerror}", where=path) from None
    from lamina.driver.api import load
    from lamina.ir.printing import print_op

    model = load(path, shapes)
    ctx.params = model.params
    return print_op(model.module, ctx, locations=True), ctx
