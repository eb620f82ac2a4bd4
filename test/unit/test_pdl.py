"""Rules as pdl.patterns: every equation of the tree prints, reads back, and matches what it matched."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects import pdl
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lamina.dialects import relay as r
from lamina.dialects.rules.patterns import OpPattern, Pattern
from lamina.dialects.rules.terms import attr, composite, computed, splat, var
from lamina.dialects.rules.values import RuleError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.verification import verify_module
from lamina.opt_tool.pdl_rules import rules_module
from lamina.passes.relay.partition.pattern_tables import find_table
from lamina.passes.rules.dataflow_matching import match
from lamina.passes.rules.dataflow_pattern import is_if, is_op, wildcard
from lamina.passes.rules.pdl_patterns import composite_name, read_pattern
from lamina.passes.rules.pdl_printing import pdl_module, pdl_patterns
from lamina.passes.rules.rewriting import Rules

sys.path.insert(0, str(Path(__file__).parent))

from declared_rules import all_rules  # noqa: E402
from pattern_programs import module_of, program, random_pattern, unary, value  # noqa: E402

pytestmark = pytest.mark.slow

MLIR_OPT = shutil.which("mlir-opt") or shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin")


def read(text: str) -> list[pdl.PatternOp]:
    module = parse_text(LaminaContext(), text, "rules.mlir")
    verify_module(module)
    assert str(module) == text
    return [o for o in module.body.block.ops if isinstance(o, pdl.PatternOp)]


@cache
def written_rules() -> list[str]:
    """Every equation of the tree as text."""
    return [str(pdl_module([equation])) for equation in all_rules()]


@cache
def written_tables() -> dict[str, str]:
    """Every composite of the tables as text, by its name and place; of hundreds of ways to read one a sample."""
    return {
        f"{entry.name} {n}": str(pdl_module([(entry.pattern >> composite(entry.name)).when(*entry.guards)], most=8))
        for table in ("dnnl", "bnns", "ethos-n")
        for n, entry in enumerate(find_table(table).entries)
    }


def test_every_equation_prints_and_reads_back() -> None:
    for text in written_rules():
        assert read(text)
    assert len(written_rules()) > 170


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed (Debian package mlir-22-tools)")
def test_mlir_opt_compiles_every_rule_and_table(tmp_path: Path) -> None:
    """mlir-opt reads and verifies all patterns, and makes its matcher of them."""
    assert MLIR_OPT is not None
    path = tmp_path / "rules.mlir"
    # Each module is one of its own: names of patterns repeat.
    path.write_text("\n".join(["module {", *written_rules(), *written_tables().values(), "}"]))
    done = subprocess.run([MLIR_OPT, str(path), "-o", "/dev/null"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    pass_ = "--pass-pipeline=builtin.module(builtin.module(convert-pdl-to-pdl-interp))"
    done = subprocess.run([MLIR_OPT, str(path), pass_], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert "pdl_interp.record_match" in done.stdout and "pdl.pattern" not in done.stdout


def test_a_way_too_many_is_refused() -> None:
    x, y = var("x y")
    pattern: Any = x
    for _ in range(10):
        pattern = r.add(r.exp(pattern), y)
    with pytest.raises(RuleError, match="can be read in more than 512 ways"):
        pdl_patterns(pattern >> composite("c.wide"))


def test_a_rule_as_text() -> None:
    x, p, q = var("x"), *attr("p q")

    @computed
    def compose(a: Any, b: Any) -> Any:
        return tuple(a[i] for i in b)

    @computed
    def are_known(a: Any) -> bool:
        return a is not None

    inner = r.transpose(x, axes=p)
    rule = (r.transpose(inner, axes=q) >> r.transpose(x, axes=compose(p, q))).when(are_known(p))
    (made,) = pdl_patterns(rule)
    assert [line.strip() for line in str(made).splitlines()[1:-1]] == [
        "%0 = pdl.type",
        "%1 = pdl.operand : %0",
        "%2 = pdl.attribute",
        "%3 = pdl.type",
        '%4 = pdl.operation "relay.transpose" (%1 : !pdl.value) {"axes" = %2} -> (%3 : !pdl.type)',
        "%5 = pdl.result 0 of %4",
        'pdl.apply_native_constraint "has_one_use"(%5 : !pdl.value)',
        "%6 = pdl.attribute",
        "%7 = pdl.type",
        '%8 = pdl.operation "relay.transpose" (%5 : !pdl.value) {"axes" = %6} -> (%7 : !pdl.type)',
        'pdl.apply_native_constraint "are_known"(%2 : !pdl.attribute)',
        "pdl.rewrite %8 {",
        '%9 = pdl.apply_native_rewrite "compose"(%2, %6 : !pdl.attribute, !pdl.attribute) : !pdl.attribute',
        '%10 = pdl.operation "relay.transpose" (%1 : !pdl.value) {"axes" = %9}',
        "%11 = pdl.result 0 of %10",
        "pdl.replace %8 with (%11 : !pdl.value)",
        "}",
    ]


def test_one_pattern_for_each_way_to_read_a_rule() -> None:
    x, y = var("x y")
    swapped = pdl_patterns(r.add(r.exp(x), y) >> composite("c.a"))
    assert [p.benefit.value.data for p in swapped] == [2, 1]
    assert len(pdl_patterns(r.add(x, x) >> composite("c.b"))) == 1
    assert len(pdl_patterns((r.abs(x) | r.exp(x)) >> composite("c.c"))) == 2
    assert {composite_name(p) for p in swapped} == {"c.a"}


def test_a_pattern_read_from_its_text_matches_the_same() -> None:
    rng = random.Random(7)
    hits = misses = 0
    for _ in range(250):
        module = program(rng, 10)
        pattern: Pattern = random_pattern(rng, 3, [wildcard(), wildcard()])
        if not isinstance(pattern, OpPattern):
            continue
        try:
            written = pdl_patterns(pattern >> composite("c.random"))
        except RuleError as e:
            assert "ways" in str(e)
            continue
        back = [read_pattern(p) for p in read(str(ModuleOp(written)))]
        for op in module.walk():
            if op.name.startswith("relay.") and op.results:
                expected = match(pattern, op.results[0])
                assert any(match(p, op.results[0]) for p in back) == expected, (pattern, str(module))
                hits, misses = hits + expected, misses + (not expected)
    assert hits > 10 and misses > 150


def test_constraints_read_back() -> None:
    x = var("x")
    m = module_of(unary("exp", "tanh"))
    for constrained, fits in (
        (x.has_shape((None,)), True),
        (x.has_shape((4,)).has_dtype("float32"), True),
        (x.has_rank(2), False),
        (x.has_dtype("int8", "int32"), False),
        (x.has_type(type_of_out(m)), True),
    ):
        (made,) = pdl_patterns(r.tanh(constrained) >> composite("c.t"))
        (again,) = read(str(ModuleOp([made])))
        assert match(read_pattern(again), value(m)) == fits, constrained
    number = module_of("%c = relay.constant dense<2.0> : tensor<4xf32>\n%out = relay.power %x, %c : tensor<4xf32>")
    for n, fits in ((2, True), (3, False)):
        (made,) = read(str(pdl_module([r.power(x, splat(n)) >> composite("c.p")])))
        assert match(read_pattern(made), value(number)) == fits


def type_of_out(module: ModuleOp) -> Any:
    return value(module).type


def test_tables_print() -> None:
    for name, text in written_tables().items():
        assert all(composite_name(p) == name.split()[0] for p in read(text))


@pytest.mark.parametrize(
    "pattern",
    [
        is_op("exp")(wildcard()).dominates(is_op("tanh")(wildcard())),
        is_op("exp")(is_if(wildcard(), wildcard(), wildcard())),
        wildcard().has_attr({"TOpPattern": 0})(None),
        is_op("split")(wildcard()),
    ],
)
def test_what_pdl_cannot_say_is_refused(pattern: Pattern) -> None:
    with pytest.raises(RuleError, match="PDL"):
        pdl_patterns(pattern >> composite("c.x"))


def test_a_lowering_is_refused() -> None:
    rules = Rules("test")

    @rules.lower(r.exp)
    def gone(op: Operation) -> None:  # pyright: ignore[reportUnusedFunction]
        """Before: exp(x).  After: exp(x)."""

    with pytest.raises(RuleError, match="a lowering by a function is no pdl.pattern"):
        pdl_module(rules)


def test_the_rules_of_a_pass_from_the_command_line() -> None:
    assert len(read(str(rules_module("relay-simplify-expr")))) > 20
