"""relay-annotate-target: says for each op which external compiler takes it.

Before:
    %1 = relay.nn.relu %x : tensor<8xf32>
After:
    %0 = relay.annotation.compiler_begin %x {compiler = "dnnl"} : tensor<8xf32>
    %1 = relay.nn.relu %0 : tensor<8xf32>
    %2 = relay.annotation.compiler_end %1 {compiler = "dnnl"} : tensor<8xf32>

An op goes to the first of `targets` whose table takes it (`PatternTable.takes`), a call of a composite `dnnl.conv2d`
to dnnl, all others to `default`. Ops without operands, cells and control flow get no annotation: they are inputs of
regions. So are tuples, unless `include-non-call-ops`: then one belongs to the compiler that all its fields come from,
and what is taken from it as well; annotations stand on the fields, since they are of tensors. Annotations for other
compilers than `default` that are there already stay. Bodies of composites are not entered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.ir import Block, Operation

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp
from lamina.dialects.relay.functional.annotations import Annotation, CompilerBeginOp, CompilerEndOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.errors import UsageError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name
from lamina.passes.relay.partition.compiler_regions import BEGIN, DEFAULT, END, compiler_of, open_blocks
from lamina.passes.relay.partition.pattern_tables import PatternTable, find_table


@dataclass(frozen=True)
class AnnotateTarget(ModulePass):
    """Says for each op which external compiler takes it."""

    name = "relay-annotate-target"
    targets: tuple[str, ...] = ()
    """The compilers, the preferred one first."""
    include_non_call_ops: bool = True
    """Tuples belong to the compiler of their fields."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.targets:
            raise UsageError("relay-annotate-target needs targets", hint="as in relay-annotate-target{targets=dnnl}")
        tables = [find_table(t) for t in self.targets]
        for block in open_blocks(op):
            annotate(block, tables, self.include_non_call_ops)


def annotate(block: Block, tables: Sequence[PatternTable], tuples: bool = True) -> None:
    """Put annotations around every op of a block; with `tuples` also around tuples and what is taken from them."""
    inside: dict[Operation, str] = {}
    for op in list(block.ops):
        if isinstance(op, (TupleOp, TupleGetItemOp)):
            compiler = _region(op, inside) or (_origin(op, inside) if tuples else DEFAULT)
            if compiler != DEFAULT:
                inside[op] = compiler
                _wrap(op, compiler)
            continue
        if op.name in (BEGIN, END) or not op.operands or not _is_annotated(op):
            continue
        known = _region(op, inside)
        if known is not None and known != DEFAULT:
            inside[op] = known
            continue
        compiler = choose(op, tables)
        if known == DEFAULT:
            if compiler != DEFAULT:
                _rename(op, compiler)
            continue
        _wrap(op, compiler)


def _is_annotated(op: Operation) -> bool:
    if isinstance(op, CallOp):
        function = op.function()
        return function is not None and "Composite" in function.attributes
    return isinstance(op, RelayOp) and not isinstance(op, Annotation) and not op.regions


def choose(op: Operation, tables: Sequence[PatternTable]) -> str:
    """The first compiler that takes an op, `default` where none does."""
    if isinstance(op, CallOp):
        function = op.function()
        composite = function.attributes.get("Composite") if function is not None else None
        prefix = composite.data.partition(".")[0] if isinstance(composite, StringAttr) else ""
        return next((t.name for t in tables if t.name == prefix), DEFAULT)
    return next((t.name for t in tables if t.admits(op)), DEFAULT)


def _region(op: Operation, inside: dict[Operation, str]) -> str | None:
    """The compiler whose region an op is in already."""
    for value in op.operands:
        owner = value.owner
        if isinstance(owner, Operation):
            if owner.name == BEGIN:
                return compiler_of(owner)
            if owner in inside:
                return inside[owner]
    return None


def _origin(op: TupleOp | TupleGetItemOp, inside: dict[Operation, str]) -> str:
    """The compiler that all operands come from, `default` where there are several or none."""
    found: set[str] = set()
    for value in op.operands:
        owner = value.owner
        ends = isinstance(owner, Operation) and owner.name == END
        found.add(compiler_of(owner) if ends else inside.get(owner, DEFAULT))  # type: ignore[arg-type]
    return found.pop() if len(found) == 1 else DEFAULT


def _rename(op: Operation, compiler: str) -> None:
    around = [v.owner for v in op.operands] + [u.operation for r in op.results for u in r.uses]
    for annotation in around:
        if isinstance(annotation, Operation) and annotation.name in (BEGIN, END):
            edit.change(annotation)
            annotation.properties["compiler"] = StringAttr(compiler)


def _wrap(op: Operation, compiler: str) -> None:
    with edit.transaction():
        _annotate(op, compiler)


def _annotate(op: Operation, compiler: str) -> None:
    first = 1 if isinstance(op, CallOp) else 0
    begins: list[Operation] = []
    for i in range(first, len(op.operands)):
        owner = op.operands[i].owner
        if isinstance(op.operands[i].type, TupleType) or (isinstance(owner, Operation) and owner.name == BEGIN):
            continue
        begin = CompilerBeginOp.make(op.operands[i], compiler=compiler)
        inherit_location(begin, op)
        begins.append(begin)
        op.operands[i] = begin.results[0]
    if begins:
        edit.insert_before(op, *begins)
    ends: list[Operation] = []
    for result in op.results:
        use = result.first_use
        if use is None or isinstance(result.type, TupleType) or use.operation.name == END:
            continue
        end = CompilerEndOp.make(result, compiler=compiler)
        inherit_location(end, op)
        name: str | None = result.name_hint
        result.replace_uses_with_if(end.results[0], lambda use, end=end: use.operation is not end)
        inherit_name(end.results[0], result)
        result.name_hint = name
        ends.append(end)
    if ends:
        edit.insert_after(op, *ends)
