"""The command `lamina`: compile, run, bench and check models.

Every expected failure ends in one line, `error: <where>: <what>; <what to do>`, and exit status 1 (bad input),
2 (usage) or 3 (unsupported); a fault of Lamina's own in 70. Tracebacks come with --debug alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TextIO

from lamina.cli.shell import path_argument
from lamina.errors import EXIT_INPUT, EXIT_INTERNAL, EXIT_OK, LaminaError, UsageError, did_you_mean, render_error

COMMANDS = {
    "compile": "compile a model; print or write the text of any level",
    "run": "run a model on arrays from npy or npz files, or on random ones",
    "bench": "time a model, by turns with onnxruntime where that is installed; kernels against the machine's limits",
    "profile": "time each kernel in real runs; write a trace that Perfetto shows",
    "tune": "time candidates for each kernel inside the model; write the faster ones into a choice file",
    "explain-schedule": "print the candidates of each choice of a schedule, what each should take, and why one won",
    "calibrate": "measure what this processor does in a cycle, and keep it: default schedules are computed from it",
    "info": "print the version, this machine, and the figures that its schedules are computed from",
    "check": "list every operator of a model that is not supported",
    "fuzz": "run random programs in several ways that must agree, each in a process of its own; save those that fail",
    "debug": "compare: run a model, or a text of any level, after each step; bisect: the step that makes a fault",
    "reduce": "shrink a model, or a text of any level, in which something goes wrong, and write a test of it",
}

TARGETS = "cpu (this machine), x86-64-v2, -v3, -v4; before it external backends: 'openblas, cpu'"
MODEL = "an ONNX file, or Relay as text: a file that ends with .mlir, or in TVM's format with .relay"


class _Parser(argparse.ArgumentParser):
    """argparse whose errors are ours: one line, and a near name where there is one."""

    def error(self, message: str) -> NoReturn:
        hint = f"`{self.prog} --help` shows how"
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            options = [o for action in self._actions for o in action.option_strings]
            hint = did_you_mean(unknown.split()[0].split("=")[0], options) or hint
        raise UsageError(message, hint=hint)


def build_parser(command: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser = _Parser(f"lamina {command}", description=COMMANDS[command], allow_abbrev=False)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    if command not in _OF_PROGRAMS:
        _add_model(parser, command)
    if command in _COMPILING:
        _add_target(parser, command)
        parser.add_argument("--time", action="store_true", help="print the time of every step to stderr")
    _ADD_OWN[command](parser)
    return parser


def _add_model(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "compile":
        parser.add_argument("model", nargs="?", type=path_argument, metavar="MODEL", help=MODEL)
    else:
        program = ", or a program that `lamina compile -o FILE.lamina` wrote" * (command in ("run", "bench", "profile"))
        parser.add_argument("model", type=path_argument, metavar="MODEL", help=MODEL + program)


def _add_target(parser: argparse.ArgumentParser, command: str) -> None:
    """Options of how a model is compiled, as a group."""
    target = parser.add_argument_group("target")
    target.add_argument("--target", default="cpu", metavar="NAME", help=TARGETS)
    target.add_argument("--opt-level", type=int, default=3, metavar="N", help="0 to 4 (default: 3)")
    for option, what in (("required", "runs whatever its level"), ("disabled", "does not run")):
        target.add_argument(f"--{option}-pass", action="append", default=[], metavar="PASS", help=f"a pass that {what}")
    target.add_argument(
        "--pass-config", action="append", default=[], metavar="PASS.OPTION=VALUE", help="an option of a pass"
    )
    target.add_argument(
        "--numerics",
        default="fast",
        metavar="fast|exact",
        help="exact: change sums in their order alone (default: fast)",
    )
    target.add_argument("--threads", type=int, metavar="N", help="default: 1 for bench, else all processors")
    target.add_argument(
        "--shape", action="append", default=[], metavar="NAME=D,D,..", help="the shape of an input, or NAME=D of a dim"
    )
    target.add_argument("--max-tensor-bytes", type=int, metavar="N", help="of an ONNX model (default: 16 GiB)")
    target.add_argument("-p", "--passes", metavar="PASSES", help="run these first, on the graph: as for opt-tool -p")
    _add_load(target)
    if command != "tune":
        target.add_argument(
            "--choices", type=path_argument, metavar="FILE.json", help="compile as a file of `lamina tune` says"
        )
    target.add_argument("--no-cache", action="store_true", help="compile afresh, and keep nothing")
    if command not in _CHOOSING:
        target.add_argument(
            "--sanitize", action="store_true", help="kernels check bounds, unwritten elements and races"
        )


def _add_program(parser: argparse.ArgumentParser, folder: str = "") -> None:
    """A program of any level, and how it is made and run, for the commands that look for faults in it."""
    what = "a text with @main, or with one te.func or tir.func; or an ONNX model" + folder
    parser.add_argument("file", type=path_argument, metavar="FILE", help=what)
    parser.add_argument("-p", "--pipeline", metavar="PASSES", help="the passes (default: the compiler's)")
    parser.add_argument("--target", metavar="NAME", help=f"{TARGETS} (default: the program's own)")
    _add_load(parser)
    parser.add_argument("--size", action="append", default=[], metavar="NAME=N", help="the value of a size")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=D,D,..", help="the shape of an input of a model"
    )
    parser.add_argument(
        "--input", action="append", default=[], type=path_argument, metavar="X.npz | NAME=@X.npy", help="arrays"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the inputs that are drawn (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="say only what is found")
    parser.add_argument("--opt-level", type=int, default=3, metavar="N", help="of a model (default: 3)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of a model (default: 1)")
    parser.add_argument("--limit", type=float, default=30, metavar="S", help="a run that takes longer hangs (30)")


def _add_load(parser: Any) -> None:
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        type=path_argument,
        metavar="FILE.py",
        help="add the file's dialects, passes and external backends to those of installed packages (xdsl.universe)",
    )


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        type=path_argument,
        metavar="X.npz | NAME=@X.npy",
        help="arrays; random ones for inputs that are not given",
    )


def _add_compile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--emit",
        choices=("relay", "te", "tir", "llvm", "ll", "asm", "all"),
        help="the text of a level; to stdout without -o",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=path_argument,
        metavar="DIR|FILE.lamina|FILE",
        help="write the texts and the weights into a folder, the program into a file for `lamina run`, "
        "or with --emit one text into a file",
    )
    parser.add_argument("--print-pipeline", action="store_true", help="print the passes, for opt-tool -p")


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_inputs(parser)
    parser.add_argument(
        "--output",
        type=path_argument,
        metavar="Y.npz",
        help="write the outputs into a file; one alone also as Y.npy",
    )
    parser.add_argument("--profile", action="store_true", help="print the time of each kernel")


def _add_tune(parser: argparse.ArgumentParser) -> None:
    _add_inputs(parser)
    parser.add_argument(
        "-o", "--output", type=path_argument, required=True, metavar="FILE.json", help="the choice file to write"
    )
    _add_rounds(parser)


def _add_rounds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="runs of each program (default: 15)")


def _add_explain_schedule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--node", metavar="NAME", help="only choices for this node of the model")
    parser.add_argument("--measure", action="store_true", help="time each candidate inside the model as well")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    _add_inputs(parser)
    _add_rounds(parser)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    _add_inputs(parser)
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


def _add_profile(parser: argparse.ArgumentParser) -> None:
    _add_inputs(parser)
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="runs (default: 20)")
    parser.add_argument("--limit", type=int, metavar="N", help="print so many kernels, the slowest")
    parser.add_argument(
        "--trace", type=path_argument, metavar="FILE.json", help="write the last runs for ui.perfetto.dev"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", type=path_argument, metavar="FILE", help="write them there, for LAMINA_FIGURES=FILE"
    )


def _add_info(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _add_fuzz(parser: argparse.ArgumentParser) -> None:
    from lamina.cli.fuzz_command import add_arguments

    add_arguments(parser)
    _add_load(parser)


def _add_debug(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("compare", "bisect"), help="what is to be done with the program")
    _add_program(parser)
    parser.add_argument("--checked", action="store_true", help="interpret every step, whatever the size")
    parser.add_argument("--compiled", action="store_true", help="last of all as `lamina.compile` makes the program")
    parser.add_argument("--from", dest="start", metavar="STEP", help="look at no step before this pass or primitive")


def _add_reduce(parser: argparse.ArgumentParser) -> None:
    _add_program(parser, "; or a folder that `lamina fuzz` has left")
    parser.add_argument("--seconds", type=float, default=120, metavar="S", help="time for it all (default: 120)")
    parser.add_argument(
        "-o", "--output", type=path_argument, metavar="TEST.mlir", help="default: a file among the reproducers"
    )


_ADD_OWN: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "compile": _add_compile,
    "run": _add_run,
    "bench": _add_bench,
    "profile": _add_profile,
    "tune": _add_tune,
    "explain-schedule": _add_explain_schedule,
    "calibrate": _add_calibrate,
    "info": _add_info,
    "check": _add_check,
    "fuzz": _add_fuzz,
    "debug": _add_debug,
    "reduce": _add_reduce,
}
"""The options of one command alone."""
_OF_PROGRAMS = ("calibrate", "info", "fuzz", "debug", "reduce")
"""Commands that take no model, but a program of any level, or none."""
_CHOOSING = ("tune", "explain-schedule")
"""Commands about choices of schedules."""
_COMPILING = ("compile", "run", "bench", "profile", *_CHOOSING)
"""Commands that make machine code of a model."""


def usage() -> str:
    """The help of the whole command."""
    rows = "\n".join(f"  {name:<18}{text}" for name, text in COMMANDS.items())
    return (
        "usage: lamina COMMAND MODEL [options]\n\n"
        f"commands:\n{rows}\n\n"
        "`lamina COMMAND --help` shows the options of a command. Environment: LAMINA_CACHE=off, LAMINA_CACHE_DIR,\n"
        "LAMINA_PROGRESS=off, LAMINA_HOST=x86-64-v3 (take this machine for that one), LAMINA_FIGURES=FILE|shipped.\n"
        "Exit status: 0, 1 bad input, 2 usage, 3 unsupported, 70 a fault of Lamina, 130 interrupted.\n"
    )


def run(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Run the command on streams; the exit status. Only KeyboardInterrupt comes through."""
    debug = "--debug" in argv
    words = [w for w in argv if w != "--debug"] if argv[:1] == ["--debug"] else list(argv)
    try:
        if not words or words[0] in ("-h", "--help", "help"):
            out.write(usage())
            return EXIT_OK
        if words[0] == "--version":
            from importlib.metadata import version

            out.write(f"lamina {version('lamina')} on xDSL {version('xdsl')}\n")
            return EXIT_OK
        command = words[0]
        if command not in COMMANDS:
            what = "option" if command.startswith("-") else "command"
            hint = did_you_mean(command, list(COMMANDS)) or f"commands are {', '.join(COMMANDS)}"
            raise UsageError(f"unknown {what} {command!r}", hint=hint)
        parser = build_parser(command)
        if "-h" in words or "--help" in words:
            out.write(parser.format_help())
            return EXIT_OK
        args = parser.parse_args(words[1:])
        # Those whose value is the default one, too: with no defaults, what is not None was given.
        parser.set_defaults(**dict.fromkeys(vars(args)))
        args.given = [name for name, value in vars(parser.parse_args(words[1:])).items() if value is not None]
        return _execute(command, args, out, err)
    except BrokenPipeError:
        return EXIT_OK
    except LaminaError as e:
        _traceback(debug, err)
        err.write(render_error(e) + "\n")
        return e.exit_status
    except MemoryError as e:
        _traceback(debug, err)
        err.write(f"error: not enough memory: {e}\n")
        return EXIT_INPUT
    except Exception as e:
        _traceback(debug, err)
        from lamina.ir.user_code import users_mistake

        mistake = users_mistake(e)
        if mistake is not None:
            err.write(render_error(mistake) + "\n")
            return mistake.exit_status
        said = " ".join(str(e).split())
        err.write(f"error: internal error: {type(e).__name__}: {said}; run again with --debug and report it\n")
        return EXIT_INTERNAL


def _execute(command: str, args: Any, out: TextIO, err: TextIO) -> int:
    import warnings

    from lamina.cli import commands
    from lamina.cli.command_models import plugins

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        err.write(f"warning: {message}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show
        with plugins(args):
            return commands.COMMANDS[command](args, out, err)


def _traceback(debug: bool, err: TextIO) -> None:
    if debug:
        from traceback import format_exc

        err.write(format_exc())
