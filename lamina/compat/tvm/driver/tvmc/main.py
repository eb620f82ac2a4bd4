"""The command `tvmc`: `compile`, `run`, `tune`, with the options of TVM 0.8's.

Expected failures end in one line and in the exit status of their kind, as those of `lamina` do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from lamina.cli.command import CommandParser, guarded, warnings_on
from lamina.cli.shell import path_argument
from lamina.cli.tvmc_options import HARDWARE, RPC, add_refused, names_of, parse_shapes
from lamina.errors import EXIT_OK, UnsupportedError, UsageError, did_you_mean
from lamina.ir.tvm_names import VERSION

COMMANDS = {
    "compile": "compile a model into a package",
    "run": "run a package",
    "tune": "find faster schedules for the kernels of a model, by measurement",
}
_PROGRAM = "python -m lamina.compat.tvm.driver.tvmc"


def run(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Run the command on streams; the exit status."""
    words = [w for w in argv if w != "--debug"]

    def action() -> int:
        with warnings_on(err):
            return _run(words, out)

    return guarded(action, err, debug="--debug" in argv)


def usage() -> str:
    """The help of the whole command."""
    rows = "\n".join(f"  {name:<10}{text}" for name, text in COMMANDS.items())
    return f"usage: {_PROGRAM} COMMAND [options] FILE\n\ncommands:\n{rows}\n\nCOMMAND --help shows its options.\n"


def _run(words: Sequence[str], out: TextIO) -> int:
    rest = list(words)
    while rest and re.fullmatch("-v+|--verbose", rest[0]):
        del rest[0]
    if not rest or rest[0] in ("-h", "--help"):
        out.write(usage())
        return EXIT_OK
    if rest[0] == "--version":
        out.write(f"{VERSION}\n")
        return EXIT_OK
    command = rest[0]
    if command == "micro":
        raise UnsupportedError("projects of microTVM are not written", hint="compile with -f mlf gives what they hold")
    if command not in COMMANDS:
        hint = did_you_mean(command, list(COMMANDS)) or f"commands are {', '.join(COMMANDS)}"
        raise UsageError(f"unknown command {command!r}", hint=hint)
    parser = CommandParser(f"{_PROGRAM} {command}", description=COMMANDS[command], allow_abbrev=False)
    add, execute = _PARTS[command]
    add(parser)
    parser.add_argument("-v", "--verbose", action="count", default=0, help="taken, and left")
    if "-h" in rest or "--help" in rest:
        out.write(parser.format_help())
        return EXIT_OK
    return execute(parser.parse_args(rest[1:]), out)


def _add_model(parser: Any) -> None:
    """Add the model, and how it is read."""
    from lamina.compat.tvm.driver.tvmc.frontends import get_frontend_names
    from lamina.passes.relay.layout.convert_layout import LAYOUTS

    parser.add_argument("FILE", type=path_argument, help="a model: ONNX, TensorFlow Lite, PyTorch, Relay, ...")
    parser.add_argument(
        "--model-format", choices=get_frontend_names(), help="the format of the model (default: as the file says)"
    )
    parser.add_argument(
        "--input-shapes", type=parse_shapes, metavar="SHAPES", help="shapes of inputs: 'x:[1,3,224,224] y:[1,8]'"
    )
    parser.add_argument("--desired-layout", choices=LAYOUTS, help="give the convolutions this layout of images")
    parser.add_argument(
        "--target",
        required=True,
        help="'llvm' for this machine, 'llvm -mtriple=aarch64-linux-gnu' for another; before it external compilers: "
        "'openblas, llvm'. Also a JSON text, or the path of one",
    )
    parser.add_argument("--target-host", help="where programs are called from: the target itself")
    parser.add_argument("--tuning-records", type=path_argument, metavar="PATH", help="records of `tune`")


def _add_compile(parser: Any) -> None:
    _add_model(parser)
    parser.add_argument("--cross-compiler", default="", help="not needed: libraries are linked here")
    parser.add_argument("--cross-compiler-options", default="", help="not needed")
    parser.add_argument(
        "-o", "--output", type=path_argument, default="module.tar", help="the package (default: module.tar)"
    )
    parser.add_argument(
        "-f",
        "--output-format",
        choices=("so", "mlf"),
        default="so",
        help="so: a package for `run`, with a shared library; mlf: TVM's model library format (default: so)",
    )
    parser.add_argument(
        "--dump-code", default="", metavar="LEVELS", help="write texts beside the package: relay,te,tir,llvm,ll,asm"
    )
    parser.add_argument(
        "--pass-config", action="append", default=[], metavar="NAME=VALUE", help="an option of a pass, several times"
    )
    parser.add_argument("--disabled-pass", default="", metavar="PASSES", help="passes that do not run, with commas")
    parser.add_argument("-O", "--opt-level", type=int, default=3, metavar="N", help="0 to 4 (default: 3)")
    parser.add_argument("--module-name", default="default", metavar="NAME", help="the name of the net in the library")


