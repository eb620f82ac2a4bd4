"""The command line of opt-tool: one table of options, spelled as mlir-opt's users spell them too.

A long option may begin with one dash (`-split-input-file`), a flag may say `=true` or `=false`, and what is no option
may be the flag of a pass (`--cse`, `--canonicalize='a=1 b=2'`), whose pass is looked for only when it is to run.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from lamina.cli.shell import path_argument
from lamina.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from lamina.frontends.formats import Format

SPLIT_MARKER = "// -----"
DESCRIPTION = "Reads IR, runs passes, prints IR. Diagnostics go to stderr."
EPILOG = (
    "Each pass is an option too: --cse, --canonicalize='options'. mlir-opt's spellings are understood: one dash for "
    "two, --mlir-print-ir-after-all, --mlir-timing and the like. "
    "Exit status: 0 done, 1 bad input, 2 bad usage, 3 unsupported, 70 internal fault (writes a reproducer)."
)


@dataclass(frozen=True)
class Option:
    """A row of the table."""

    names: str
    """Our names, then `|` and the names that mlir-opt and others have for it, which the help leaves out."""
    help: str = ""
    value: str = ""
    """The name of its value in the help; a flag where it is empty."""
    type: Any = str
    choices: tuple[str, ...] | None = None
    default: Any = None
    alone: str | None = None
    """Its value where it stands without `=value`; the next word is then no value of it."""
    many: bool = False
    """It may be given more than once: a list."""
    dest: str | None = None

    @property
    def shown(self) -> list[str]:
        return self.names.partition("|")[0].split()

    @property
    def spellings(self) -> list[str]:
        return self.names.replace("|", " ").split()

    @property
    def attribute(self) -> str:
        """The name of its value among the arguments."""
        long = next((n for n in self.shown if n.startswith("--")), "")
        return self.dest or long.removeprefix("--").replace("-", "_")


def _switch(text: str) -> str:
    """`0` or `1`, from MLIR's words for them too."""
    return {"false": "0", "true": "1"}.get(text, text)


PATH: Any = path_argument
TABLE: dict[str, tuple[Option, ...]] = {
    "input and output": (
        Option("-o", "write to FILE instead of stdout", "FILE", PATH, dest="output_file"),
        Option(
            "-f --frontend | --input-format",
            "what the input is, if its name does not say: mlir, onnx (.onnx), relay-text (TVM's text of Relay, .rly "
            "and .relay), or another frontend's; the weights of a model are written beside -o FILE",
            "FORMAT",
        ),
        Option(
            "--split-input-file", f"process the pieces between lines {SPLIT_MARKER!r} one by one", "TEXT",
            alone=SPLIT_MARKER,
        ),
        Option("--output-split-marker", "what to print between pieces", "TEXT", default=SPLIT_MARKER),
        Option("--allow-unregistered-dialect", "read ops of unknown dialects"),
        Option("--no-implicit-module", "the input must be one builtin.module"),
        Option("--load", "add the file's dialects, passes and external backends", "FILE.py", PATH, many=True),
        Option("--run-reproducer", "take the pipeline from the input, a reproducer"),
    ),
    "passes": (
        Option("-p --passes --pass-pipeline", "a,b{x=1 y=2} or builtin.module(func.func(cse))", "PIPELINE", default=""),
        Option("--dump-pass-pipeline", "print the pipeline to stderr and go on"),
        Option("--list-passes", "all passes, one line each"),
        Option("--pass-help --help-pass", "what a pass does; its options", "PASS"),
        Option("--list-rules", "the rewrite rules of a pass, each with its file and line", "PASS"),
        Option("--list-ops", "the ops of our dialects; of relay's with their facets"),
        Option("--show-dialects", "all dialects"),
        Option("--trace-rules", "print each edit: the firing of a rule, and what a pass does by hand"),
        Option("--debug-only", "the same in these passes alone: a,b", "PASSES", many=True),
        Option("--fuel", "stop after N edits, counted over all passes", "N", int),
    ),
    "checking": (
        Option(
            "--verify-each", "verify after each pass (default 1)", "0|1", _switch, ("0", "1"), default="1", alone="1"
        ),
        Option("--verify-locations", "fail if a pass leaves an op without location"),
        Option("--verify-roundtrip", "print and read back, both syntaxes, and compare"),
        Option("--verify-diagnostics", "check `// expected-error@+1 {{text}}` comments"),
        Option(
            "--reduce",
            "where the passes fail or make the numbers wrong: shrink the input, find the pass, print a test of it",
        ),
        Option("--run", "run a function after the passes, instead of printing", "@FUNC"),
        Option("--input", "arguments of --run, by name or as arg0, arg1, ...", "X.npz", PATH),
        Option("--output", "where --run saves its results", "Y.npz", PATH),
    ),
    "printing": (
        Option("--print-op-generic | --mlir-print-op-generic", "every op in the generic syntax"),
        Option("--print-debuginfo | --mlir-print-debuginfo", "with locations"),
        Option(
            "--elide-elements-larger | --mlir-elide-elementsattrs-if-larger",
            "elide dense constants of more elements", "N", int,
        ),
        Option("--print-ir-before | --mlir-print-ir-before", "IR before these passes, to stderr", "PASSES", many=True),
        Option("--print-ir-after | --mlir-print-ir-after", "IR after these passes, to stderr", "PASSES", many=True),
        Option("--print-ir-before-all | --mlir-print-ir-before-all", "IR before each pass"),
        Option("--print-ir-after-all | --mlir-print-ir-after-all", "IR after each pass"),
        Option(
            "--print-ir-after-change | --mlir-print-ir-after-change", "IR after passes, where they changed something"
        ),
        Option("--print-ir-after-failure | --mlir-print-ir-after-failure", "the IR that a failing pass left"),
        Option("--print-ir-diff", "a unified diff after each pass that changed something"),
        Option(
            "--print-ir-tree-dir | --mlir-print-ir-tree-dir", "the IR after each pass as a file in DIR", "DIR", PATH
        ),
        Option(
            "--timing | --mlir-timing", "time of each pass, to stderr", "tree|json", choices=("tree", "json"),
            alone="tree",
        ),
        Option(
            "--pass-statistics | --mlir-pass-statistics",
            "ops before and after each pass and what was counted in it, firings of rules among it, to stderr",
        ),
        Option("--debug", "show the Python traceback of an error"),
        Option("--version", "versions of Lamina and xDSL"),
    ),
}  # fmt: skip


