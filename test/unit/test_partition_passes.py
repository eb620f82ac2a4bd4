"""Partitioning for external compilers on random programs: values stay, no cycles, what could join has joined."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import relay as r
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.rules.patterns import Alternatives, OpPattern, Pattern, Var
from lamina.dialects.rules.terms import composite, inserting
from lamina.dialects.rules.values import RuleError
from lamina.driver.compiled_kernels import evaluate
from lamina.errors import UsageError
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.verification import verify_module
from lamina.passes.relay.partition import pattern_tables
from lamina.passes.relay.partition.annotate_target import AnnotateTarget
from lamina.passes.relay.partition.compiler_regions import Regions, open_blocks
from lamina.passes.relay.partition.merge_compiler_regions import MergeCompilerRegions
from lamina.passes.relay.partition.merge_composite import MergeComposite, merge_composites
from lamina.passes.relay.partition.partition_graph import PartitionGraph
from lamina.passes.relay.partition.partition_report import partition_report
from lamina.passes.relay.partition.pattern_tables import (
    PatternTable,
    find_table,
    get_pattern_table,
    register_pattern_table,
)
from lamina.passes.rules.dataflow_matching import match
from lamina.passes.rules.dataflow_pattern import is_op, wildcard
from lamina.passes.rules.match_attempts import Attempt
from lamina.passes.rules.pattern_explaining import explain
from lamina.vm.vm import ReferenceKernels

sys.path.insert(0, str(Path(__file__).parent))

from pattern_programs import F32, UNARY, program, random_pattern  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def tables() -> Iterator[None]:
    """Two compilers of the test's own: `ones` takes some unary ops and pairs of them, `twos` binary ones."""
    x = wildcard()
    ones = PatternTable("ones")
    ones += is_op("nn.relu")(is_op("exp")(x)) >> composite("ones.exp_relu")
    ones += ("ones.add_relu", is_op("nn.relu")(is_op("add")(x, wildcard())))
    ones.takes("exp", "nn.relu", "abs")
    PatternTable("twos").takes("add", "maximum")
    yield
    for name in ("ones", "twos", "third", "fourth", "fifth", "faraway"):
        pattern_tables._TABLES.pop(name, None)  # pyright: ignore[reportPrivateUsage]


def outputs(module: ModuleOp) -> list[Any]:
    x, y = np.array([0.1, -0.7, 1.3], np.float32), np.array([-0.2, 0.4, 0.0], np.float32)
    return list(run_relay(main_function(module), [x, y]))


