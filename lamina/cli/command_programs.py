"""A program of any level, its inputs and the way to run it, as the options of a command say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.errors import InputError, LaminaError, UsageError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.debugging.finding import Finding
    from lamina.debugging.program import Program
    from lamina.debugging.verdict import How
    from lamina.ir.context import LaminaContext


def program_of(args: Any) -> Program:
    """The program of a file, with inputs that are given or drawn, and a target."""
    from lamina.cli.command_models import arrays_of
    from lamina.debugging.entry import draw_inputs, entry_of
    from lamina.debugging.program import Program
    from lamina.debugging.verdict import target_of
    from lamina.dialects.target import TARGET
    from lamina.driver.relay_source import ports_of
    from lamina.ir.parsing import parse_text
    from lamina.measure.timing import random_inputs

    sizes, text, ctx = program_text(args)
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
        program.with_target(target_of(how_of(args)))
    return program


def how_of(args: Any) -> How:
    """The way to run a program that the options ask for."""
    from lamina.debugging.verdict import How

    load = tuple(str(Path(f).resolve()) for f in args.load)
    return How(args.pipeline, args.target or "", args.opt_level, args.threads, load=load)


def program_text(args: Any) -> tuple[dict[str, int], str, LaminaContext]:
    """The sizes that are given, the text of the program, and the context that knows its weights.

    A size of a model is that of a dimension, or where `--shape` gives a range for this, the one to run it at.
    """
    from lamina.cli.command_models import shapes_of

    sizes: dict[str, int] = {}
    for given in args.size:
        name, mark, value = given.partition("=")
        if not mark or not value.isdecimal():
            raise UsageError(f"--size {given!r} is no size", hint="give e.g. --size n=65")
        sizes[name] = int(value)
    shapes = shapes_of(args.shape)
    left = sizes if args.file.endswith(".mlir") else {n: v for n, v in sizes.items() if n in shapes}
    return left, *_text_and_weights(args.file, {**sizes, **shapes})


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


def tell_progress(args: Any, err: TextIO, line: str) -> None:
    """Write how far it is, unless --quiet."""
    if not args.quiet:
        err.write(f"{line}\n")
        err.flush()
