"""docs/reference: complete, up to date, the same every time, and not written where an example is missing or wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, StringAttr, i64
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, var_result_def

from lamina.dialects.relay.op_index import OPS
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.schedule.primitives.split import SplitOp
from lamina.dialects.te import TE
from lamina.dialects.tir import TIR
from lamina.ir.registry import PassFile, our_passes
from tools.reference import examples, pages, pictures
from tools.reference.declarations import ROOT, IncompleteReference, field_rows, spelled_in_python
from tools.reference.examples import examples_in, refusals_in
from tools.reference.trimming import changes, cut

REFERENCE = ROOT / "docs" / "reference"


def sections(page: str) -> dict[str, str]:
    """The text under each title of a page on disk."""
    _, *parts = re.split(r"^## ", (REFERENCE / page).read_text("utf-8"), flags=re.M)
    return {title: text for title, _, text in (p.partition("\n") for p in parts)}


@pytest.mark.slow
def test_pages_are_up_to_date_whatever_the_order_of_sets() -> None:
    """`make docs` writes them under an order drawn anew each time."""
    words = [sys.executable, "-m", "tools.reference", "--check"]
    done = subprocess.run(words, env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_op_and_pass_has_its_section() -> None:
    te_ops = {op.name: op for op in TE.operations}
    primitives = {name for name, op in te_ops.items() if issubclass(op, PrimitiveOp)}
    assert len(primitives) > 30
    assert set(sections("schedule.md")) == primitives
    assert set(sections("te.md")) == set(te_ops) - primitives
    assert set(sections("tir.md")) == {op.name for op in TIR.operations}
    assert set(sections("relay.md")) == set(OPS)
    passes = set(sections("tir-passes.md"))
    assert {name for name in our_passes() if name.startswith("tir-")} <= passes
    assert {"te-to-tir", "nvptx-tir-to-llvm"} <= passes
    assert not any(name.startswith("relay-") for name in passes)
    above = set(sections("relay-passes.md"))
    assert not above & passes
    assert {name for name, file in our_passes().items() if file.level != "llvm"} == above | passes


def test_every_section_has_a_picture_of_its_subject() -> None:
    for page in ("schedule.md", "te.md", "tir.md"):
        for name, text in sections(page).items():
            shown = [
                row for block in re.findall(r"^```mlir\n(.*?)^```", text, re.M | re.S) for row in block.split("\n")
            ]
            assert any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", row) for row in shown), f"{page}: {name}"
    for page in ("schedule.md", "tir-passes.md"):
        for name, text in sections(page).items():
            blocks = re.findall(r"^(?:Before|After)[^\n]*:\n\n```mlir\n(.*?)^```", text, re.M | re.S)
            assert len(blocks) == 2 and blocks[0] != blocks[1], f"{page}: {name}"


def test_relay_ops_show_samples_and_rules() -> None:
    relu = sections("relay.md")["relay.nn.relu"]
    assert "Facets: `infer_type`, `np_ref`" in relu and "- `tensor<19xf32>`" in relu and "`: got bool" in relu
    assert "`nn.relu(nn.relu(x)) >> nn.relu(x)`" in relu
    assert "No gradient: " in sections("relay.md")["relay.image.crop_and_resize"]


def test_links_lead_to_files() -> None:
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    assert len(texts) >= 20
    for path in texts:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[\w-]+)?\)", path.read_text("utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


# -- the build stops -----------------------------------------------------------------------------------------------


class Unheard(PrimitiveOp):
    """A primitive without an example."""

    name = "te.unheard_of"

    def apply(self, state: ScheduleState) -> None:
        raise ScheduleError("nothing is known of it")


def example(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the checkout's tests."""
    for module in (examples, pictures):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    for module in (pages, pictures):
        monkeypatch.setattr(module, "TESTS", tmp_path / "test")
        monkeypatch.setattr(module, "PRIMITIVES", tmp_path / "test" / "dialects" / "te" / "schedule")
    return tmp_path / "test"


SCHEDULED = """// RUN: opt-tool %s -p te-to-tir | filecheck %s
te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "y" [1]
"""


def test_a_primitive_without_an_example(tests: Path) -> None:
    with pytest.raises(IncompleteReference, match=r"^test/dialects/te/schedule/unheard_of.mlir is missing"):
        pictures.primitive_picture(Unheard)


def test_an_example_without_its_primitive(tests: Path) -> None:
    example(tests, "dialects/te/schedule/split.mlir", SCHEDULED + "}\n")
    with pytest.raises(IncompleteReference, match=r"split.mlir holds no te.split"):
        pictures.primitive_picture(SplitOp)


def test_an_example_in_which_nothing_changes(tests: Path) -> None:
    example(tests, "dialects/te/schedule/split.mlir", SCHEDULED + "  %io, %ii = te.split %i [1, 8]\n}\n")
    picture = pictures.primitive_picture(SplitOp)
    assert 'tir.for %ii = 0 to 8 "y.i.1"' in "\n".join(picture)
    example(tests, "dialects/te/schedule/loops.mlir", SCHEDULED + "}\n")
    loops = cast("type[PrimitiveOp]", next(op for op in TE.operations if op.name == "te.loops"))
    with pytest.raises(IncompleteReference, match=r"neither te.loops nor what uses it changes anything"):
        pictures.primitive_picture(loops)


def test_an_example_that_is_refused(tests: Path) -> None:
    example(tests, "dialects/te/schedule/split.mlir", SCHEDULED + "  %io, %ii = te.split %i [2, 2]\n}\n")
    with pytest.raises(IncompleteReference, match=r"split.mlir after 2 primitives: .*cover"):
        pictures.primitive_picture(SplitOp)


