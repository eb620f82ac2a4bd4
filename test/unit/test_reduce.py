"""Programs made small while their fault stays: each kind of fault, first seen in more than a hundred ops."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from lamina.cli import command as cli
from lamina.debugging.finding import NoFault, find
from lamina.debugging.minimise import minimised, smallest
from lamina.debugging.outcome import Kind
from lamina.debugging.program import Program
from lamina.debugging.verdict import How, target_of
from lamina.driver.pipelines import pipeline_text
from lamina.driver.relay_source import ports_of
from lamina.errors import UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.measure.timing import random_inputs
from lamina.runtime import compiled

sys.path.insert(0, str(Path(__file__).parent))

from hundred_ops import hundred_ops  # noqa: E402

FAULTS = Path(__file__).parents[1] / "debugging" / "inputs" / "faults.py"


def parsed(text: str) -> ModuleOp:
    return parse_text(LaminaContext(), text, "f.mlir")


def program_of(text: str) -> Program:
    module = parsed(text)
    return Program(module, random_inputs(ports_of(module)[0]))


def with_pass(name: str, after: str) -> str:
    """The compiler's pipeline with one more pass."""
    return re.sub(rf"(?<=,){after}({{[^}}]*}})?(?=,)", rf"{after}\1,{name}", pipeline_text(3), count=1)


def command(*words: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(w) for w in words], out, err)
    return status, out.getvalue(), err.getvalue()


def ops(text: str) -> int:
    return len(re.findall(r"= relay\.(?!constant)", text))


# -- lists and sizes -----------------------------------------------------------------------------------------------


def test_a_list_is_minimised_with_few_questions() -> None:
    asked: list[int] = []

    def holds(kept: list[int]) -> bool:
        asked.append(len(kept))
        return {3, 40, 41} <= set(kept)

    assert minimised(range(100), holds) == [3, 40, 41]
    assert len(asked) < 70 and sum(asked) < 15 * 100


def test_nothing_can_be_left_out_of_what_is_left() -> None:
    assert minimised("abcdef", lambda kept: "b" in kept and ("e" in kept or "f" in kept)) in (["b", "e"], ["b", "f"])


def test_time_that_is_up_ends_the_search() -> None:
    assert len(minimised(range(64), lambda kept: 5 in kept, over=lambda: True)) == 64


@pytest.mark.parametrize("size, least, found", [(512, 1, 1), (512, 5, 5), (512, 6, 7), (512, 300, 511), (3, 2, 2)])
def test_the_smallest_size_is_near_the_least_that_does(size: int, least: int, found: int) -> None:
    assert smallest(size, lambda n: n >= least) == found


# -- parts of programs ---------------------------------------------------------------------------------------------

