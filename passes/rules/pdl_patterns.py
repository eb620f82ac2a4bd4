"""Patterns written as pdl.pattern: what is read from the text of a module.

    pdl.pattern @dense_relu : benefit(1) {
      %x = operand
      %w = operand
      apply_native_constraint "is_constant"(%w : !pdl.value)
      %t = type
      %0 = operation "relay.nn.dense"(%x, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
      %1 = result 0 of %0
      %2 = operation "relay.nn.relu"(%1 : !pdl.value) -> (%t : !pdl.type)
      rewrite %2 with "mine.dense_relu"
    }

The name behind `with` is the composite's, without one it is the symbol. The root is what `rewrite` names. An operand
is any value, `operation "relay.constant"` or the constraint "is_constant" a constant, an attribute without a value
the same value wherever it occurs. Types are compared where they are stated; the same open type at two places is not
looked at, since types follow from the operands. "has_dtype", "has_rank", "has_shape" ("2,?") and "has_type" say more
of a type, "is_splat" of a constant; "has_one_use" is what partitioning asks anyway. Other constraints are refused.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import pdl
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Operation, SSAValue

from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp, from_attribute
from lamina.dialects.rules.patterns import Constrained, ConstVar, Pattern, Splat, Var
from lamina.dialects.rules.values import AttrVar, RuleError
from lamina.errors import InputError
from lamina.passes.rules.dataflow_pattern import op_pattern

LEAVES: dict[str, type[Pattern]] = {"is_constant": ConstVar}
"""The constraints that say which leaf an operand is."""
TYPED = ("has_dtype", "has_rank", "has_shape", "has_type")
"""The constraints on the type of a value, behind which their attributes stand."""


def composite_name(op: pdl.PatternOp) -> str:
    """The name of a pattern's composite: the one its rewrite gives, else its symbol."""
    rewrite = op.body.block.last_op
    if isinstance(rewrite, pdl.RewriteOp) and rewrite.name_ is not None:
        return rewrite.name_.data
    return op.sym_name.data if op.sym_name is not None else ""


def read_pattern(op: pdl.PatternOp) -> Pattern:
    """The pattern that a pdl.pattern describes. Raises InputError for what has no meaning here."""
    return _Reader(op).root()