def options() -> Iterator[Option]:
    """All rows of the table."""
    for rows in TABLE.values():
        yield from rows


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint="see `opt-tool --help`")


def frontend_called(name: str) -> Format | None:
    """The format of a frontend by its name, None for our own text. Raises UsageError for a name of none."""
    from lamina.frontends.formats import format_called, formats

    found = format_called(name)
    if found is None and name != "mlir":
        known = ["mlir", *(f.name for f in formats())]
        raise UsageError(f"no frontend {name!r}", hint=did_you_mean(name, known) or f"there are {', '.join(known)}")
    return found


@cache
def build() -> Parser:
    """The parser of opt-tool's command line, for all command lines of a process."""
    parser = Parser(
        prog="opt-tool",
        usage="opt-tool [options] [file.mlir]",
        description=DESCRIPTION,
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=32),
    )
    for title, rows in TABLE.items():
        group = parser.add_argument_group(title)
        if rows is TABLE["input and output"]:
            group.add_argument(
                "input_file", nargs="?", type=path_argument, metavar="file", help="the input; '-' or nothing is stdin"
            )
        for row in rows:
            keywords = _keywords(row)
            group.add_argument(*row.shown, help=row.help, **keywords)
            others = row.spellings[len(row.shown) :]
            if others:
                group.add_argument(*others, help=argparse.SUPPRESS, **keywords)
    return parser


def _keywords(row: Option) -> dict[str, Any]:
    """The keywords of `add_argument` for an option."""
    if not row.value:
        return {"dest": row.attribute, "action": "store_true"}
    found: dict[str, Any] = {"dest": row.attribute, "metavar": row.value, "type": row.type, "default": row.default}
    if row.alone is not None:
        found.update(nargs="?", const=row.alone)
    if row.choices:
        found["choices"] = row.choices
    if row.many:
        found.update(action="append", default=[])
    return found


_LONG = re.compile(r"--?(?P<name>[A-Za-z][^=]+)(?P<value>=.*)?", re.DOTALL)
_TRUE, _FALSE = ("=true", "=1"), ("=false", "=0")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; `flags` are the words that may name passes. Raises UsageError."""
    known = {name: row for row in options() for name in row.spellings}
    words: list[str] = []
    flags: list[str] = []
    rest = iter(argv)
    for word in rest:
        found = _LONG.fullmatch(word)
        if word == "--":
            words += [word, *rest]
        elif found is None:
            words.append(word)
        else:
            name, value = f"--{found['name']}", found["value"] or ""
            row = known.get(name)
            if row is None:
                flags.append(word)
            else:
                words += _spelled(row, name, value)
                if row.value and row.alone is None and not value:
                    words += [w for _, w in zip(range(1), rest, strict=False)]
    args, unknown = build().parse_known_args(words)
    for word in unknown:
        if word.startswith("-"):
            raise UsageError(f"unknown option {word!r}", hint="see `opt-tool --help`")
        raise UsageError(f"more than one input: {args.input_file!r} and {word!r}")
    args.flags = flags
    return args


def _spelled(row: Option, name: str, value: str) -> list[str]:
    """The words that argparse is given for an option and its `=value`, if there is one."""
    if not row.value:
        return [] if value in _FALSE else [name if value in _TRUE else name + value]
    if row.alone is not None and not value:
        return [f"{name}={row.alone}"]
    return [name + value]


def pass_of(flag: str) -> tuple[str, str]:
    """The pass that a flag names, and its options as pipelines have them: `--cse`, `--canonicalize='a=1 b=2'`."""
    name, equals, given = flag.lstrip("-").partition("=")
    return name, f"{{{given}}}" if equals else ""


def pipeline_of(args: argparse.Namespace) -> str:
    """The text of the pipeline that a command line asks for, in one of the two ways."""
    if args.flags and args.passes:
        raise UsageError(f"{args.flags[0]} does not go with -p", hint="name all passes in one of the two ways")
    return args.passes or ",".join("".join(pass_of(flag)) for flag in args.flags)


def unknown_option(word: str, passes: Sequence[str]) -> UsageError:
    """The error for a word that is neither an option nor a pass."""
    names = [name for row in options() for name in row.spellings]
    hint = did_you_mean("--" + word.lstrip("-").partition("=")[0], names + [f"--{p}" for p in passes])
    if word[:2] in names and (not hint or re.split(r"[,{(]", word[2:])[0] in passes):
        hint = f"its value stands apart: {word[:2]} {word[2:]}"
    return UsageError(f"unknown option {word!r}", hint=hint or "see `opt-tool --help` and `opt-tool --list-passes`")
