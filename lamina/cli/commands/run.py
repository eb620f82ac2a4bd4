"""`lamina run`: one inference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import given_inputs, runnable
from lamina.cli.options import add_compilation, add_inputs, add_model_or_program
from lamina.cli.shell import path_argument
from lamina.cli.tvmc_options import RUN, add_refused
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
        "--outputs",
        "-o",
        type=path_argument,
        metavar="Y.npz",
        help="write the outputs into a file; one alone also as Y.npy",
    )
    parser.add_argument("--profile", action="store_true", help="print the time of each kernel")
    parser.add_argument(
        "--print-time", action="store_true", help="print the time of a run: of all repeats mean, max, .."
    )
    parser.add_argument("--repeat", type=int, metavar="N", help="of --print-time: how many times (default: 1)")
    parser.add_argument("--number", type=int, metavar="N", help="of --print-time: runs of which one is the mean (1)")
    parser.add_argument("--print-top", type=int, metavar="N", help="print places and values of the N largest elements")
    add_refused(parser, RUN)


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """One inference: the outputs, described or written to a file."""
    import numpy as np

    from lamina.measure.summaries import check_counts, timed, top_elements
    from lamina.runtime.exported import ExportedNet

    check_counts(print_top=args.print_top, repeat=args.repeat, number=args.number)
    for option in ("repeat", "number"):
        if option in args.given and not args.print_time:
            raise UsageError(
                f"--{option} is of --print-time", hint="give both, or neither; `lamina bench` times models"
            )
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
    if args.print_time:
        out.write(f"{timed(lambda: exe.run(inputs), args.number or 1, args.repeat or 1)}\n")
    if args.print_top is not None:
        if not arrays:
            raise UsageError("--print-top is of an array, and the model gives none", hint="leave it out")
        out.write(f"{top_elements(next(iter(arrays.values())), args.print_top)}\n")
    if args.output is not None:
        for name in set(results).difference(arrays):
            raise InputError(f"the output {name!r} is no array", where=args.output, hint="npz files hold arrays")
        from lamina.ir.array_files import write_arrays

        write_arrays(args.output, arrays)
    if args.profile:
        assert not isinstance(exe, ExportedNet)
        out.write(exe.profile(inputs).table() + "\n")
    return EXIT_OK