THREE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %a = relay.exp %x : tensor<4xf32>
  %b = relay.multiply %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = relay.add %b, %a : tensor<4xf32>
  return %d : tensor<4xf32>
}
"""


def test_any_ops_are_a_program_on_values_of_the_whole() -> None:
    whole = program_of(THREE)
    values = whole.values()
    _, multiply, add = whole.body()
    part = whole.part([multiply, add], values)
    text = part.text()
    assert "@main(%a: tensor<4xf32>)" in text and "relay.constant" in text and "relay.exp" not in text
    assert list(part.arrays) == ["a"] and part.arrays["a"] is values[multiply.operands[0]]
    assert (part.values()[part.body()[-1].results[0]] == values[add.results[0]]).all()


def test_a_part_returns_what_its_ops_do_not_read() -> None:
    whole = program_of(THREE)
    exp, multiply, _ = whole.body()
    assert "return %b : tensor<4xf32>" in whole.part([exp, multiply], whole.values()).text()
    with pytest.raises(UsageError, match="without results"):
        whole.part([], whole.values())


# -- faults of each kind -------------------------------------------------------------------------------------------


def small(blocks: int = 11) -> Program:
    program = program_of(hundred_ops(blocks, blocks - 5 if blocks > 5 else blocks - 1))
    assert blocks < 11 or program.ops() > 100
    return program.with_target(target_of(How()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault, kind, said",
    [
        ("faulty-lookup", Kind.INTERNAL_ERROR, "KeyError: 'no scale for relay.subtract'"),
        ("faulty-end", Kind.CRASH, "the process died of SIGABRT"),
    ],
)
def test_a_pass_that_stops_is_found_in_a_hundred_ops(fault: str, kind: Kind, said: str, tmp_path: Path) -> None:
    how = How(f"relay-fold-constant,{fault},relay-dead-code-elimination", load=(str(FAULTS),))
    found = find(small(), how)
    assert (found.fault.outcome.kind, found.fault.outcome.said) == (kind, said)
    assert found.ops[0] == 121 and found.ops[1] == 2
    assert found.guilt.step == fault and found.seconds < 120
    text = found.write(tmp_path / "test.mlir").read_text()
    assert text.startswith(f"// RUN: opt-tool %s -p {fault} --load=") and "// CHECK: @main" in text
    assert "relay.subtract" in text and ops(text) == 2 and "tensor<1x1xf32>" in text


@pytest.mark.long
def test_a_pass_without_end_is_found_in_a_hundred_ops() -> None:
    found = find(small(), How("relay-fold-constant,faulty-loop", load=(str(FAULTS),)), limit=4)
    assert found.fault.outcome.kind is Kind.HANG and found.guilt.step == "faulty-loop"
    assert found.ops == (121, 2) and found.seconds < 120


@pytest.mark.slow
def test_a_pass_without_end_is_found() -> None:
    found = find(program_of(PRODUCTS), How("faulty-loop", load=(str(FAULTS),)), limit=1)
    assert found.fault.outcome.kind is Kind.HANG and found.ops == (3, 2)


PRODUCTS = """
func.func @main(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %a = relay.nn.matmul %x, %x : tensor<1x1xf32>
  %b = relay.subtract %x, %a : tensor<1x1xf32>
  %c = relay.exp %b : tensor<1x1xf32>
  return %c : tensor<1x1xf32>
}
"""


def wrong_rule(program: Program) -> None:
    found = find(program, How(with_pass("faulty-rule", "relay-fold-scale-axis"), load=(str(FAULTS),)))
    assert found.fault.outcome.kind is Kind.MISMATCH
    assert found.ops[1] == 2 and found.seconds < 120
    assert found.guilt.step == "faulty-rule" and found.guilt.number == (1, 1)
    assert re.match(r"faults\.py:\d+  %", found.guilt.firing)
    assert found.drawn and found.program.level == "relay"


@pytest.mark.slow
def test_a_wrong_rule_is_found() -> None:
    wrong_rule(small(2))


@pytest.mark.long
def test_a_wrong_rule_is_found_in_a_hundred_ops() -> None:
    wrong_rule(small())


@pytest.mark.long
def test_a_wrong_pass_on_loops_is_found_in_a_hundred_ops() -> None:
    found = find(small(), How(with_pass("faulty-stride", "tir-lower-blocks"), load=(str(FAULTS),)))
    assert found.fault.outcome.kind is Kind.MISMATCH
    assert found.ops[1] <= 8 and found.seconds < 120
    assert found.guilt.step == "faulty-stride" and "tir.load" in found.guilt.changed
    assert found.program.level == "tir" and len(found.program.text().splitlines()) < 40


@pytest.mark.slow
def test_passes_alone_need_no_inputs_nor_values_of_constants() -> None:
    """Constants become inputs where numbers do not count, too."""
    text = PRODUCTS.replace("%a = relay.nn.matmul %x, %x", "%w = relay.constant dense<2.0> : tensor<1x1xf32>\n  "
                            "%a = relay.nn.matmul %x, %w")  # fmt: skip
    found = find(program_of(text), How("relay-simplify-inference,faulty-lookup", load=(str(FAULTS),)))
    assert found.ops == (3, 2) and found.program.arrays == {} and "relay.constant" not in found.program.text()


@pytest.mark.slow
def test_a_program_without_a_fault_is_refused() -> None:
    with pytest.raises(NoFault, match="no fault shows: same"):
        find(program_of(THREE), How("relay-fold-constant"))


@pytest.mark.slow
def test_a_fault_of_loading_a_program_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is compiled without a fault: it has to be loaded each time."""
    monkeypatch.setattr(compiled, "load_program", compiled.load_program)  # the file is loaded in this process, too
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        FAULTS.read_text()
        + "\nfrom lamina.runtime import compiled\n\n\ndef load_program(_):\n    raise KeyError('no library')\n"
        + "\n\ncompiled.load_program = load_program\n"
    )
    found = find(program_of(PRODUCTS), How(load=(str(wrong),)))
    assert found.fault.outcome.said.startswith("KeyError: 'no library'")
    assert found.ops[0] == 3 and found.ops[1] <= 1


# -- commands ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_test_that_is_written_fails_until_the_fault_is_mended(tmp_path: Path) -> None:
    source = tmp_path / "model.mlir"
    source.write_text(hundred_ops(1, 0))
    faults, test = tmp_path / "faults.py", tmp_path / "test.mlir"
    faults.write_text(FAULTS.read_text())
    pipeline = "relay-fold-constant,faulty-rule,relay-simplify-inference"
    status, out, err = command("reduce", source, "--load", faults, "-p", pipeline, "-o", test, "--quiet")
    assert (status, err) == (0, "")
    assert re.search(r"^mismatch: result .*\n11 ops -> 2 in \d+ programs", out) and out.endswith(f"{test}\n")
    assert re.search(r"pass faulty-rule \(2 of 3\)\nedit faults\.py:\d+ ", out)
    text = test.read_text()
    assert text.startswith("// RUN: lamina debug compare %s -p faulty-rule --load=%S/faults.py | filecheck %s\n")
    again = "debug", "compare", test, "-p", "faulty-rule", "--load", faults
    status, out, _ = command(*again)
    assert status == 1 and "first difference: faulty-rule: result" in out
    assert re.search(r"^edit faults\.py:\d+  %", out, re.M)
    faults.write_text(
        FAULTS.read_text().replace("r.nn.relu(r.subtract(x, y)) >>", "r.nn.relu(r.nn.relu(r.add(y, x))) >>")
    )
    assert command(*again)[0] == 0


@pytest.mark.slow
def test_a_lowered_kernel_is_reduced_as_well(tmp_path: Path) -> None:
    source, test = tmp_path / "kernel.mlir", tmp_path / "test.mlir"
    source.write_text(KERNEL)
    status, out, _ = command("reduce", source, "--load", FAULTS, "-p", "faulty-stride", "-o", test, "--quiet")
    assert status == 0 and "first op that changes: " in out
    text = test.read_text()
    assert "tir.func @f" in text and "math.exp" not in text and text.count("tir.for") <= 2


KERNEL = """
tir.func @f(%x: memref<8x8xf32>, %u: memref<8xf32>, %y: memref<8x8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    tir.for %j = 0 to 8 "y.j" {
      %a = tir.load %x[%i, %j] : memref<8x8xf32>
      %b = math.exp %a : f32
      %c = tir.load %u[%j] : memref<8xf32>
      %d = arith.mulf %b, %c : f32
      tir.store %d, %y[%i, %j] : memref<8x8xf32>
    }
  }
}
"""
