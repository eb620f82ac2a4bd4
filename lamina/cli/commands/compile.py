"""`lamina compile`: the program of a model, or its texts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import compiled, context_of, texts_of
from lamina.cli.options import MODEL, add_compilation
from lamina.cli.shell import path_argument
from lamina.cli.tvmc_options import COMPILE, add_refused
from lamina.errors import EXIT_OK, InputError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    parser.add_argument("model", nargs="?", type=path_argument, metavar="MODEL", help=MODEL)
    add_compilation(parser)
    parser.add_argument(
        "--emit",
        choices=("relay", "te", "tir", "llvm", "ll", "asm", "all"),
        help="the text of a level; to stdout without -o",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=path_argument,
        metavar="DIR|FILE.lamina|FILE.so|.dll|.dylib|.a|.o|.c|.wasm|FILE",
        help="write the texts and the weights into a folder, the program into a file for `lamina run`, into a "
        "library for C (lamina.h), shared or to be linked, as C source or a module of WebAssembly, or with --emit one "
        "text into a file",
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="a library whose file has the weights unpacked, and packs them when it is loaded; with --emit or a folder "
        "the texts of the program that does",
    )
    parser.add_argument(
        "--linker",
        metavar="WORDS",
        help="the C compiler that links FILE.dll or FILE.dylib: 'zig cc -target x86_64-windows-gnu' (default: the "
        "package ziglang)",
    )
    parser.add_argument(
        "--dump-code",
        default="",
        metavar="LEVELS",
        help="write texts beside the program, as in -o net.so --dump-code relay,ll: net.so.relay and net.so.ll",
    )
    parser.add_argument("--module-name", metavar="NAME", help="the name of the net in a library (default: the file's)")
    add_refused(parser, COMPILE)
    parser.add_argument("--print-pipeline", action="store_true", help="print the passes, for opt-tool -p")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Compile; print the text of one level, write those of all, or write the program."""
    from lamina.driver.pipelines import pipeline_text
    from lamina.ir.suffixes import is_exported, is_saved, refuse_saved
    from lamina.ir.targets import spec_of

    context = context_of(args)
    if args.print_pipeline:
        out.write(pipeline_text(context, args.sanitize, spec_of(args.target, args.threads)) + "\n")
        return EXIT_OK
    if args.model is None:
        raise UsageError("no MODEL given", hint="`lamina compile --help` shows how")
    refuse_saved(args.model)
    saved = args.output if is_saved(args.output) or is_exported(args.output) else None
    if saved is not None and args.emit is not None:
        hint = f"{args.output} would hold the program: give -o a folder, or leave --emit out"
        raise UsageError("--emit writes texts", hint=hint)
    if args.output is not None and saved is None and args.emit is None:
        args.emit = "all"
    levels = _levels_beside(args, saved)
    alone = saved is None and args.output is not None and _ends_as_a_file(str(args.output))
    if alone and args.emit == "all":
        hint = f"-o {args.output}/ is a folder, -o FILE.lamina the program, --emit LEVEL -o FILE one text"
        raise UsageError(f"-o {args.output} names a file, and all texts are several", hint=hint)
    if args.linker is not None and not is_exported(args.output):
        raise UsageError("--linker links a library", hint="give -o FILE.dll or -o FILE.dylib")
    if is_exported(args.output) and args.emit is None:
        return _export(args, levels, out, err)
    if args.emit is None and args.small:
        raise UsageError("--small is for a library", hint="give -o FILE.so, or --emit for texts of what packs")
    if args.emit is None:
        dumped = _dumped(args, levels)
        exe = compiled(args, err)
        out.write(f"{exe!r}\n")
        if exe.placement:
            out.write(f"{exe.placement}\n")
        if exe.is_fixed:
            out.write(f"memory: {exe.memory}\n")
        if saved is not None:
            exe.save(saved)
            _write_dumped(dumped, saved, out)
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


def _levels_beside(args: Any, saved: str | os.PathLike[str] | None) -> list[str]:
    """The levels whose texts --dump-code asks for. Raises UsageError where no program is written, or no net named."""
    from lamina.driver.stage_texts import levels_of
    from lamina.ir.suffixes import is_exported

    levels = levels_of(args.dump_code)
    if levels and saved is None:
        hint = "as in -o net.so; without it --emit LEVEL prints one"
        raise UsageError("--dump-code writes texts beside a program, and -o names none", hint=hint)
    if args.module_name is not None and not is_exported(saved):
        raise UsageError("--module-name is of a library, and -o names none", hint="as in -o net.so")
    return levels


def _export(args: Any, levels: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Write a shared library, or C source, and texts of levels beside it."""
    from lamina.cli.command_models import model_of
    from lamina.cli.progress import StageProgress
    from lamina.driver.api import export
    from lamina.driver.linker import linker_words

    if args.sanitize:
        raise UsageError("--sanitize is for programs that run here", hint=f"leave it out for {args.output}")
    dumped = _dumped(args, levels)
    model, shapes = model_of(args)
    how: dict[str, Any] = {"threads": args.threads, "opt_level": context_of(args), "choices": args.choices}
    how["linker"] = linker_words(args.linker)
    how["name"] = args.module_name
    with StageProgress(err) as progress:
        cached = not args.no_cache
        how |= {"cache": cached, "progress": progress, "small": args.small}
        export(model, args.output, args.target, shapes=shapes, **how)
    if args.time:
        err.write(progress.table() + "\n")
    _write_dumped(dumped, args.output, out)
    return EXIT_OK


def _dumped(args: Any, levels: Sequence[str]) -> dict[str, str]:
    """The texts of levels by these: made before the program, so that one that there is not leaves nothing written."""
    if not levels:
        return {}
    from lamina.ir.suffixes import is_exported

    texts = texts_of(args, args.output if is_exported(args.output) else None)
    return {level: texts.get(level) for level in levels}


def _write_dumped(texts: Mapping[str, str], program: str | os.PathLike[str], out: TextIO) -> None:
    """Write texts beside a program, and say the names of all these files."""
    for level, text in texts.items():
        _write_text(Path(f"{program}.{level}"), text)
    out.write("".join(f"{path}\n" for path in (os.fspath(program), *(f"{program}.{level}" for level in texts))))


def _ends_as_a_file(path: str) -> bool:
    """Whether a path that is given for output has a suffix, and is no folder."""
    return bool(Path(path).suffix) and not path.endswith("/") and not Path(path).is_dir()


def _write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror}", where=str(path)) from None
