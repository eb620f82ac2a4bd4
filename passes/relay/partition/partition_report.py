"""Report of what went to external compilers and, for each op that did not, what kept it: in text for people.

    dnnl: 3 regions, 12 ops (4 dnnl.conv2d_bias_relu, 1 nn.max_pool2d)
    left: 2 ops
      nn.lrn (%n): no pattern of dnnl has it
      nn.dense (%d): dnnl.dense_bias_relu: expected nn.relu, found nn.softmax (%p)

Of an op that a compiler took and refused to compile (`relay-external-codegen`) its reason is told.
Read from a module after relay-partition-graph; the patterns are tried on a copy in which all functions are undone.
Of all patterns that contain an op, tried at the op and at what is computed from it near by, the one that got furthest
says what was missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp
from lamina.dialects.relay.functional.annotations import Annotation
from lamina.dialects.rules.patterns import AnyCall, OpPattern
from lamina.passes.base import inherit_name
from lamina.passes.relay.partition.pattern_tables import PatternTable, TableEntry, Unfit
from lamina.passes.rules.dataflow_matching import CompiledPattern
from lamina.passes.rules.dataflow_partition import is_closed
from lamina.passes.rules.pattern_explaining import Mismatch, mismatch, named, word

NEAR = 16
"""The most values computed from an op that are tried as the root of a pattern that contains it."""


@dataclass
class Taken:
    """The share of one compiler: the number of functions, and its ops and composites by name."""

    regions: int = 0
    ops: Counter[str] = field(default_factory=Counter[str])
    count: int = 0


@dataclass
class Report:
    """The share of each compiler, and the reasons why the other ops went to none."""

    taken: dict[str, Taken]
    left: list[tuple[Operation, str]]

    def __str__(self) -> str:
        lines: list[str] = []
        for compiler, taken in self.taken.items():
            names = ", ".join(f"{n} {name}" for name, n in taken.ops.most_common())
            names = f" ({names})" if names else ""
            lines.append(f"{compiler}: {_several(taken.regions, 'region')}, {_several(taken.count, 'op')}{names}")
        lines.append(f"left: {_several(len(self.left), 'op')}")
        same: dict[tuple[str, str], list[Operation]] = {}
        for op, reason in self.left:
            same.setdefault((word(op), reason), []).append(op)
        for (name, reason), ops in same.items():
            lines.append(f"  {named(ops[0]) if len(ops) == 1 else f'{len(ops)} {name}'}: {reason}")
        return "\n".join(lines)


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def partition_report(
    module: ModuleOp, tables: Sequence[PatternTable], refused: Mapping[Operation, str] | None = None
) -> Report:
    """Look at a partitioned module with the tables of the compilers it was partitioned for.

    `refused` are ops that a compiler took and did not compile after all, with the reasons.
    """
    taken: dict[str, Taken] = {t.name: Taken() for t in tables}
    left: list[tuple[Operation, str]] = []
    original = _undone(module)
    for function in module.body.block.ops:
        compiler = function.attributes.get("Compiler")
        if isinstance(function, func.FuncOp) and isinstance(compiler, StringAttr):
            _count(function, taken.setdefault(compiler.data, Taken()))
            continue
        for op in _open_ops(function):
            if isinstance(op, RelayOp) and not isinstance(op, Annotation) and op.operands and not op.regions:
                why = refused.get(op) if refused is not None else None
                left.append((op, why or reason_for(original[op], tables)))
    return Report(taken, left)


def _undone(module: ModuleOp) -> dict[Operation, Operation]:
    """For each op the one in a copy of the module without external functions and composites."""
    mapped: dict[SSAValue, SSAValue] = {}
    copy = module.clone(mapped)
    functions = {f.sym_name.data: f for f in copy.body.block.ops if isinstance(f, func.FuncOp)}
    for call in [o for o in copy.walk() if isinstance(o, func.CallOp)]:
        callee = functions.get(call.callee.string_value())
        if callee is not None and "Compiler" in callee.attributes:
            _undo(call, callee.body.block, call.operands)
    for call in [o for o in copy.walk() if isinstance(o, CallOp)]:
        composite = call.function()
        if composite is not None and "Composite" in composite.attributes:
            _undo(call, composite.body.block, call.operands[1:])
    return {a.owner: b.owner for a, b in mapped.items() if isinstance(a, OpResult) and isinstance(b, OpResult)}


def _undo(call: Operation, body: Block, arguments: Sequence[SSAValue]) -> None:
    """Put a copy of a function's body in the place of a call."""
    assert call.parent is not None and body.last_op is not None
    mapped: dict[SSAValue, SSAValue] = dict(zip(body.args, arguments, strict=True))
    made: list[Operation] = []
    for op in body.ops:
        if op is not body.last_op:
            copy = op.clone(mapped)
            for old, new in zip(op.results, copy.results, strict=True):
                inherit_name(new, old)
            made.append(copy)
    edit.insert_before(call, *made)
    for old, value in zip(call.results, body.last_op.operands, strict=True):
        old.replace_all_uses_with(mapped.get(value, value))
    edit.erase(call)


