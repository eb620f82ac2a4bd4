"""The three stairs as tables of rules: every op has one, each is fired by a text, and an outside dialect's ops join."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.arith import Arith
from xdsl.dialects.math import Math
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import Pure

from lamina.backends.nvptx.machine import nvptx_tir_to_llvm
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.relay import RELAY
from lamina.dialects.relay.core import ProgramOp
from lamina.dialects.relay.families import Elementwise
from lamina.dialects.relay.value_dependent import ValueDependent
from lamina.dialects.rules.terms import RuleError
from lamina.dialects.scalar.oracles import SCALAR_OPS
from lamina.dialects.te import TE
from lamina.dialects.te.indices import current_scope
from lamina.dialects.te.scalars import Scalar
from lamina.dialects.tir import TIR
from lamina.driver.execute import run_module
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline
from lamina.passes import relay_to_te
from lamina.passes.rules.conversion import Conversion
from lamina.passes.te_to_tir import te_to_tir
from lamina.passes.te_to_tir.rules import copied, elements, stages
from lamina.passes.tir_to_llvm import tir_to_llvm as last_stair
from lamina.passes.tir_to_llvm.rules import Emit, emits, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import EXTREME, llvm_type, splat

from . import tir_kernels as kernels

LIT = Path(__file__).parents[1]
STAIRS: dict[str, ModuleType] = {"relay-to-te": relay_to_te, "te-to-tir": te_to_tir, "tir-to-llvm": last_stair}
LOWERED_BEFORE = {
    "tir.block": "tir-lower-blocks",
    "tir.copy": "tir-plan-memory",
    "tir.barrier": "tir-thread-sync makes it, for a device",
    "tir.launch": "what runs a device's host reads it",
}
"""Ops of tir that tir-to-llvm does not meet, with the reason."""
WITHOUT_CODE = {"math.ipowi"}
"""What the interpreters compute and no machine op or C function does: a loop."""


def tables(stair: str) -> list[Conversion[Any, Any]]:
    return [value for value in vars(STAIRS[stair]).values() if isinstance(value, Conversion)]


def names(stair: str, known: Iterable[type[Operation]] = ()) -> set[str]:
    known = list(known)
    return {rule.op.name for table in tables(stair) for rule in table.rules(known)}


# -- every op has its rule ---------------------------------------------------------------------------------------


def test_every_op_of_relay_is_lowered_by_a_facet_or_run_by_the_machine() -> None:
    left = [op for op in RELAY.operations if op.name not in names("relay-to-te", RELAY.operations)]
    structure = {"relay.yield", "relay.type"}
    assert {op.name for op in left if not issubclass(op, (ProgramOp, ValueDependent))} <= structure


def test_every_op_of_te_has_a_rule() -> None:
    assert {op.name for op in TE.operations} <= names("te-to-tir", TE.operations)


def test_what_stands_in_a_te_function_is_lowered_there() -> None:
    assert {r.op.name for r in stages.rules()} == {"te.compute", "te.extern", "te.return", "te.scan"}
    assert {r.op.name for r in elements.rules()} >= {
        f"te.{n}" for n in ("check", "condition", "index", "read", "yield")
    }


def test_every_op_of_tir_has_a_rule() -> None:
    lowered = names("tir-to-llvm")
    assert {op.name for op in TIR.operations} - lowered == set(LOWERED_BEFORE)
    assert nvptx_tir_to_llvm.find(next(op for op in TIR.operations if op.name == "tir.barrier"))


def test_every_scalar_op_with_a_meaning_has_a_rule() -> None:
    known = {op.name for dialect in (Arith, Math) for op in dialect.operations}
    assert known & SCALAR_OPS.keys() - names("tir-to-llvm") == WITHOUT_CODE
    assert known <= {rule.op.name for rule in elements.rules()}


# -- each rule is fired by a text --------------------------------------------------------------------------------


def words_of_texts(stair: str) -> set[str]:
    """The words of the lit tests that run a stair, without their comments."""
    words: set[str] = set()
    for file in LIT.rglob("*.mlir"):
        text = file.read_text("utf-8")
        if any(stair in line for line in re.findall(r"// RUN: .*", text)):
            code = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
            words.update(re.findall(r"[\w.]+", "\n".join(code)))
    return words


@pytest.mark.parametrize("stair", STAIRS)
def test_each_rule_has_a_text_that_fires_it(stair: str) -> None:
    words = words_of_texts(stair)
    ours = {n for n in names(stair, [*RELAY.operations, *TE.operations]) if not n.startswith("own.")}
    assert {n for n in ours if n not in words and n.removeprefix("func.") not in words} == set()


# -- tables ------------------------------------------------------------------------------------------------------


@irdl_op_definition
class SaturateOp(IRDLOperation):
    """A number, or lanes, between -1 and 1."""

    name = "own.saturate"
    value = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class StrangeOp(IRDLOperation):
    """A number of which no stair knows anything."""

    name = "own.strange"
    value = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class GainOp(Elementwise):
    """y = 3 x, saturated."""

    name = "own.gain"

    @staticmethod
    def te_element(x: Any) -> Any:
        op = SaturateOp.create(operands=[(x * 3.0).value], result_types=[x.value.type])
        return Scalar(current_scope().add(op), x.dtype)

    @staticmethod
    def np_ref(x: Any) -> Any:
        return np.clip(3 * x, -1, 1)


elements.lowers(SaturateOp)(copied)


@emits(SaturateOp)
def saturate(op: SaturateOp, b: Any) -> Emit:
    """llvm.intr.maximum and llvm.intr.minimum."""
    type_ = llvm_type(op.result.type)
    low, high = (b.constant(splat(bound, type_), type_) for bound in (-1.0, 1.0))

    def emit(operands: Any) -> Any:
        above = b.emit(llvm.MaximumOp, [*operands, low], type_, EXTREME)
        return b.emit(llvm.MinimumOp, [above, high], type_, EXTREME)

    return emit


OWN = Dialect("own", [SaturateOp, StrangeOp, GainOp])
PASSES = "relay-fuse-ops,relay-to-te,te-to-tir,tir-lower-blocks,tir-plan-memory,tir-to-llvm"


def test_ops_of_an_own_dialect_are_lowered_by_their_rules_alone() -> None:
    context = LaminaContext()
    context.load_dialect(OWN)
    text = """func.func @main(%x: tensor<7xf32>) -> tensor<7xf32> {
      %g = own.gain %x : tensor<7xf32>
      %y = relay.negative %g : tensor<7xf32>
      return %y : tensor<7xf32>
    }"""
    module = Parser(context, text).parse_module()
    for p in parse_pipeline(PASSES):
        p.apply(context, module)
        module.verify()
    x = np.linspace(-1, 1, 7, dtype="float32")
    (found,) = run_module(module, context, "main", {"x": x}).values()
    np.testing.assert_array_equal(found, -np.clip(3 * x, -1, 1))
    assert {"own.gain"} <= {r.op.name for r in relay_to_te.equations.rules([GainOp])}


def test_an_own_op_on_vectors_is_lowered_by_the_same_rule() -> None:
    context = LaminaContext()
    context.load_dialect(OWN)
    text = """tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 8 vectorized "y.i" {
        %a = tir.load %x[%i] : memref<8xf32>
        %b = "own.saturate"(%a) : (f32) -> f32
        tir.store %b, %y[%i] : memref<8xf32>
      }
    }"""
    module = Parser(context, text).parse_module()
    x = np.linspace(-3, 3, 8, dtype="float32")
    (found,) = kernels.execute(module, [x], "tir-vectorize-loop,tir-plan-memory,tir-to-llvm")
    np.testing.assert_array_equal(found, np.clip(x, -1, 1))


def test_an_own_op_without_a_rule_is_refused_by_name() -> None:
    context = LaminaContext()
    context.load_dialect(OWN)
    text = """tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
      %a = tir.load %x[0] : memref<8xf32>
      %b = "own.strange"(%a) : (f32) -> f32
      tir.store %b, %y[0] : memref<8xf32>
    }"""
    module = Parser(context, text).parse_module()
    with pytest.raises(InputError, match="tir-to-llvm: own.strange cannot stand in a kernel"):
        kernels.lowered(module)


def test_an_op_has_one_rule() -> None:
    with pytest.raises(RuleError, match=r"tir-to-llvm: own.saturate has two rules, test_conversions.py:\d+ and"):
        emits(SaturateOp)(saturate)
    assert tir_to_llvm.find(SaturateOp) is not None


def test_a_rule_says_what_it_does() -> None:
    def silent(op: Operation, replay: Any) -> Any: ...

    with pytest.raises(RuleError, match="silent: a rule has a docstring"):
        tir_to_llvm.lowers(StrangeOp)(silent)
    assert tir_to_llvm.find(StrangeOp) is None


# -- numbers -----------------------------------------------------------------------------------------------------

INTEGERS = np.array([7, -7, 7, -7, 6, -6, 0, 5], "int32"), np.array([2, 2, -2, -2, 3, 3, 4, 5], "int32")
FLOATS = (
    np.array([0.5, 1.5, 0.25, 3.0, 2.0, 0.75, 1.0, 0.1], "float32"),
    np.array([2, -2, 3, 1, -1, 4, 0.5, 1], "float32"),
)


def floor(a: Any, b: Any) -> Any:
    return a // b


def ceiling(a: Any, b: Any) -> Any:
    return -(-a // b)


CASES: list[tuple[str, Sequence[Any], Callable[..., Any]]] = [
    ("arith.ceildivsi", INTEGERS, ceiling),
    ("arith.floordivsi", INTEGERS, floor),
    ("arith.ceildivui", [np.abs(n) for n in INTEGERS], ceiling),
    ("math.absi", INTEGERS[:1], np.abs),
    ("math.atan2", FLOATS, np.arctan2),
    ("math.cbrt", FLOATS[:1], np.cbrt),
    ("math.expm1", FLOATS[:1], np.expm1),
    ("math.log1p", FLOATS[:1], np.log1p),
]


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize(("op", "arrays", "expected"), CASES)
def test_ops_that_become_several_or_calls_compute_what_numpy_does(
    op: str, arrays: Any, expected: Any, lanes: int
) -> None:
    element = "i32" if arrays[0].dtype == "int32" else "f32"
    buffer, type_ = f"memref<8x{element}>", element if lanes == 1 else f"vector<8x{element}>"
    place = "%i" if lanes == 1 else "lane"
    arguments = "".join(f"%x{n}: {buffer}, " for n in range(len(arrays)))
    access = buffer if lanes == 1 else f"{buffer}, {type_}"
    lines = [f"%v{n} = tir.load %x{n}[{place}] : {access}" for n in range(len(arrays))]
    lines += [
        f"%r = {op} {', '.join(f'%v{n}' for n in range(len(arrays)))} : {type_}",
        f"tir.store %r, %y[{place}] : {access}",
    ]
    body = "\n".join(lines) if lanes == 8 else "\n".join(['tir.for %i = 0 to 8 "y.i" {', *lines, "}"])
    module = kernels.parse(f"tir.func @f({arguments}%y: {buffer}) attributes {{outputs = 1 : i64}} {{\n{body}\n}}")
    (found,) = kernels.execute(module, arrays)
    np.testing.assert_allclose(found, expected(*arrays), rtol=1e-6)