def _compile(args: Any, out: TextIO) -> int:
    from lamina.compat.tvm.driver.tvmc import compile as compile_model
    from lamina.compat.tvm.driver.tvmc import load

    compile_model(
        load(args.FILE, args.model_format, args.input_shapes),
        args.target,
        args.tuning_records,
        args.output,
        args.cross_compiler,
        args.cross_compiler_options,
        args.output_format,
        args.dump_code,
        args.target_host,
        args.desired_layout,
        names_of(args.disabled_pass),
        args.pass_config,
        args.opt_level,
        args.module_name,
    )
    return EXIT_OK


def _add_run(parser: Any) -> None:
    from lamina.compat.tvm.driver.tvmc.runner import DEVICES
    from lamina.measure.timing import FILL_MODES

    parser.add_argument("FILE", type=path_argument, help="a package of `compile`")
    parser.add_argument("--device", choices=DEVICES, default="cpu", help="the device: cpu")
    parser.add_argument(
        "--fill-mode", choices=FILL_MODES, default="random", help="of inputs that are not given (default: random)"
    )
    parser.add_argument("-i", "--inputs", type=path_argument, metavar="X.npz", help="inputs by their names")
    parser.add_argument("-o", "--outputs", type=path_argument, metavar="Y.npz", help="write the outputs")
    parser.add_argument("--print-time", action="store_true", help="print the time of a run")
    parser.add_argument("--print-top", type=int, metavar="N", help="print places and values of the N largest outputs")
    parser.add_argument("--profile", action="store_true", help="print the time of each kernel")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="how many times are measured (default: 1)")
    parser.add_argument("--number", type=int, default=1, metavar="N", help="runs of which one is the mean (default: 1)")
    add_refused(parser, RPC)


def _execute_run(args: Any, out: TextIO) -> int:
    from lamina.compat.tvm.driver.tvmc import TVMCPackage
    from lamina.compat.tvm.driver.tvmc import run as run_module
    from lamina.ir.array_files import read_arrays
    from lamina.measure.summaries import check_counts

    check_counts(print_top=args.print_top)
    inputs = read_arrays(args.inputs) if args.inputs is not None else {}
    if not isinstance(inputs, dict):
        raise UsageError("--inputs is an npz file, which has names", hint="numpy.savez(path, x=array)")
    how: dict[str, Any] = {name: getattr(args, name) for name in ("fill_mode", "repeat", "number", "profile")}
    result = run_module(TVMCPackage(args.FILE), args.device, inputs=inputs, **how)
    if args.print_time:
        out.write(f"{result.format_times()}\n")
    if args.print_top is not None:
        out.write(f"{result.get_top_results(args.print_top)}\n")
    if args.outputs is not None:
        result.save(args.outputs)
    return EXIT_OK


def _add_tune(parser: Any) -> None:
    from lamina.compat.tvm.driver.tvmc.autotuner import TUNERS

    _add_model(parser)
    parser.add_argument("-o", "--output", type=path_argument, required=True, help="the file of records, added to")
    parser.add_argument("--tuner", choices=sorted(TUNERS), default="xgb", help="what chooses candidates (default: xgb)")
    parser.add_argument("--trials", type=int, default=1000, metavar="N", help="candidates of a kernel (default: 1000)")
    parser.add_argument("--early-stopping", type=int, metavar="N", help="leave a kernel after N without a gain")
    parser.add_argument("--timeout", type=float, default=10, metavar="S", help="of a candidate (default: 10)")
    parser.add_argument("--parallel", type=int, default=4, metavar="N", help="candidates compiled at once (default: 4)")
    for option in ("number", "repeat", "min-repeat-ms"):
        what = "taken, and left: as many runs are measured as it takes"
        parser.add_argument(f"--{option}", type=int, metavar="N", help=what)
    group = parser.add_argument_group("auto-scheduler")
    group.add_argument("--enable-autoscheduler", action="store_true", help="search all kernels together; trials of all")
    group.add_argument("--include-simple-tasks", action="store_true", help="kernels that sum no products as well")
    group.add_argument("--log-estimated-latency", action="store_true", help="print a table of the kernels in the end")
    add_refused(parser, {**HARDWARE, **RPC})


def _tune(args: Any, out: TextIO) -> int:
    from lamina.compat.tvm.driver.tvmc import load, tune

    how: dict[str, Any] = {"number": args.number or 10, "repeat": args.repeat or 1, "min_repeat_ms": args.min_repeat_ms}
    names = ("trials", "tuner", "early_stopping", "desired_layout", "timeout", "parallel")
    how |= {name: getattr(args, name) for name in names}
    how |= {name: getattr(args, name) for name in ("include_simple_tasks", "log_estimated_latency", "target_host")}
    model = load(args.FILE, args.model_format, args.input_shapes)
    tune(model, args.target, args.output, args.tuning_records, args.enable_autoscheduler, **how)
    return EXIT_OK


_PARTS: dict[str, tuple[Callable[[Any], None], Callable[[Any, TextIO], int]]] = {
    "compile": (_add_compile, _compile),
    "run": (_add_run, _execute_run),
    "tune": (_add_tune, _tune),
}
