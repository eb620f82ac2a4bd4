"""The level-by-level comparer: it runs every step and names the first one that is wrong."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lamina.cli import command as cli
from lamina.debugging.compare import compare_levels, default_passes
from lamina.dialects.schedule.primitive import ScheduleState
from lamina.dialects.schedule.primitives.split import SplitOp
from lamina.dialects.tir.ops import ForOp, LoadOp
from lamina.errors import LaminaError, UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline
from lamina.passes.base import Context
from lamina.passes.tir.loops.simplify import SimplifyPass

sys.path.insert(0, str(Path(__file__).parent))

from scheduled_product import scheduled_product  # noqa: E402

PROGRAM = scheduled_product(
    "%io, %ii = te.split %i [-1, 2]",
    "%jo, %ji = te.split %j [-1, 4]",
    "te.reorder %io, %jo, %k, %ii, %ji",
    "te.vectorize %ji",
)


def test_every_step_of_a_right_program_agrees() -> None:
    told: list[str] = []
    found = compare_levels(PROGRAM, "f.mlir", tell=told.append)
    assert found.difference is None
    assert found.steps[:7] == [
        "te",
        "te-to-tir, naive loops",
        "%io, %ii = te.split %i [-1, 2]",
        "%jo, %ji = te.split %j [-1, 4]",
        "te.reorder %io, %jo, %k, %ii, %ji",
        "te.vectorize %ji",
        "te-to-tir",
    ]
    assert found.steps[-1] == "tir-to-llvm, machine code"
    assert "same  te.vectorize %ji (f.mlir:15:3)" in told


@dataclass(frozen=True)
class OffByOne(ModulePass):
    """A pass that is wrong: the first load that has an index reads the next element."""

    name = "off-by-one"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        load = next(o for o in op.walk() if isinstance(o, LoadOp) and o.buffer.name_hint == "A")
        first, last = load.forms()
        load.set_access([first, last + 1], load.conditions())


@dataclass(frozen=True)
class Halved(ModulePass):
    """A pass that is wrong: products become sums."""

    name = "halved"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        product = next(o for o in op.walk() if isinstance(o, arith.MulfOp))
        total = arith.AddfOp(product.operands[0], product.operands[1])
        assert product.parent is not None
        product.parent.insert_op_before(total, product)
        product.results[0].replace_all_uses_with(total.result)
        product.detach()
        product.erase()


def with_pass(wrong: ModulePass, after: str) -> list[ModulePass]:
    module: ModuleOp = parse_text(LaminaContext(), PROGRAM, "f.mlir")
    passes = default_passes(module)
    at = next(n for n, p in enumerate(passes) if p.name == after)
    return [*passes[: at + 1], wrong, *passes[at + 1 :]]


@pytest.mark.parametrize("after", ["te-to-tir", "tir-lower-blocks", "tir-simplify"])
def test_a_pass_that_changes_a_value_is_named(after: str) -> None:
    found = compare_levels(PROGRAM, "f.mlir", pipeline=with_pass(Halved(), after), seed=1)
    assert found.difference is not None
    assert found.difference.step == "halved" and found.difference.where == ""
    assert found.steps[-1] == after
    r = np.random.default_rng(1)
    a, b = (r.integers(-4, 5, s).astype(np.float32) for s in ((6, 4), (4, 5)))
    right, wrong = a @ b, (a[:, :, None] + b[None]).sum(1)
    index = tuple(int(i[0]) for i in np.nonzero(right != wrong))
    assert (found.difference.index, found.difference.expected) == (index, right[index])
    assert found.difference.got == wrong[index]
    assert str(found.difference) == (
        f"halved: result 'C'[{index[0]}, {index[1]}] is {wrong[index]}, expected {right[index]}"
    )


def test_a_pass_after_which_a_run_fails_is_named() -> None:
    found = compare_levels(PROGRAM, "f.mlir", pipeline=with_pass(OffByOne(), "tir-lower-blocks"))
    assert found.difference is not None and found.difference.step == "off-by-one"
    assert "reads %A[" in found.difference.failure and "outside dimension 1 of extent 4" in found.difference.failure


def test_a_pass_that_raises_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fall_over(self: SimplifyPass, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(SimplifyPass, "apply", fall_over)
    found = compare_levels(PROGRAM, "f.mlir")
    assert found.difference is not None and found.difference.step == "tir-simplify"
    assert found.difference.failure.startswith(__file__) and found.difference.failure.endswith(": KeyError: 'lost'")


def test_a_primitive_that_is_wrong_is_named_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    right = SplitOp.apply

    def wrong(self: SplitOp, state: ScheduleState) -> None:
        """The second split of the schedule reads the first column alone."""
        right(self, state)
        if sum(1 for op in state.func.walk() if isinstance(op, ForOp)) == 5:
            load = next(o for o in state.func.walk() if isinstance(o, LoadOp) and o.buffer.name_hint == "B")
            row, column = load.forms()
            load.set_access([row, column * 0])

    monkeypatch.setattr(SplitOp, "apply", wrong)
    found = compare_levels(PROGRAM, "f.mlir")
    assert found.difference is not None
    assert found.difference.step == "%jo, %ji = te.split %j [-1, 4]"
    assert found.difference.where == "f.mlir:13:14"
    assert found.steps[-1] == "%io, %ii = te.split %i [-1, 2]"


def test_an_illegal_primitive_is_named() -> None:
    text = PROGRAM.replace("te.vectorize %ji", "te.vectorize %k")
    found = compare_levels(text, "f.mlir")
    assert found.difference is not None and found.difference.step == "te.vectorize %k"
    assert "schedule of @f, te.vectorize" in found.difference.failure


SYMBOLIC = """
te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0 * 2)>}) -> tensor<?xf32> {
  %B = te.compute "B" [%n * 2] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    %b = math.exp %a : f32
    te.yield %b : f32
  }
  te.return %B : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "B" [1]
  %io, %ii = te.split %i [-1, 8]
  te.vectorize %ii
  te.parallel %io
}
"""


@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_sizes_are_given_and_floats_are_near_enough(n: int) -> None:
    found = compare_levels(SYMBOLIC, "s.mlir", sizes={"n": n})
    assert found.difference is None and found.steps[-1] == "tir-to-llvm, machine code"


def test_an_unknown_size_is_refused() -> None:
    with pytest.raises(UsageError, match="no size 'm'; its sizes: n"):
        compare_levels(SYMBOLIC, "s.mlir", sizes={"m": 3})


RELAY = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = relay.nn.relu %x : tensor<2x3xf32>
  %1 = relay.add %0, %x : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
"""


