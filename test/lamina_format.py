"""lit's ShTest, with the common RUN lines executed inside the process: a test takes 10 ms instead of 400.

A RUN line is run here when it has the shape

    [not] opt-tool ARG... [| opt-tool ARG...]... [2>&1] [| filecheck ARG...] [&& ...]

and every part of the line means the same in lit's own shell. If one line of a test has another shape, lit's shell
runs the whole test. `lit --param lamina_shell=1 test` runs everything that way.
"""

# lit has no types.
# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

import io
import os
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import lit.Test
import lit.TestRunner
from lit.formats import ShTest


class Command(NamedTuple):
    """`opt-tool ... | opt-tool ... | filecheck ...`."""

    negated: bool
    tools: list[list[str]]
    """The arguments of each."""
    merged: bool
    """2>&1"""
    check: list[str] | None


# Anything that a shell would treat in its own way; quoted text was taken out before.
_SHELL = re.compile(r"[`$;*?~<>()\[\]&\\]")


def parse_line(line: str) -> list[Command] | None:
    """The commands of a RUN line, None when the line needs a shell."""
    commands: list[Command] = []
    for part in re.split(r"\s&&\s", line):
        sides = _split_pipe(part)
        if sides is None:
            return None
        check = sides.pop()[1:] if sides[-1][:1] == ["filecheck"] else None
        if not sides:
            return None
        negated = sides[0][:1] == ["not"]
        sides[0] = sides[0][negated:]
        merged = sides[-1][-1:] == ["2>&1"]
        sides[-1] = sides[-1][: len(sides[-1]) - merged]
        if any(words[:1] != ["opt-tool"] or "2>&1" in words for words in sides) or (negated and len(sides) > 1):
            return None
        commands.append(Command(negated, [words[1:] for words in sides], merged, check))
    return commands


def _split_pipe(text: str) -> list[list[str]] | None:
    bare = re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", text)
    if _SHELL.search(bare.replace("2>&1", "")):
        return None
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="|")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return None
    sides: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            sides.append([])
        else:
            sides[-1].append(word)
    return sides


class LaminaFormat(ShTest):
    """ShTest that runs what it can without a process."""

    def execute(self, test: Any, litConfig: Any) -> Any:
        if litConfig.params.get("lamina_shell"):
            return super().execute(test, litConfig)
        if test.config.unsupported:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "Test is unsupported")
        script = lit.TestRunner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result):
            return script
        folder, base = lit.TestRunner.getTempPaths(test)
        substitutions = lit.TestRunner.getDefaultSubstitutions(test, folder, base)
        lines: list[str] = lit.TestRunner.applySubstitutions(
            script, substitutions, recursion_limit=test.config.recursiveExpansionLimit
        )
        commands: list[tuple[str, Command]] = []
        for line in lines:
            match = re.fullmatch(lit.TestRunner.kPdbgRegex, line)
            text = (match.group(2) if match else line).strip()
            parsed = parse_line(text)
            if parsed is None:
                return super().execute(test, litConfig)
            commands += [(text, c) for c in parsed]
        os.makedirs(os.path.dirname(base), exist_ok=True)
        here = os.getcwd()
        os.chdir(os.path.dirname(base))
        try:
            return _run(test, commands)
        finally:
            os.chdir(here)


def _run(test: Any, commands: list[tuple[str, Command]]) -> Any:
    log: list[str] = []
    failed = False
    for text, command in commands:
        status, out, err = _opt_tool(command)
        log.append(f"$ {text}\n")
        if (status != 0) != command.negated:
            failed = True
            log.append(f"opt-tool exited {status}\n{err if not command.merged else ''}{out}")
        elif command.check is not None:
            code, message = _filecheck(command.check, out)
            if code:
                failed = True
                log.append(f"{message}\n--- input of filecheck ---\n{out}\n")
                log.append(f"--- stderr of opt-tool ---\n{err}\n" if err else "")
        if failed:
            break
    status = lit.Test.FAIL if failed else lit.Test.PASS
    if test.isExpectedToFail():
        status = lit.Test.XFAIL if failed else lit.Test.XPASS
    return lit.Test.Result(status, "".join(log) if status.isFailure else "")


def _opt_tool(command: Command) -> tuple[int, str, str]:
    from lamina.opt_tool.command import run

    text, failed, messages = "", 0, io.StringIO()
    for n, words in enumerate(command.tools):
        out = io.StringIO()
        err = out if command.merged and n == len(command.tools) - 1 else messages
        with redirect_stdout(out), redirect_stderr(err):
            status = run(words, text, out, err)
        # As lit's shell has it, with pipefail: the last that fails.
        failed = status or failed
        text = out.getvalue()
    return failed, text, messages.getvalue()


def _filecheck(arguments: list[str], text: str) -> tuple[int, str]:
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    err = io.StringIO()
    with redirect_stdout(err), redirect_stderr(err):
        options = parse_argv_options(["filecheck", *arguments])
        if options.input_file != "-":
            source = FInput.from_opts(options)
        else:
            source = FInput("<stdin>", text)
        code = Matcher(options, source, Parser.from_opts(options)).run()
    return code, err.getvalue()