class _Reader:
    def __init__(self, op: pdl.PatternOp) -> None:
        self.op = op
        self.known: dict[SSAValue, Any] = {}
        self.constrained: dict[SSAValue, type[Pattern]] = {}
        self.splats: dict[SSAValue, Any] = {}
        self.conditions: dict[SSAValue, list[tuple[str, Any]]] = {}

    def root(self) -> Pattern:
        rewrite = self.op.body.block.last_op
        if not isinstance(rewrite, pdl.RewriteOp) or rewrite.root is None:
            raise self.error("the pattern names no root", self.op, "end it in `rewrite %root with ...`")
        for inner in self.op.body.block.ops:
            if isinstance(inner, pdl.ApplyNativeConstraintOp):
                self._constraint(inner)
        # PDL stands in the order of its uses: what an op reads has been read before it.
        for inner in self.op.body.block.ops:
            if isinstance(inner, pdl.OperandOp):
                self.known[inner.value] = self._conditioned(inner.value, self._operand(inner))
            elif isinstance(inner, pdl.ResultOp):
                self.known[inner.val] = self._conditioned(inner.val, self._result(inner))
            elif isinstance(inner, pdl.OperationOp):
                self.known[inner.op] = self._operation(inner)
            elif isinstance(inner, pdl.AttributeOp):
                value = inner.value
                self.known[inner.output] = AttrVar("attribute") if value is None else from_attribute(value)
            elif not isinstance(inner, (pdl.TypeOp, pdl.TypesOp, pdl.ApplyNativeConstraintOp, pdl.RewriteOp)):
                raise self.error(f"{inner.name} has no meaning in a dataflow pattern", inner)
        root = self.known[rewrite.root]
        if isinstance(root, ConstVar):
            raise self.error("the root of a pattern is an op, not a constant", rewrite)
        return root

    def error(self, what: str, op: Operation, hint: str = "") -> InputError:
        name = f"@{self.op.sym_name.data}: " if self.op.sym_name is not None else ""
        return InputError(f"pdl.pattern {name}{what}", hint=hint, op=op)

    def _constraint(self, op: pdl.ApplyNativeConstraintOp) -> None:
        name, value = op.constraint_name.data, op.args[0] if op.args else None
        if value is None or op.is_negated.value.data or name not in (*LEAVES, *TYPED, "is_splat", "has_one_use"):
            known = ", ".join((*LEAVES, *TYPED, "is_splat", "has_one_use"))
            raise self.error(f"the constraint {name!r} is not known here", op, f"known are {known}")
        given = [self._stated(v, op) for v in op.args[1:]]
        if name in LEAVES:
            self.constrained[value] = LEAVES[name]
        elif name == "is_splat":
            if len(given) != 1:
                raise self.error("is_splat takes a value and a number", op)
            self.splats[value] = given[0]
        elif name in TYPED:
            wanted: Any = tuple(given) if name == "has_dtype" else given[0] if len(given) == 1 else None
            if wanted is None:
                raise self.error(f"{name} takes a value and one attribute", op)
            if name == "has_shape":
                wanted = tuple(None if e == "?" else int(e) for e in str(wanted).split(",") if e)
            self.conditions.setdefault(value, []).append((name, wanted))

    def _stated(self, value: SSAValue, op: Operation) -> Any:
        owner = value.owner
        if isinstance(owner, pdl.AttributeOp) and owner.value is not None:
            return from_attribute(owner.value)
        stated: Any = owner.constantType if isinstance(owner, pdl.TypeOp) else None
        if stated is None:
            raise self.error("a constraint takes attributes and types that are stated", op)
        return stated

    def _conditioned(self, value: SSAValue, pattern: Pattern) -> Pattern:
        for name, wanted in self.conditions.get(value, ()):
            pattern = Constrained(pattern, name, wanted)
        return pattern

    def _operand(self, op: pdl.OperandOp) -> Pattern:
        return self._typed((self.constrained.get(op.value, Var))(""), op.value_type)  # type: ignore[call-arg]

    def _typed(self, pattern: Pattern, type_: SSAValue | None) -> Pattern:
        owner = type_.owner if type_ is not None else None
        stated: Any = owner.constantType if isinstance(owner, pdl.TypeOp) else None
        if stated is not None:
            if not isinstance(stated, TensorType):
                raise self.error(f"{stated} is no type of a tensor", self.op)
            return Constrained(pattern, "has_type", stated)
        return pattern

    def _result(self, op: pdl.ResultOp) -> Pattern:
        source, number = self.known[op.parent_], op.index.value.data
        inner: Any = source.pattern if isinstance(source, Constrained) else source
        if isinstance(inner, ConstVar):
            if number != 0:
                raise self.error(f"relay.constant has no result {number}", op)
            return Splat(self.splats[op.val]) if op.val in self.splats else source
        count = inner.facts.result_count()
        if count >= 0 and number >= count:
            raise self.error(f"{inner.op.name} has no result {number}", op)
        return inner[number] if count != 1 else source

    def _operation(self, op: pdl.OperationOp) -> Pattern:
        if op.opName is None:
            raise self.error("an operation without a name matches whatever it is", op, "name it")
        name = op.opName.data
        if name == "relay.constant":
            if op.operand_values or op.attribute_values:
                raise self.error("relay.constant is matched as a constant of any value", op)
            return self._typed(ConstVar(""), op.type_values[0] if op.type_values else None)
        cls = find_op(name)
        if cls is None or not issubclass(cls, RelayOp):
            raise self.error(f"there is no relay op {name!r} that a pattern could match", op)
        names = [n.data for n in op.attributeValueNames]
        attrs = {n: self.known[v] for n, v in zip(names, op.attribute_values, strict=True)}
        try:
            made: Pattern = op_pattern(cls, [self.known[v] for v in op.operand_values], attrs)
        except RuleError as e:
            raise self.error(str(e), op) from None
        return self._typed(made, op.type_values[0]) if len(op.type_values) == 1 else made


def patterns_of(module: Operation) -> dict[str, pdl.PatternOp]:
    """The pdl.patterns of a module by symbol, in order. Raises InputError for one without a symbol."""
    found: dict[str, pdl.PatternOp] = {}
    for op in module.regions[0].block.ops:
        if isinstance(op, pdl.PatternOp):
            if not isinstance(op.sym_name, StringAttr):
                raise InputError("a pdl.pattern that is used here has a symbol", hint="pdl.pattern @name", op=op)
            found[op.sym_name.data] = op
    return found
