"""opt-tool: reads IR text, runs passes, prints IR text; every diagnostic on stderr, none with a traceback.

`main` is the command; `run_opt_tool` does the same inside the process, as often as wanted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from lamina.dialects.listener import Listener
from lamina.errors import (
    EXIT_INPUT,
    EXIT_INTERNAL,
    EXIT_OK,
    EXIT_USAGE,
    InputError,
    InternalError,
    LaminaError,
    UsageError,
    did_you_mean,
    printable,
    render_error,
)
from lamina.ir.context import LaminaContext, with_dialects
from lamina.ir.diagnostics import Diagnostic, at_op, diagnostic_of, render, see_op
from lamina.ir.instrumentation import (
    InvalidAfterPass,
    LocationHook,
    PrintHook,
    PrintOptions,
    TimeHook,
    Timer,
    VerifyHook,
)
from lamina.ir.parsing import RECURSION_LIMIT, decode, parse_text
from lamina.ir.pipeline import Hooks, parse_pipeline, print_pipeline, run_pipeline
from lamina.ir.printing import print_op
from lamina.ir.registry import Registry, find_our_pass
from lamina.ir.suffixes import MLIR
from lamina.ir.verification import VerificationError, verify_module
from lamina.opt_tool import options
from lamina.opt_tool.watching import watched

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from lamina.frontends.formats import Format, ModelFormat, TextFormat

STDIN = "<stdin>"


class _Shown(Listener):
    """Shows what passes have to say."""

    wants_remarks = True

    def __init__(self, emit: Callable[[Diagnostic], None]) -> None:
        self._emit = emit

    def message(self, severity: str, text: str, op: Operation | None = None) -> None:
        self._emit(at_op(severity, text, op))


def is_model(form: Format | None) -> TypeIs[ModelFormat]:
    """Whether an input is a model and no text."""
    if form is None:
        return False
    from lamina.frontends.formats import ModelFormat

    return isinstance(form, ModelFormat)


def is_text(form: Format | None) -> TypeIs[TextFormat]:
    """Whether an input is text of another kind than ours."""
    if form is None:
        return False
    from lamina.frontends.formats import TextFormat

    return isinstance(form, TextFormat)


class Session:
    """One run of the tool: its options, the texts it has read, and the diagnostics so far."""

    def __init__(self, args: argparse.Namespace, stdin: TextIO | str, out: TextIO, err: TextIO) -> None:
        self.args = args
        self.stdin = stdin
        self.out = out
        self.err = err
        self.registry = Registry()
        self.timer = Timer()
        self.sources: dict[str, str] = {}
        self.produced: list[Diagnostic] = []
        self.source: Path | None = None
        """The file beside which weights are, where it is not the input."""
        self.watching: list[Hooks] = []
        """Hooks that are called around every pass, beside those that the pieces of the input have of their own."""
        self.model: Path | bytes | None = None
        """The path or the bytes of a model, where the input is no text."""

    # -- diagnostics -----------------------------------------------------------------------------------------

    def emit(self, diagnostic: Diagnostic) -> None:
        """Show a diagnostic now, or keep it for comparison with what the input expects."""
        if self.args.verify_diagnostics:
            self.produced.append(diagnostic)
        else:
            self.err.write(render(diagnostic, self.sources))

    def report(self, error: LaminaError | DiagnosticException) -> int:
        """Show an error that is the user's; the exit status it has."""
        self._traceback()
        diagnostic = diagnostic_of(error)
        op = getattr(error, "op", None) or getattr(error, "at", None)
        if op is not None and not self.args.verify_diagnostics:
            diagnostic.notes.append(see_op(op, generic=isinstance(error, (VerificationError, InvalidAfterPass))))
        self.emit(diagnostic)
        return error.exit_status if isinstance(error, LaminaError) else EXIT_INPUT

    def _traceback(self) -> None:
        if self.args.debug:
            from traceback import format_exc

            self.err.write(format_exc())

    # -- the run ---------------------------------------------------------------------------------------------

    def run(self) -> int:
        args = self.args
        self.registry.load_universes()
        for problem in self.registry.problems:
            self.err.write(f"warning: {problem}\n")
        for file in args.load:
            self.registry.load_file(Path(file))
        with with_dialects(self.registry.dialects):
            return self._run()

    def _run(self) -> int:
        args = self.args
        if args.list_passes or args.list_rules or args.pass_help or args.list_ops or args.show_dialects:
            self._list()
            return EXIT_OK
        name, data = self._read()
        form = self._format(name)
        if is_model(form):
            if args.split_input_file or args.run_reproducer:
                raise UsageError(f"{name} is {form.what}, and no text", hint="import it first: opt-tool -o FILE.mlir")
            self.model = data if name == STDIN else Path(args.input_file)
        try:
            text = "" if self.model is not None else decode(data, name)
        except InputError:
            from lamina.frontends.formats import format_by_bytes
            from lamina.ir.foreign_files import BEGIN, refuse_foreign

            found = format_by_bytes(data[:BEGIN])
            if found is not None:
                hint = f"-f {found.name} reads it"
                raise InputError(f"is {found.what}, and no text", where=name, hint=hint) from None
            refuse_foreign(data)
            raise
        if args.run_reproducer:
            from lamina.ir import reproducer

            words, self.source = reproducer.read(text, name)
            again = options.parse([*words, *([args.input_file] if args.input_file else [])])
            again.debug, again.output_file, again.reduce = args.debug, args.output_file, args.reduce
            for file in again.load:
                self.registry.load_file(Path(file))
            self.args = args = again
        passes = self._passes()
        if args.dump_pass_pipeline:
            self.err.write(f"builtin.module({print_pipeline(passes)})\n")
        self.sources[name] = text
        if args.reduce:
            return self._reduce(text, name, passes)
        status = EXIT_OK
        results: list[str] = []
        with watched(args, self._named_passes("--debug-only", args.debug_only), self.err) as self.watching:
            for first_line, chunk in _split(text, args.split_input_file):
                chunk_status, result = self._process(chunk, name, first_line, passes)
                status = max(status, chunk_status)
                results.append(result)
        if args.timing:
            self.err.write(self.timer.report(args.timing))
        self._write(f"{args.output_split_marker}\n".join(results), status)
        return status

    def _process(self, text: str, name: str, first_line: int, passes: list[ModulePass]) -> tuple[int, str]:
        """One piece of the input: its exit status and what to print for it."""
        try:
            status, result = self._transform(text, name, first_line, passes)
        except (LaminaError, DiagnosticException) as e:
            status, result = self.report(e), ""
        if not self.args.verify_diagnostics:
            return status, result
        from lamina.opt_tool.expected import check, read

        expectations, problems = read(text, first_line)
        for p in problems:
            p.file = name
        wrong = problems + check(expectations, self.produced, name)
        self.produced.clear()
        for d in wrong:
            self.err.write(render(d, self.sources))
        if status == EXIT_INTERNAL:
            return status, result
        return (EXIT_INPUT if wrong else EXIT_OK), result

    def _passes(self) -> list[ModulePass]:
        """The passes of the pipeline, or of the flags in their order."""
        for word in self.args.flags:
            if not self._is_pass(options.pass_of(word)[0]):
                raise options.unknown_option(word, self.registry.names())
        return parse_pipeline(options.pipeline_of(self.args), self.registry)

    def _is_pass(self, name: str) -> bool:
        return find_our_pass(name) is not None or name in self.registry.names()

    def _named_passes(self, option: str, given: Sequence[str]) -> set[str]:
        """The passes that an option names. Raises UsageError."""
        names = {name for words in given for name in words.split(",")}
        for name in sorted(names):
            if not self._is_pass(name):
                near = did_you_mean(name, self.registry.names())
                raise UsageError(f"{option}: unknown pass {name!r}", hint=near or "see `opt-tool --list-passes`")
        return names

    def _context(self) -> LaminaContext:
        ctx = LaminaContext(allow_unregistered=self.args.allow_unregistered_dialect)
        file = self.args.input_file
        ctx.source_path = self.source or (Path(file) if file not in (None, "-") else None)
        ctx.listener = _Shown(self.emit)
        return ctx

    def _format(self, name: str) -> Format | None:
        """The frontend's format that the input has, None for our own text."""
        given = self.args.frontend
        if given is None:
            if name == STDIN or name.endswith(MLIR):
                return None
            from lamina.frontends.formats import format_by_suffix, format_of_folder

            return format_by_suffix(name) or format_of_folder(name)
        return options.frontend_called(given)

    def _parse(self, ctx: LaminaContext, text: str, name: str, first_line: int) -> ModuleOp:
        form = self._format(name)
        if is_model(form):
            from lamina.ir.foreign_files import refuse_foreign

            refuse_foreign(self.model)
            imported = form.read(self.model)
            ctx.params = imported.store
            return imported.module
        if is_text(form) and form.parse is not None:
            # The lines before a piece of a file count.
            module, ctx.params = form.parse("\n" * (first_line - 1) + text, name)
            return module
        return parse_text(ctx, text, name, first_line=first_line, implicit_module=not self.args.no_implicit_module)

    def _transform(self, text: str, name: str, first_line: int, passes: list[ModulePass]) -> tuple[int, str]:
        args = self.args
        ctx = self._context()
        with self.timer.of("parse"):
            module = self._parse(ctx, text, name, first_line)
        with self.timer.of("verify"):
            verify_module(module)
        if args.verify_roundtrip:
            with self.timer.of("round trip"):
                self._verify_roundtrip(module, ctx)
        if passes or args.run:
            ctx.open_params(module)
        hooks = self._hooks(ctx)
        for done, p in enumerate(passes):
            try:
                run_pipeline(module, ctx, [p], hooks)
            except (LaminaError, DiagnosticException) as e:
                if not isinstance(e, InternalError):
                    raise
                status = self.report(e)
                self._reproduce(text, name, first_line, passes, done, str(e))
                return status, ""
            except Exception as e:
                from lamina.ir.user_code import users_mistake

                what = f"{type(e).__name__}: {' '.join(str(e).split())}"
                fault = users_mistake(e, f"in pass '{p.name}'") or InternalError(
                    f"internal error in pass '{p.name}': {what}"
                )
                status = self.report(fault)
                self._reproduce(text, name, first_line, passes, done, f"{p.name}: {what}")
                return status, ""
        if args.run:
            with self.timer.of("run"):
                return EXIT_OK, self._execute(module, ctx)
        with self.timer.of("print"):
            if self.model is not None:
                self._write_weights(module, ctx)
            return EXIT_OK, self._text(module, ctx) + "\n"

    def _hooks(self, ctx: LaminaContext) -> list[Hooks]:
        a = self.args
        hooks: list[Hooks] = [TimeHook(self.timer), *self.watching]
        if a.verify_each == "1":
            hooks.append(VerifyHook(self.timer))
        if a.verify_locations:
            hooks.append(LocationHook())
        shown = PrintOptions(
            self._named_passes("--print-ir-before", a.print_ir_before),
            self._named_passes("--print-ir-after", a.print_ir_after),
            a.print_ir_before_all,
            a.print_ir_after_all,
            a.print_ir_after_change,
            a.print_ir_after_failure,
            a.print_ir_diff,
            Path(a.print_ir_tree_dir) if a.print_ir_tree_dir else None,
        )
        if shown.any():
            hooks.append(PrintHook(shown, lambda op: self._text(op, ctx), self.err))
        return hooks

    # -- text out --------------------------------------------------------------------------------------------

    def _text(self, op: Operation, ctx: LaminaContext) -> str:
        a = self.args
        return print_op(op, ctx, a.print_op_generic, a.print_debuginfo, a.elide_elements_larger)

    def _write_weights(self, module: ModuleOp, ctx: LaminaContext) -> None:
        """Write the weights of an imported model beside the text that is to be written, and name them in it."""
        from lamina.driver.stage_texts import named_weights

        weights = named_weights(module)
        if not weights or self.args.output_file in (None, "-"):
            return
        path = Path(self.args.output_file).with_suffix(".safetensors")
        ctx.params.save(path, weights)
        module.attributes["lamina.params"] = StringAttr(path.name)

    def _verify_roundtrip(self, module: ModuleOp, ctx: LaminaContext) -> None:
        from lamina.opt_tool.roundtrip import verify_roundtrip

        verify_roundtrip(
            module,
            lambda op, generic: print_op(op, ctx, generic),
            lambda text, name: parse_text(self._context(), text, name),
        )

    def _execute(self, module: ModuleOp, ctx: LaminaContext) -> str:
        from lamina.opt_tool.execute import execute

        return execute(module, ctx, self.args.run, self.args.input, self.args.output)

    def _reproduce(
        self, text: str, name: str, first_line: int, passes: list[ModulePass], done: int, error: str
    ) -> None:
        """Write the IR before the failing pass, made once more from the input, and the remaining pipeline."""
        from lamina.ir import reproducer

        try:
            ctx = self._context()
            module = self._parse(ctx, text, name, first_line)
            ctx.open_params(module)
            run_pipeline(module, ctx, passes[:done])
            ir = print_op(module, ctx)
        except Exception:
            ir, done = text, 0
        kept = [f"--verify-each={self.args.verify_each}"]
        kept += ["--allow-unregistered-dialect"] if self.args.allow_unregistered_dialect else []
        kept += [f"--load={Path(f).absolute()}" for f in self.args.load]
        source = self._context().source_path
        path = reproducer.write(
            ir, print_pipeline(passes[done:]), kept, error, source.absolute() if source is not None else None
        )
        if path is not None:
            self.err.write(f"note: reproducer written to {path}; run it with `opt-tool --run-reproducer {path}`\n")

    def _reduce(self, text: str, name: str, passes: list[ModulePass]) -> int:
        """Shrink the input while the fault of the passes stays; print a test of the guilty one."""
        from lamina.cli.command_programs import reduce_module

        ctx = self._context()
        module = self._parse(ctx, text, name, 1)
        ctx.open_params(module)
        how = print_pipeline(passes), self.args.load, self.args.input
        found, path = reduce_module(module, ctx, *how, self.args.output_file, self.err)
        if self.args.output_file is None:
            self.out.write(path.read_text("utf-8"))
            self.err.write(f"note: reproducer written to {path}; run it with `opt-tool --run-reproducer {path}`\n")
        self.err.write(f"{found}\n")
        return EXIT_OK

    # -- files -----------------------------------------------------------------------------------------------

    def _read(self) -> tuple[str, bytes]:
        file = self.args.input_file
        if file is None or file == "-":
            if isinstance(self.stdin, str):
                return STDIN, self.stdin.encode("utf-8", "surrogateescape")
            buffer = getattr(self.stdin, "buffer", None)
            return STDIN, buffer.read() if buffer is not None else self.stdin.read().encode()
        try:
            return printable(file), Path(file).read_bytes()
        except OSError as e:
            if Path(file).is_dir():
                from lamina.frontends.formats import format_of_folder

                if format_of_folder(file) is not None:
                    return printable(file), b""
            raise InputError(f"cannot read: {e.strerror}", where=file) from e

    def _write(self, text: str, status: int) -> None:
        if self.args.output_file is None or self.args.output_file == "-":
            self.out.write(text)
        elif status == EXIT_OK:
            try:
                Path(self.args.output_file).write_text(text, "utf-8")
            except OSError as e:
                raise InputError(f"cannot write: {e.strerror}", where=self.args.output_file) from e

    def _list(self) -> None:
        from lamina.opt_tool import listing

        if self.args.pass_help:
            listing.pass_help(self.args.pass_help, self.registry, self.out)
        if self.args.list_passes:
            listing.list_passes(self.registry, self.out)
        if self.args.list_rules:
            listing.list_rules(self.args.list_rules, self.registry, self._context(), self.out)
        if self.args.list_ops:
            listing.list_ops(self.registry, self._context(), self.out)
        if self.args.show_dialects:
            listing.show_dialects(self._context(), self.out)


