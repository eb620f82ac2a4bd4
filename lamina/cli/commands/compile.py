"""`lamina compile`: the program of a model, or its texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import compiled, context_of, texts_of
from lamina.cli.options import MODEL, add_compilation
from lamina.cli.shell import path_argument
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
    alone = saved is None and args.output is not None and _ends_as_a_file(str(args.output))
    if alone and args.emit == "all":
        hint = f"-o {args.output}/ is a folder, -o FILE.lamina the program, --emit LEVEL -o FILE one text"
        raise UsageError(f"-o {args.output} names a file, and all texts are several", hint=hint)
    if args.linker is not None and not is_exported(args.output):
        raise UsageError("--linker links a library", hint="give -o FILE.dll or -o FILE.dylib")
    if is_exported(args.output) and args.emit is None:
        return _export(args, out, err)
    if args.emit is None and args.small:
        raise UsageError("--small is for a library", hint="give -o FILE.so, or --emit for texts of what packs")
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


def _export(args: Any, out: TextIO, err: TextIO) -> int:
    """Write a shared library, or C source."""
    from lamina.cli.command_models import model_of
    from lamina.cli.progress import StageProgress
    from lamina.driver.api import export
    from lamina.driver.linker import linker_words

    if args.sanitize:
        raise UsageError("--sanitize is for programs that run here", hint=f"leave it out for {args.output}")
    model, shapes = model_of(args)
    how: dict[str, Any] = {"threads": args.threads, "opt_level": context_of(args), "choices": args.choices}
    how["linker"] = linker_words(args.linker)
    with StageProgress(err) as progress:
        cached = not args.no_cache
        how |= {"cache": cached, "progress": progress, "small": args.small}
        export(model, args.output, args.target, shapes=shapes, **how)
    if args.time:
        err.write(progress.table() + "\n")
    out.write(f"{args.output}\n")
    return EXIT_OK


def _ends_as_a_file(path: str) -> bool:
    """Whether a path that is given for output has a suffix, and is no folder."""
    return bool(Path(path).suffix) and not path.endswith("/") and not Path(path).is_dir()


def _write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    except OSError as e:
        raise InputError(f"cannot write: {e.strerror}", where=str(path)) from None
