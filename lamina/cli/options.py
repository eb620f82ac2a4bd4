"""Options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.cli.shell import path_argument
from lamina.cli.tvmc_options import parse_shapes

if TYPE_CHECKING:
    from argparse import ArgumentParser

TARGETS = (
    "cpu (this machine), x86-64-v2, -v3, -v4, aarch64, ..., or as TVM has it, 'llvm -mtriple=aarch64-linux-gnu "
    "-mattr=+dotprod', a JSON text or its file; before it external backends: 'openblas, cpu'"
)
MODEL = "an ONNX or TensorFlow Lite file, or Relay as text: a file that ends with .mlir, or in TVM's format with .relay"


def add_model(parser: ArgumentParser, more: str = "") -> None:
    """Add the model."""
    parser.add_argument("model", type=path_argument, metavar="MODEL", help=MODEL + more)


def add_model_or_program(parser: ArgumentParser) -> None:
    """Add the model, which may be compiled already."""
    add_model(parser, ", or what `lamina compile -o FILE.lamina` wrote; `lamina run` takes FILE.so, too")


def add_compilation(parser: ArgumentParser) -> None:
    """Add how a model is compiled into a program that is run."""
    target = add_choosing(parser)
    add_choices(target)
    target.add_argument("--sanitize", action="store_true", help="kernels check bounds, unwritten elements and races")


def add_choices(target: Any) -> None:
    """Add the choices of schedules that were made earlier."""
    target.add_argument(
        "--choices", type=path_argument, metavar="FILE.json", help="compile as a file of `lamina tune` says"
    )
    target.add_argument(
        "--records",
        type=path_argument,
        metavar="FILE.jsonl",
        help="kernels get the fastest schedules of a file of records",
    )


def add_choosing(parser: ArgumentParser) -> Any:
    """Add how a model is compiled, but for what decides its choices of schedules; the group of these options."""
    parser.add_argument("--time", action="store_true", help="print the time of every step to stderr")
    target = parser.add_argument_group("target")
    target.add_argument("--target", default="cpu", metavar="NAME", help=TARGETS)
    target.add_argument("--opt-level", "-O", type=int, default=3, metavar="N", help="0 to 4 (default: 3)")
    for option, what in (("required", "runs whatever its level"), ("disabled", "does not run")):
        what = f"a pass that {what}, or several with commas"
        target.add_argument(f"--{option}-pass", action="append", default=[], metavar="PASS", help=what)
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
        "--shape", action="append", default=[], metavar="NAME=D,D,..", help="of an input; D, D..D or ? of a dimension"
    )
    target.add_argument(
        "--input-shapes",
        type=parse_shapes,
        default={},
        metavar="SHAPES",
        help="the same of several inputs, as tvmc takes them: 'x:[1,3,224,224] y:[1,8]'",
    )
    target.add_argument(
        "--state", action="append", default=[], metavar="INPUT=OUTPUT", help="an output that goes to an input next"
    )
    target.add_argument(
        "--desired-layout", metavar="NCHW|NHWC", help="give the convolutions of the graph this layout of images first"
    )
    target.add_argument("--max-tensor-bytes", type=int, metavar="N", help="of an ONNX model (default: 16 GiB)")
    target.add_argument("-p", "--passes", metavar="PASSES", help="run these first, on the graph: as for opt-tool -p")
    add_load(target)
    target.add_argument("--no-cache", action="store_true", help="compile afresh, and keep nothing")
    return target


def add_program(parser: ArgumentParser, folder: str = "") -> None:
    """Add a program of any level, and how it is made and run, for the commands that look for faults in it."""
    what = "a text with @main, or with one te.func or tir.func; or an ONNX model" + folder
    parser.add_argument("file", type=path_argument, metavar="FILE", help=what)
    parser.add_argument("-p", "--pipeline", metavar="PASSES", help="the passes (default: the compiler's)")
    parser.add_argument("--target", metavar="NAME", help=f"{TARGETS} (default: the program's own)")
    add_load(parser)
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


def add_load(parser: Any) -> None:
    """Add files of the user's own dialects, passes and backends."""
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        type=path_argument,
        metavar="FILE.py",
        help="add the file's dialects, passes and external backends to those of installed packages (xdsl.universe)",
    )


def add_inputs(parser: ArgumentParser) -> None:
    """Add arrays to run a model on."""
    parser.add_argument(
        "--input",
        "--inputs",
        "-i",
        action="append",
        default=[],
        type=path_argument,
        metavar="X.npz | NAME=@X.npy",
        help="arrays",
    )
    parser.add_argument(
        "--fill-mode",
        default="random",
        metavar="zeros|ones|random",
        help="arrays for inputs that are not given (default: random)",
    )


def add_rounds(parser: ArgumentParser) -> None:
    """Add how often candidates are timed."""
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="runs of each program (default: 15)")
