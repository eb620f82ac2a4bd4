"""The command `lamina`: compile, run, bench and check models.

Every expected failure ends in one line, `error: <where>: <what>; <what to do>`, and exit status 1 (bad input),
2 (usage) or 3 (unsupported); a fault of Lamina's own in 70. Tracebacks come with --debug alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn, TextIO

from lamina.errors import EXIT_INPUT, EXIT_INTERNAL, EXIT_OK, LaminaError, UsageError, did_you_mean, render_error

COMMANDS = {
    "compile": "compile a model; print or write the text of any level",
    "run": "run a model on arrays from npy or npz files, or on random ones",
    "bench": "time a model, by turns with onnxruntime where that is installed; kernels against the machine's limits",
    "profile": "time each kernel in real runs; write a trace that Perfetto shows",
    "tune": "time candidates for each kernel inside the model; write the faster ones into a choice file",
    "records": "show, merge and cut down files of schedules that were measured",
    "explain-schedule": "print the candidates of each choice of a schedule, what each should take, and why one won",
    "calibrate": "measure what this processor does in a cycle, and keep it: default schedules are computed from it",
    "info": "print the version, this machine, and the figures that its schedules are computed from",
    "inspect": "print what a saved program or an exported library holds, without running any of it",
    "check": "list every operator of a model that is not supported",
    "fuzz": "run random programs in several ways that must agree, each in a process of its own; save those that fail",
    "debug": "compare: run a model, or a text of any level, after each step; bisect: the step that makes a fault",
    "reduce": "shrink a model, or a text of any level, in which something goes wrong, and write a test of it",
}
"""The line of help of each command. Its options and its function stand in `commands/`, in a file with its name."""


class CommandParser(argparse.ArgumentParser):
    """argparse whose errors are ours: one line, and a near name where there is one."""

    def error(self, message: str) -> NoReturn:
        hint = f"`{self.prog} --help` shows how"
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            options = [o for action in self._actions for o in action.option_strings]
            hint = did_you_mean(unknown.split()[0].split("=")[0], options) or hint
        raise UsageError(message, hint=hint)


def _module(command: str) -> Any:
    """The file of a command: `add_arguments(parser)` and `run(args, out, err)`, which returns the exit status."""
    return import_module(f"lamina.cli.commands.{command.replace('-', '_')}")


def _parser(command: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser = CommandParser(f"lamina {command}", description=COMMANDS[command], allow_abbrev=False)
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    _module(command).add_arguments(parser)
    return parser


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
    return guarded(lambda: _run(words, out, err), err, debug)


def guarded(action: Callable[[], int], err: TextIO, debug: bool = False) -> int:
    """The exit status of an action. A failure is told in one line, with `debug` behind its traceback."""
    try:
        return action()
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


def _run(words: Sequence[str], out: TextIO, err: TextIO) -> int:
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
    parser = _parser(command)
    if "-h" in words or "--help" in words:
        out.write(parser.format_help())
        return EXIT_OK
    args = parser.parse_args(words[1:])
    # Those whose value is the default one, too: with no defaults, what is not None was given.
    parser.set_defaults(**dict.fromkeys(vars(args)))
    args.given = [name for name, value in vars(parser.parse_args(words[1:])).items() if value is not None]
    return _execute(command, args, out, err)


def _execute(command: str, args: Any, out: TextIO, err: TextIO) -> int:
    from lamina.cli.command_models import plugins

    with warnings_on(err), plugins(args):
        return _module(command).run(args, out, err)


@contextmanager
def warnings_on(err: TextIO) -> Generator[None]:
    """While it lasts, warnings are told in a line each."""
    import warnings

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        err.write(f"warning: {message}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _traceback(debug: bool, err: TextIO) -> None:
    if debug:
        from traceback import format_exc

        err.write(format_exc())