def test_a_graph_is_run_at_every_level() -> None:
    found = compare_levels(RELAY, "r.mlir")
    assert found.difference is None
    assert found.steps[0] == "relay" and "relay-to-te" in found.steps and found.steps[-1].endswith("machine code")


def test_inputs_may_be_given() -> None:
    text = PROGRAM
    a = np.full((6, 4), 2, np.float32)
    wrong = with_pass(Halved(), "te-to-tir")
    found = compare_levels(text, "f.mlir", inputs={"A": a, "B": np.full((4, 5), 2, np.float32)}, pipeline=wrong)
    assert found.difference is None  # 2 * 2 is 2 + 2
    with pytest.raises(LaminaError, match="'A' has shape"):
        compare_levels(text, "f.mlir", inputs={"A": a.T})


# -- the command -------------------------------------------------------------------------------------------------


def command(*argv: Any) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return cli.run([str(a) for a in argv], out, err), out.getvalue(), err.getvalue()


def test_the_command_says_what_agrees(tmp_path: Path) -> None:
    path = tmp_path / "s.mlir"
    path.write_text(SYMBOLIC)
    status, out, err = command("debug", "compare", path, "--size", "n=3")
    assert (status, err) == (0, "")
    assert out.startswith("same  te\nsame  te-to-tir, naive loops\n") and out.endswith(" steps agree\n")
    assert command("debug", "compare", path, "--quiet")[1].startswith("all ")


def test_the_command_compares_for_a_target(tmp_path: Path) -> None:
    path = tmp_path / "r.mlir"
    path.write_text(
        "func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {\n"
        "  %y = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>\n"
        "  return %y : tensor<2x4xf32>\n"
        "}\n"
    )
    assert "relay-external-codegen{" not in command("debug", "compare", path)[1]
    status, out, _ = command("debug", "compare", path, "--target", "openblas, cpu")
    assert status == 0 and "same  relay-external-codegen{targets=openblas}\n" in out