def _split(text: str, marker: str | None) -> list[tuple[int, str]]:
    """The pieces between lines that are the marker, each with its first line in the file; without marker one."""
    if marker is None:
        return [(1, text)]
    pieces: list[tuple[int, str]] = []
    rows: list[str] = []
    first = 1
    for number, row in enumerate(text.split("\n"), 1):
        if row.strip() == marker:
            pieces.append((first, "\n".join(rows)))
            rows, first = [], number + 1
        else:
            rows.append(row)
    pieces.append((first, "\n".join(rows)))
    return pieces


def run(argv: Sequence[str], stdin: TextIO | str, out: TextIO, err: TextIO) -> int:
    """Run the tool on streams. Returns the exit status; only KeyboardInterrupt comes through."""
    if sys.getrecursionlimit() < RECURSION_LIMIT:
        sys.setrecursionlimit(RECURSION_LIMIT)
    debug = "--debug" in argv or "-debug" in argv
    try:
        if not {"-h", "-help", "--help"}.isdisjoint(argv):
            out.write(options.build().format_help())
            return EXIT_OK
        args = options.parse(argv)
        if args.version:
            from importlib.metadata import version

            out.write(f"opt-tool of Lamina {version('lamina')} on xDSL {version('xdsl')}\n")
            return EXIT_OK
        session = Session(args, stdin, out, err)
        try:
            return session.run()
        except LaminaError as e:
            if e.exit_status == EXIT_USAGE:
                raise
            return session.report(e)
    except LaminaError as e:
        if debug:
            from traceback import format_exc

            err.write(format_exc())
        err.write(render_error(e) + "\n")
        return e.exit_status
    except BrokenPipeError:
        return EXIT_OK
    except MemoryError as e:
        err.write(f"error: not enough memory: {e}\n")
        return EXIT_INPUT
    except Exception as e:
        if debug:
            from traceback import format_exc

            err.write(format_exc())
        from lamina.ir.user_code import users_mistake

        mistake = users_mistake(e)
        if mistake is not None:
            err.write(render_error(mistake) + "\n")
            return mistake.exit_status
        err.write(f"error: internal error: {type(e).__name__}: {e}; run again with --debug and report it\n")
        return EXIT_INTERNAL


def run_opt_tool(argv: Sequence[str], stdin_text: str = "") -> tuple[int, str, str]:
    """The exit status, stdout and stderr of `opt-tool argv...`, without a process."""
    from contextlib import redirect_stderr, redirect_stdout

    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(argv, stdin_text, out, err)
    return status, out.getvalue(), err.getvalue()