def _open_ops(function: Operation) -> Iterable[Operation]:
    stack = [function]
    while stack:
        op = stack.pop()
        if op is not function:
            yield op
            if is_closed(op):
                continue
        stack.extend(reversed([o for r in op.regions for b in r.blocks for o in b.ops]))


def _count(function: func.FuncOp, taken: Taken) -> None:
    taken.regions += 1
    for op in function.body.block.ops:
        if isinstance(op, CallOp):
            taken.ops[word(op).removeprefix("the composite ")] += 1
        elif isinstance(op, RelayOp):
            taken.ops[word(op)] += 1
    taken.count += sum(isinstance(o, RelayOp) for o in function.walk())


def reason_for(op: Operation, tables: Sequence[PatternTable]) -> str:
    """The reason why no table took an op."""
    best: tuple[tuple[bool, int], str, Mismatch] | None = None
    refusals: list[str] = []
    names = " or ".join(t.name for t in tables)
    is_known = False
    for table in tables:
        admitted = table.admits(op)
        if op.name in table.ops and not admitted:
            why = admitted.reason if isinstance(admitted, Unfit) else "not with these types or attributes"
            refusals.append(f"{table.name} does not take it: {why}")
        for entry in table.entries:
            if not _contains(entry.compiled, op):
                continue
            is_known = True
            found = _best_near(entry, op)
            if found is not None and (best is None or found.rank(op) > best[0]):
                best = found.rank(op), entry.name, found
    if refusals:
        return "; ".join(refusals)
    if best is None:
        return f"what is around it is in no pattern of {names}" if is_known else f"no pattern of {names} has it"
    return f"{best[1]}: {best[2].reason}"


def _contains(compiled: CompiledPattern, op: Operation) -> bool:
    return any(
        (isinstance(p, OpPattern) and p.op is type(op)) or isinstance(p, AnyCall) for p in compiled.compiler.patterns
    )


def _best_near(entry: TableEntry, op: Operation) -> Mismatch | None:
    """The best partial match of a pattern around an op: one that has the op or stopped at it."""
    compiled = entry.compiled
    roots = [v for v in _computed_from(op) if compiled.root_types is None or type(v.owner) in compiled.root_types]
    best: Mismatch | None = None
    for value in roots:
        found = mismatch(compiled, value, entry.check)
        if found is None:
            whole = compiled.match(value)
            ops = tuple(whole.ops) if whole is not None else ()
            found = Mismatch(ops, "it fits, but a pattern before it or another match took a part of it")
        tells = op in found.ops or found.at is op
        if tells and (best is None or found.rank(op) > best.rank(op)):
            best = found
    if best is None and not roots:
        # Nothing near by is the last op of the pattern: that is what is missing.
        kinds = compiled.root_types or frozenset()
        ends = " or ".join(sorted(k.name.removeprefix("relay.") for k in kinds))
        users = [u.operation for r in op.results for u in r.uses]
        after = ", ".join(dict.fromkeys(word(u) for u in users[:3])) or "nothing"
        return Mismatch((), f"expected {ends} behind it, found {after}", op)
    return best


def _computed_from(op: Operation) -> list[SSAValue]:
    """The results of an op and of what uses them, nearest first."""
    found: dict[SSAValue, None] = dict.fromkeys(op.results)
    for value in list(found):
        found[value] = None
    queue = list(found)
    while queue and len(found) < NEAR:
        value = queue.pop(0)
        for use in value.uses:
            for result in use.operation.results:
                if result not in found and len(found) < NEAR:
                    found[result] = None
                    queue.append(result)
    return list(found)