def joinable(block: Block) -> list[str]:
    """Pairs of regions of one compiler, one reading the other, that could be one: by plain reachability."""
    regions = Regions(block)
    after, _ = regions.graph()

    def reaches(start: int, goal: int, but: int) -> bool:
        seen: set[int] = set()
        stack = [n for n in after[start] if n != but]
        while stack:
            n = stack.pop()
            if n == goal:
                return True
            if n not in seen:
                seen.add(n)
                stack += after[n]
        return False

    return [
        f"{regions.ops[a].name} and {regions.ops[b].name}"
        for a, readers in after.items()
        for b in readers
        if regions.compiler[a] is not None and regions.compiler[a] == regions.compiler[b] and not reaches(a, b, b)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_partitioned_programs_compute_the_same(seed: int) -> None:
    rng = random.Random(seed)
    module = program(rng, rng.choice((4, 12, 40)))
    expected = outputs(module)
    ctx = LaminaContext()
    passes: list[Any] = [AnnotateTarget(targets=("ones", "twos")), MergeCompilerRegions(), PartitionGraph()]
    if seed % 2:
        merge_composites(module, find_table("ones").entries)
        module.verify()
    for p in passes:
        p.apply(ctx, module)
        module.verify()
        if isinstance(p, MergeCompilerRegions):
            for block in open_blocks(module):
                assert not joinable(block)
            before = str(module)
            p.apply(ctx, module)
            assert str(module) == before
    for a, b in zip(expected, outputs(module), strict=True):
        np.testing.assert_array_equal(a, b)
    main = next(f for f in module.body.block.ops if isinstance(f, func.FuncOp))
    left = [o.name for o in main.walk() if o.name.startswith("relay.") and o.name != "relay.constant"]
    assert set(left) <= {"relay.tanh", "relay.erf", "relay.negative", "relay.subtract"}
    report = partition_report(module, [find_table("ones"), find_table("twos")])
    assert len(report.left) == len(left) and all(reason for _, reason in report.left)


def put_tuples(module: ModuleOp, rng: random.Random) -> None:
    """Let some values be read out of a tuple, nested ones among them."""
    block = main_function(module).body.block
    values: list[SSAValue] = list(block.args)
    for op in list(block.ops)[:-1]:
        for result in op.results:
            values.append(result)
            if rng.random() < 0.6:
                continue
            uses = [u for u in result.uses if rng.random() < 0.7]
            made = TupleOp.make(*(rng.choice(values[-4:]) for _ in range(rng.randint(0, 2))), result)
            take = TupleGetItemOp.make(made.results[0], len(made.operands) - 1)
            around: list[Operation] = [made, take]
            if rng.random() < 0.3:
                outer = TupleOp.make(made.results[0], rng.choice(values))
                inner = TupleGetItemOp.make(outer.results[0], 0)
                take = TupleGetItemOp.make(inner.results[0], len(made.operands) - 1)
                around = [made, outer, inner, take]
            block.insert_ops_after(around, op)
            for use in uses:
                use.operation.operands[use.index] = take.results[0]


@pytest.mark.parametrize("tuples", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_tuples_in_partitioned_programs(seed: int, tuples: bool) -> None:
    rng = random.Random(seed)
    module = program(rng, rng.choice((6, 20)))
    expected = outputs(module)
    put_tuples(module, rng)
    ctx = LaminaContext()
    annotate = AnnotateTarget(targets=("ones", "twos"), include_non_call_ops=tuples)
    for p in (annotate, MergeCompilerRegions(), PartitionGraph()):
        p.apply(ctx, module)
        verify_module(module)
    arrays = [np.array([0.1, -0.7, 1.3], np.float32), np.array([-0.2, 0.4, 0.0], np.float32)]
    for a, b in zip(expected, evaluate(module, arrays, kernels=ReferenceKernels()), strict=True):
        np.testing.assert_array_equal(a, b)
    external = [f for f in module.body.block.ops if isinstance(f, func.FuncOp) and "Compiler" in f.attributes]
    assert external and not any("tuple" in op.name for f in external for op in f.walk())
    assert not any("annotation" in op.name for op in module.walk())


def test_a_tuple_on_the_way_does_not_part_a_region() -> None:
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %a = relay.exp %x : tensor<3xf32>
      %t = relay.tuple(%a, %a) : tuple<tensor<3xf32>, tensor<3xf32>>
      %b = relay.tuple_get_item %t[1] : tuple<tensor<3xf32>, tensor<3xf32>>
      %c = relay.abs %b : tensor<3xf32>
      return %c : tensor<3xf32>
    }"""
    for tuples, regions in ((True, 1), (False, 2)):
        module = parse_text(LaminaContext(), text, "test.mlir")
        for p in (AnnotateTarget(("ones",), tuples), MergeCompilerRegions(), PartitionGraph()):
            p.apply(LaminaContext(), module)
        assert sum(1 for f in module.body.block.ops if "Compiler" in f.attributes) == regions


# -- the matcher against a plain one -----------------------------------------------------------------------------


def plain(p: Pattern, value: SSAValue, bound: dict[Pattern, Any]) -> Iterator[dict[Pattern, Any]]:
    """Every way a pattern matches a value: generators in the place of goals."""
    if p in bound:
        if bound[p] is value:
            yield bound
    elif isinstance(p, Var):
        yield bound | {p: value}
    elif isinstance(p, Alternatives):
        for c in p.choices:
            yield from plain(c, value, bound)
    elif isinstance(p, OpPattern) and isinstance(value.owner, Operation) and type(value.owner) is p.op:
        operands: list[SSAValue] = list(value.owner.operands)
        orders = [operands, operands[::-1]] if p.op.name == "relay.add" else [operands]
        for order in orders:
            states = [bound | {p: value}]
            for a, v in zip(p.args, order, strict=True):
                states = [s for b in states for s in plain(a, v, b)]
            yield from states


def test_random_patterns_match_as_a_plain_matcher_says() -> None:
    rng = random.Random(1)
    hits = misses = 0
    for _ in range(250):
        module = program(rng, 10)
        pattern = random_pattern(rng, 3, [wildcard(), wildcard()])
        for op in module.walk():
            if op.name.startswith("relay.") and op.results:
                value = op.results[0]
                expected = next(plain(pattern, value, {}), None) is not None
                assert match(pattern, value) == expected, (pattern, str(module))
                assert (explain(pattern, value) is None) == expected
                hits, misses = hits + expected, misses + (not expected)
    assert hits > 300 and misses > 300


def abstracted(rng: random.Random, value: SSAValue, depth: int, known: dict[SSAValue, Pattern]) -> Pattern:
    """A pattern of a value: inputs are variables, the same for the same value, and operands of add are swapped."""
    if value in known:
        return known[value]
    owner = value.owner
    if depth == 0 or not isinstance(owner, Operation) or isinstance(owner, ConstantOp):
        known[value] = wildcard()
        return known[value]
    operands = list(owner.operands)
    if owner.name == "relay.add" and rng.random() < 0.5:
        operands.reverse()
    made: Pattern = is_op(owner.name.removeprefix("relay."))(*(abstracted(rng, v, depth - 1, known) for v in operands))
    if rng.random() < 0.3:
        other = is_op(rng.choice(UNARY))(wildcard())
        made = Alternatives([other, made] if rng.random() < 0.5 else [made, other])
    return made


def test_patterns_made_of_a_program_match_it() -> None:
    rng = random.Random(2)
    swapped = 0
    for _ in range(150):
        module = program(rng, 14)
        for op in module.walk():
            if op.name.startswith("relay.") and op.operands:
                pattern = abstracted(rng, op.results[0], 4, {})
                assert match(pattern, op.results[0]), (pattern, str(module))
                swapped += "add" in repr(pattern)
    assert swapped > 300


# -- tables ------------------------------------------------------------------------------------------------------


def test_a_table_of_tuples_as_in_tvm() -> None:
    seen: list[SSAValue] = []

    @register_pattern_table("third")
    def third() -> list[Any]:  # pyright: ignore[reportUnusedFunction]
        def small(value: SSAValue) -> bool:
            seen.append(value)
            return False

        return [("third.exp", is_op("exp")(wildcard()), small), ("third.abs", is_op("abs")(wildcard()))]

    names = [name for name, _, _ in get_pattern_table("third")]
    assert names == ["third.exp", "third.abs"]
    module = program(random.Random(3), 80)
    MergeComposite(patterns=("third",)).apply(LaminaContext(), module)
    text = str(module)
    assert seen and "third.abs" in text and "third.exp" not in text


def test_first_entries_have_priority() -> None:
    table = PatternTable("fourth")
    exp = is_op("exp")(wildcard())
    table += ("fourth.exp", exp)
    table += ("fourth.exp_relu", is_op("nn.relu")(exp))
    body = Block(arg_types=[F32])
    with inserting(Builder(InsertPoint.at_end(body))):
        out = r.nn.relu(r.exp(body.args[0]))
    body.add_op(func.ReturnOp(out))
    module = ModuleOp([func.FuncOp("main", ([F32], [F32]), Region(body))])
    assert merge_composites(module, table.entries) == {"fourth.exp": 1, "fourth.exp_relu": 0}


def test_mistakes_in_tables() -> None:
    table = PatternTable("fifth")
    with pytest.raises(RuleError, match="the right side in a pattern table is composite"):
        x = wildcard()
        table += is_op("exp")(x) >> x
    with pytest.raises(RuleError, match="fifth.a: 3 is no pattern"):
        table += ("fifth.a", 3)
    with pytest.raises(UsageError, match="there is no pattern table 'dnnll'; did you mean 'dnnl'"):
        find_table("dnnll")


def test_a_backend_of_another_package_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faraway_patterns.py").write_text(
        "from lamina.passes.relay.partition.pattern_tables import PatternTable\n"
        "from lamina.dataflow_pattern import is_op, wildcard\n"
        "faraway = PatternTable('faraway')\n"
        "faraway += ('faraway.tanh', is_op('tanh')(wildcard()))\n"
        "faraway.takes('erf')\n"
    )
    info = tmp_path / "faraway-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faraway\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lamina.backends]\nfaraway = faraway_patterns\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    try:
        assert "faraway" in pattern_tables.table_names()
        assert [e.name for e in find_table("faraway").entries] == ["faraway.tanh"]
        assert list(find_table("faraway").ops) == ["relay.erf"]
    finally:
        sys.modules.pop("faraway_patterns", None)


def test_report_says_what_went_where_and_what_kept_the_rest() -> None:
    body = Block(arg_types=[F32])
    with inserting(Builder(InsertPoint.at_end(body))):
        value = r.nn.relu(r.exp(body.args[0]))
        out = r.erf(r.abs(value))
    body.add_op(func.ReturnOp(out))
    module = ModuleOp([func.FuncOp("main", ([F32], [F32]), Region(body))])
    merge_composites(module, find_table("ones").entries)
    for p in (AnnotateTarget(targets=("ones",)), MergeCompilerRegions(), PartitionGraph()):
        p.apply(LaminaContext(), module)
    assert str(partition_report(module, [find_table("ones")])).splitlines() == [
        "ones: 1 region, 3 ops (1 ones.exp_relu, 1 abs)",
        "left: 1 op",
        "  erf: no pattern of ones has it",
    ]


# -- cost --------------------------------------------------------------------------------------------------------


def test_work_of_the_dnnl_table_grows_linearly(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    real = Attempt.run

    def counted(self: Attempt, goals: Any) -> bool:
        counts[-1] += 1
        found = real(self, goals)
        counts[-1] += len(self.trail)
        return found

    monkeypatch.setattr(Attempt, "run", counted)
    for n in (400, 4000):
        counts.append(0)
        merge_composites(program(random.Random(5), n), find_table("dnnl").entries)
    assert 0 < counts[1] < 13 * counts[0]
