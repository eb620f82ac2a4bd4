"""The command line of opt-tool."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from lamina.cli.shell import path_argument
from lamina.errors import UsageError, did_you_mean

# Options that may stand alone or with `=value`; argparse would take the next word as the value.
_BARE = {"--timing": "--timing=tree", "--verify-each": "--verify-each=1", "--elide-elements-larger": None}


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint="see `opt-tool --help`")


def build() -> Parser:
    """The parser of opt-tool's command line."""
    p = Parser(
        prog="opt-tool",
        usage="opt-tool [options] [file.mlir]",
        description="Reads IR, runs passes, prints IR. Diagnostics go to stderr.",
        epilog="Exit status: 0 done, 1 bad input, 2 bad usage, 3 unsupported, 70 internal fault (writes a reproducer).",
        allow_abbrev=False,
    )
    g = p.add_argument_group("input and output")
    g.add_argument(
        "input_file", nargs="?", type=path_argument, metavar="file", help="the input; '-' or nothing is stdin"
    )
    g.add_argument("-o", dest="output_file", type=path_argument, metavar="FILE", help="write to FILE instead of stdout")
    g.add_argument(
        "-f", "--frontend", "--input-format", choices=("mlir", "onnx", "relay-text"),
        help="what the input is, if its name does not say: relay-text is TVM's text of Relay (.rly, .relay); "
        "the weights of an ONNX model (.onnx) are written beside -o FILE",
    )  # fmt: skip
    g.add_argument("--split-input-file", action="store_true", help="process the pieces between '// -----' one by one")
    g.add_argument("--output-split-marker", default="// -----", metavar="TEXT", help="what to print between pieces")
    g.add_argument("--allow-unregistered-dialect", action="store_true", help="read ops of unknown dialects")
    g.add_argument("--no-implicit-module", action="store_true", help="the input must be one builtin.module")
    g.add_argument(
        "--load",
        action="append",
        default=[],
        type=path_argument,
        metavar="FILE.py",
        help="add the file's dialects, passes and external backends",
    )
    g.add_argument("--run-reproducer", action="store_true", help="take the pipeline from the input, a reproducer")

    g = p.add_argument_group("passes")
    g.add_argument(
        "-p", "--passes", "--pass-pipeline", dest="passes", default="", metavar="PIPELINE",
        help="a,b{x=1 y=2} or builtin.module(func.func(cse))",
    )  # fmt: skip
    g.add_argument("--dump-pass-pipeline", action="store_true", help="print the pipeline to stderr and go on")
    g.add_argument("--list-passes", action="store_true", help="all passes, one line each")
    g.add_argument("--pass-help", "--help-pass", dest="pass_help", metavar="PASS", help="what a pass does; its options")
    g.add_argument("--list-ops", action="store_true", help="the ops of our dialects; of relay's with their facets")
    g.add_argument("--show-dialects", action="store_true", help="all dialects")
    g.add_argument("--trace-rules", action="store_true", help="print each firing of a rewrite rule")
    g.add_argument("--fuel", type=int, metavar="N", help="stop rewriting after N firings, counted over all passes")

    g = p.add_argument_group("checking")
    g.add_argument("--verify-each", default="1", choices=("0", "1"), help="verify after each pass (default 1)")
    g.add_argument("--verify-locations", action="store_true", help="fail if a pass leaves an op without location")
    g.add_argument("--verify-roundtrip", action="store_true", help="print and read back, both syntaxes, and compare")
    g.add_argument("--verify-diagnostics", action="store_true", help="check `// expected-error@+1 {{text}}` comments")
    g.add_argument(
        "--reduce", action="store_true",
        help="where the passes fail or make the numbers wrong: shrink the input, find the pass, print a test of it",
    )  # fmt: skip
    g.add_argument("--run", metavar="@FUNC", help="run a function after the passes, instead of printing")
    g.add_argument(
        "--input", type=path_argument, metavar="X.npz", help="arguments of --run, by name or as arg0, arg1, ..."
    )
    g.add_argument("--output", type=path_argument, metavar="Y.npz", help="where --run saves its results")

    g = p.add_argument_group("printing")
    g.add_argument("--print-op-generic", action="store_true", help="every op in the generic syntax")
    g.add_argument("--print-debuginfo", action="store_true", help="with locations")
    g.add_argument("--elide-elements-larger", type=int, metavar="N", help="elide dense constants of more elements")
    g.add_argument("--print-ir-before", action="append", default=[], metavar="PASS", help="IR before a pass, to stderr")
    g.add_argument("--print-ir-after", action="append", default=[], metavar="PASS", help="IR after a pass, to stderr")
    g.add_argument("--print-ir-before-all", action="store_true")
    g.add_argument("--print-ir-after-all", action="store_true")
    g.add_argument("--print-ir-after-change", action="store_true", help="only after passes that changed something")
    g.add_argument("--print-ir-after-failure", action="store_true", help="the IR that a failing pass left")
    g.add_argument("--print-ir-diff", action="store_true", help="a unified diff after each pass that changed something")
    g.add_argument(
        "--print-ir-tree-dir", type=path_argument, metavar="DIR", help="the IR after each pass as a file in DIR"
    )
    g.add_argument("--timing", choices=("tree", "json"), help="time of each pass, to stderr")
    g.add_argument("--debug", action="store_true", help="show the Python traceback of an error")
    g.add_argument("--version", action="store_true", help="versions of Lamina and xDSL")
    return p


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The options of a command line. Raises UsageError."""
    parser = build()
    words = [_BARE.get(w) or w for w in argv]
    args, unknown = parser.parse_known_args(words)
    for word in unknown:
        known = [o for a in parser._actions for o in a.option_strings]  # pyright: ignore[reportPrivateUsage]
        if word.startswith("-"):
            near = did_you_mean(word.partition("=")[0], known)
            raise UsageError(f"unknown option {word!r}", hint=near or "see `opt-tool --help`")
        raise UsageError(f"more than one input: {args.input_file!r} and {word!r}")
    return args