KERNEL = """// RUN: opt-tool %s {run}
tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {{
  tir.for %i = 0 to {extent} "y.i" {{
    %v = tir.load %x[%i] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }}
}}
"""


def test_a_kernel_that_does_wrong(tests: Path) -> None:
    example(tests, "dialects/tir/load.mlir", KERNEL.format(run="| filecheck %s", extent=8))
    assert "@f  y = 1, 2, 3, 4, 5, 6, 7, 8" in pictures.op_picture("tir.load")
    example(tests, "dialects/tir/store.mlir", KERNEL.format(run="| filecheck %s", extent=7))
    with pytest.raises(IncompleteReference, match=r"store.mlir, run by the interpreter: @f never writes %y\[7\]"):
        pictures.op_picture("tir.store")


def test_an_example_that_must_fail_is_none(tests: Path) -> None:
    example(tests, "dialects/tir/load.mlir", KERNEL.format(run="--verify-diagnostics", extent=8))
    with pytest.raises(IncompleteReference, match="no RUN line"):
        pictures.op_picture("tir.load")


def test_a_pass_that_changes_nothing_in_its_tests(tests: Path) -> None:
    file = PassFile("tir-simplify", "lamina.passes.tir.loops.simplify", Path("passes/tir/loops/simplify.py"), "tir")
    with pytest.raises(IncompleteReference, match=r"tir-simplify: test/passes/tir/simplify holds no test"):
        pictures.pass_picture(file)
    folder = tests / "passes" / "tir" / "simplify"
    example(folder, "a_stays.mlir", KERNEL.format(run="-p tir-simplify | filecheck %s", extent=8))
    with pytest.raises(IncompleteReference, match=r"tir-simplify: it changes nothing in the tests"):
        pictures.pass_picture(file)
    changing = KERNEL.replace("%x[%i]", "%x[%i mod 8]").format(run="-p tir-simplify | filecheck %s", extent=8)
    example(folder, "b_goes.mlir", changing)
    assert "b_goes.mlir" in pictures.pass_picture(file)[0]


def test_all_that_is_missing_is_said_at_once(tests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        pages, "tir_ops", lambda: tuple(op for op in TIR.operations if op.name in ("tir.if", "tir.for"))
    )
    with pytest.raises(IncompleteReference, match=r"for.mlir is missing.*\n.*if.mlir is missing|if.*\n.*for.mlir"):
        pages.tir_page()


def test_a_primitive_that_python_cannot_say() -> None:
    with pytest.raises(IncompleteReference, match=r"Python cannot say te.unheard_of"):
        spelled_in_python("te.unheard_of")
    assert any(line.startswith("`s[C].split(parent, factor=None") for line in spelled_in_python("te.split"))


# -- what is shown -------------------------------------------------------------------------------------------------


@irdl_op_definition
class Sample(IRDLOperation):
    """An op with a field of each sort."""

    name = "sample.op"
    buffer = operand_def(MemRefType)
    sizes = var_result_def(IndexType())
    stage = prop_def(StringAttr, default_value=StringAttr("x"))
    step = opt_prop_def(IntegerAttr.constr(i64))


def test_fields_in_words() -> None:
    assert field_rows(Sample) == [
        ("operand", "buffer", "memref", ""),
        ("result", "sizes", "index", "any number"),
        ("attribute", "stage", "string", 'default "x"'),
        ("attribute", "step", "integer<i64>", "optional"),
    ]


BEFORE = """tir.func @f() {
  tir.for %a = 0 to 2 "a" {
    one
    two
  }
  tir.for %b = 0 to 2 "b" {
    tir.block "b" init {
      three
    } do {
      four
      five
    }
  }
}""".split("\n")


def test_what_did_not_change_is_cut() -> None:
    after = [row.replace("four", "4") for row in BEFORE]
    old, new = changes(BEFORE, after)
    assert old == [row for row in BEFORE[:1]] + [
        "  ...",
        '  tir.for %b = 0 to 2 "b" {',
        '    tir.block "b" init {',
        "      three",
        "    } do {",
        "      four",
        "      five",
        "    }",
        "  }",
        "}",
    ]
    assert new == [row.replace("four", "4") for row in old]


def test_a_line_that_only_moved_inwards_has_not_changed() -> None:
    after = [*BEFORE[:2], "    tir.for %c {", *(f"  {row}" for row in BEFORE[2:4]), "    }", *BEFORE[4:]]
    old, new = changes(BEFORE, after)
    assert new[:6] == [
        "tir.func @f() {",
        '  tir.for %a = 0 to 2 "a" {',
        "    tir.for %c {",
        "      ...",
        "    }",
        "  }",
    ]
    assert old[:4] == ["tir.func @f() {", '  tir.for %a = 0 to 2 "a" {', "    one", "    two"]


def test_long_texts_end_with_what_is_left_out() -> None:
    rows = [f"row {n}" for n in range(10)]
    assert cut(rows, set(range(10)), 10) == rows
    assert cut(rows, set(range(10)), 4) == ["row 0", "row 1", "row 2", "... (7 more lines)"]


def test_refusals_are_found_with_the_line_that_they_are_about() -> None:
    found = refusals_in(ROOT / "test" / "dialects" / "te" / "schedule")
    zero = [r for r in found if r.path.name == "split_factor_zero.mlir"]
    assert len(zero) == 1 and "te.split" in zero[0].line and "0" in zero[0].message


def test_examples_leave_out_pieces_that_are_refused(tmp_path: Path) -> None:
    text = "// RUN: opt-tool %s --split-input-file | filecheck %s\n// A caption\n// of two lines.\n\n%a = x\n"
    text += "// -----\n// expected-error@+1 {{bad}}\n%b = y\n"
    found = examples_in(example(tmp_path, "two.mlir", text))
    assert len(found) == 1 and found[0].caption == "A caption of two lines."