def test_the_command_names_the_step_that_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(PROGRAM)
    monkeypatch.setattr(SimplifyPass, "apply", cast(Any, lambda self, ctx, op: Halved().apply(ctx, op)))  # pyright: ignore
    status, out, err = command("debug", "compare", path)
    assert (status, err) == (1, "")
    last, why = out.splitlines()[-2:]
    assert why == "first op that changes: %p = arith.mulf %a, %b : f32"
    assert last.startswith("first difference: tir-simplify: result 'C'[") and ", expected " in last


PLUGIN = '''
"""A pass that is wrong."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Shorten(ModulePass):
    """Loops lose their last iteration."""

    name = "shorten"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [o for o in op.walk() if o.name == "tir.for" and o.trip == 4 and o.is_reduction]:
            loop.properties["extent"] = type(loop.extent)(3, 64)
'''


def test_a_pass_of_the_users_own_is_compared(tmp_path: Path) -> None:
    path, plugin = tmp_path / "f.mlir", tmp_path / "shorten.py"
    path.write_text(PROGRAM)
    plugin.write_text(PLUGIN)
    status, out, err = command(
        "debug", "compare", path, "--load", plugin, "-p", "te-to-tir,tir-simplify,shorten,tir-lower-blocks"
    )
    assert (status, err) == (1, "")
    assert out.splitlines()[-2].startswith("first difference: shorten: result 'C'[0, 0] is ")


@pytest.mark.parametrize(
    ("argv", "status", "message"),
    [
        (["debug", "compare", "missing.mlir"], 1, "error: missing.mlir: cannot read: No such file or directory"),
        (["debug", "compare", "FILE", "--size", "n"], 2, "error: --size 'n' is no size; give e.g. --size n=65"),
        (["debug", "contrast", "FILE"], 2, "invalid choice: 'contrast'"),
        (["debug", "compare", "FILE", "-p", "tir-nothing"], 2, "unknown pass 'tir-nothing'"),
        (["debug", "compare", "FILE", "--target", "openblas"], 2, "as in 'openblas, cpu'"),
    ],
)
def test_mistakes_end_in_one_line(tmp_path: Path, argv: list[str], status: int, message: str) -> None:
    path = tmp_path / "s.mlir"
    path.write_text(SYMBOLIC)
    code, _, err = command(*(str(path) if a == "FILE" else a for a in argv))
    assert code == status and message in err and err.count("\n") == 1


def test_two_kernels_need_a_main() -> None:
    with pytest.raises(UsageError, match="there is no @main and 2 kernels; add a @main that calls them"):
        compare_levels(SYMBOLIC + SYMBOLIC.split("te.schedule")[0].replace("@f", "@g"), "s.mlir")


def test_the_pipeline_may_be_given() -> None:
    found = compare_levels(PROGRAM, "f.mlir", pipeline=parse_pipeline("te-to-tir,tir-lower-blocks"))
    assert found.steps[-2:] == ["te-to-tir", "tir-lower-blocks"] and found.difference is None


def test_extents_that_nothing_stands_for_are_named() -> None:
    text = "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> { return %x : tensor<?x4xf32> }"
    with pytest.raises(UsageError, match=r"the program leaves extents of tensor<\?x4xf32> open"):
        compare_levels(text, "open.mlir")


ROWS = "tensor<?x24xf32, #relay.dims<n, _>>"
OPEN = f"""builtin.module attributes {{relay.symbols = {{n = #relay.symbol<min = 2, max = 64, divisor = 2>}}}} {{
  func.func @main(%x: {ROWS}, %w: tensor<16x24xf32>) -> tensor<?x16xf32, #relay.dims<n, _>> {{
    %y = relay.nn.dense %x, %w : ({ROWS}, tensor<16x24xf32>) -> tensor<?x16xf32, #relay.dims<n, _>>
    %z = relay.nn.relu %y : tensor<?x16xf32, #relay.dims<n, _>>
    return %z : tensor<?x16xf32, #relay.dims<n, _>>
  }}
}}
"""


@pytest.mark.parametrize("n", [2, 10])
def test_a_model_of_open_extents_is_compared_at_a_size(n: int) -> None:
    found = compare_levels(OPEN, "open.mlir", sizes={"n": n})
    assert found.difference is None and found.steps[-1] == "tir-to-llvm, machine code"


def test_a_size_that_a_model_is_not_for_is_refused() -> None:
    with pytest.raises(UsageError, match="is what the program is for, not n = 3"):
        compare_levels(OPEN, "open.mlir", sizes={"n": 3})
