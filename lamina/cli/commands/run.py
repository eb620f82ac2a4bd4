"""`lamina run`: one inference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import given_inputs, runnable
from lamina.cli.options import add_compilation, add_inputs, add_model_or_program
from lamina.cli.shell import path_argument
from lamina.errors import EXIT_OK, InputError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_model_or_program(parser)
    add_compilation(parser)
    add_inputs(parser)
    parser.add_argument(
        "--output",
        type=path_argument,
        metavar="Y.npz",
        help="write the outputs into a file; one alone also as Y.npy",
    )
    parser.add_argument("--profile", action="store_true", help="print the time of each kernel")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """One inference: the outputs, described or written to a file."""
    import numpy as np

    from lamina.runtime.exported import ExportedNet

    exe = runnable(args, err)
    if args.profile and isinstance(exe, ExportedNet):
        raise UsageError("--profile is for models and saved programs", hint="a library keeps no times")
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
        assert not isinstance(exe, ExportedNet)
        out.write(exe.profile(inputs).table() + "\n")
    return EXIT_OK
