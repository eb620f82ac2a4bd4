"""Rules and patterns as pdl.pattern, in the text that mlir-opt reads.

    pdl_module(rules)     a module with the equations of a set of rules, or of a list

PDL has no alternatives and no operands in either order: a rule becomes one pdl.pattern for each way to read it, of
decreasing benefit. Variables are operands, attributes and types are PDL's own. What only C++ could say is a native
constraint or rewrite by the name of the Python function: guards, computed attributes, "has_one_use" of inner values,
"is_splat" and "splat" of constants, "has_dtype", "has_rank", "has_shape". What even that does not reach is refused with
a RuleError: lowerings by functions, dominators, branches, function and redirected patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

from xdsl.dialects import pdl
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue

from lamina.dialects.relay.base import to_attribute
from lamina.dialects.rules.graph_patterns import identity, reachable
from lamina.dialects.rules.patterns import (
    Alternatives,
    Composite,
    Constrained,
    ConstVar,
    Equation,
    OpPattern,
    Pattern,
    Splat,
    Var,
    Wildcard,
)
from lamina.dialects.rules.values import AttrVar, Computed, RuleError, TypeExpr
from lamina.passes.rules.rewriting import Lowering, Rules

WAYS = 512
"""The most patterns that a rule may become."""
ATTRIBUTE = pdl.AttributeType()
WRITTEN = (OpPattern, Var, ConstVar, Wildcard, Splat, Alternatives, Constrained)


def pdl_module(rules: Rules | Iterable[Equation], most: int = WAYS) -> ModuleOp:
    """All equations of a set as pdl.patterns, in order, `most` of each. Raises RuleError for what PDL cannot say."""
    equations = rules.rules if isinstance(rules, Rules) else list(rules)
    made: dict[str, pdl.PatternOp] = {}
    for e in equations:
        for p in pdl_patterns(e, most):
            # Rules that a loop makes are written in one line.
            name = first = p.sym_name.data if p.sym_name is not None else ""
            count = 1
            while name in made:
                count += 1
                name = f"{first}.{count}"
            p.properties["sym_name"] = StringAttr(name)
            made[name] = p
    return ModuleOp(list(made.values()))


def pdl_patterns(rule: Equation | Lowering, most: int = WAYS) -> list[pdl.PatternOp]:
    """An equation as pdl.patterns, one for each way to read it. Raises RuleError for what PDL cannot say.

    Of more than `most` ways a sample, spread evenly.
    """
    if isinstance(rule, Lowering):
        raise RuleError(f"{rule.written[0]}:{rule.written[1]}: a lowering by a function is no pdl.pattern")
    for p in reachable(rule.left):
        if not isinstance(p, WRITTEN) or (isinstance(p, Var) and p.target is not None):
            raise RuleError(f"{p!r} cannot be written as PDL")
    ways = list(islice(_ways(rule.left), WAYS + 1))
    if len(ways) > WAYS:
        raise RuleError(f"{rule!r} can be read in more than {WAYS} ways: too many patterns of PDL")
    name = f"{Path(rule.written[0]).stem}_{rule.written[1]}"
    return [
        _Writer(rule, way).pattern(name if len(ways) == 1 else f"{name}_{n}", len(ways) - n)
        for n, way in list(enumerate(ways))[:: -(-len(ways) // most) or 1]
    ]


Way = dict[Pattern, Any]
"""For each Alternatives the choice taken, for each op that commutes its operands in the order tried."""


def _ways(p: Pattern) -> Iterator[Way]:
    """Every way to read a pattern; a part that occurs twice is read alike."""
    if isinstance(p, Alternatives):
        for c in p.choices:
            for way in _ways(c):
                yield {**way, p: c}
    elif isinstance(p, Constrained):
        yield from _ways(p.pattern)
    elif isinstance(p, OpPattern):
        orders: list[Sequence[Pattern]] = [p.args]
        if p.facts.COMMUTES and len(p.args) == 2 and not _alike(*p.args):
            orders.append(p.args[::-1])
        for order in orders:
            for parts in product(*(list(_ways(a)) for a in p.args)):
                merged: Way = {}
                if all(_merge(merged, part) for part in parts):
                    yield {**merged, p.origin: order}
    else:
        yield {}


def _merge(into: Way, part: Way) -> bool:
    for key, value in part.items():
        if into.setdefault(key, value) != value:
            return False
    return True


def _alike(a: Pattern, b: Pattern) -> bool:
    return a is b or (isinstance(a, Wildcard) and isinstance(b, Wildcard))


class _Writer:
    """One pdl.pattern under construction."""

    def __init__(self, rule: Equation, way: Way) -> None:
        self.rule = rule
        self.way = way
        self.body = Block()
        self.at = self.body
        self.values: dict[Pattern, SSAValue] = {}
        """The PDL value of each part of the left side, and of what the right side has made."""
        self.ops: dict[Pattern, pdl.OperationOp] = {}
        self.attributes: dict[AttrVar, SSAValue] = {}
        self.taken = _taken_attributes(rule)

    def add(self, op: Any) -> Any:
        self.at.add_op(op)
        return op

    def pattern(self, name: str, benefit: int) -> pdl.PatternOp:
        rule = self.rule
        value = self.left(rule.left, True)
        root = self._op_of(value)
        if len(root.type_values) != 1 or isinstance(root.type_values[0].owner, pdl.TypesOp):
            raise RuleError(f"{rule!r} replaces one of several results: PDL replaces an op as a whole")
        for guard in rule.guards:
            self._native_constraint(guard)
        if isinstance(rule.right, Composite):
            self.add(pdl.RewriteOp(root.op, Region(), name=rule.right.composite))
        else:
            self.at = inner = Block()
            self.add(pdl.ReplaceOp(root.op, repl_values=[self.right(rule.right)]))
            self.at = self.body
            self.add(pdl.RewriteOp(root.op, Region(inner)))
        result = value.owner
        if isinstance(result, pdl.ResultOp) and value.first_use is None:
            result.detach()
            result.erase()
        return pdl.PatternOp(benefit, name, Region(self.body))

    def _op_of(self, value: SSAValue) -> pdl.OperationOp:
        owner = value.owner
        assert isinstance(owner, pdl.ResultOp) and isinstance(owner.parent_.owner, pdl.OperationOp)
        return owner.parent_.owner

    # -- the left side -------------------------------------------------------------------------------------------

    def left(self, p: Pattern, is_root: bool = False) -> SSAValue:
        """The pdl.value of a part of the left side."""
        if p in self.values and not isinstance(p, Wildcard):
            return self.values[p]
        if isinstance(p, Alternatives):
            value = self.left(self.way[p], is_root)
        elif isinstance(p, Constrained):
            value = self.left(p.pattern, is_root)
            self._constraint(p, value)
        elif isinstance(p, OpPattern):
            value = self._left_op(p, is_root)
        elif isinstance(p, (ConstVar, Splat)):
            type_ = self.add(pdl.TypeOp()).result
            op = self.add(pdl.OperationOp("relay.constant", type_values=[type_]))
            value = self.add(pdl.ResultOp(0, op.op)).val
            if isinstance(p, Splat):
                number = self._attribute(p.number)
                self._apply("is_splat", [value, number])
        else:
            type_ = self.add(pdl.TypeOp()).result
            value = self.add(pdl.OperandOp(type_)).value
        self.values[p] = value
        return value

    def _left_op(self, p: OpPattern, is_root: bool) -> SSAValue:
        op = self.ops.get(p.origin)
        if op is None:
            operands = [self.left(a) for a in self.way[p.origin]]
            names = dict(p.attrs)
            for name in self.taken.get(p.origin, ()):
                names.setdefault(name, AttrVar(name))
            attributes = [self._attribute(v) for v in names.values()]
            for (name, given), value in zip(names.items(), attributes, strict=True):
                if name not in p.attrs:
                    self.attributes[given] = value
            count = p.facts.result_count()
            # Of an op with any number of results the types are a range.
            types = [self.add(pdl.TypeOp()).result for _ in range(count)] or [self.add(pdl.TypesOp()).result]
            op = self.add(pdl.OperationOp(p.op.name, [StringAttr(n) for n in names], operands, attributes, types))
            self.ops[p.origin] = op
        index = p.index or 0
        value = self.add(pdl.ResultOp(index, op.op)).val
        if not is_root and not p.may_share:
            self._apply("has_one_use", [value])
        return value

    def _attribute(self, value: Any) -> SSAValue:
        if isinstance(value, AttrVar):
            found = self.attributes.get(value)
            if found is None:
                found = self.attributes[value] = self.add(pdl.AttributeOp()).output
            return found
        if value is None:
            raise RuleError(f"{self.rule!r}: that an attribute is absent cannot be written as PDL")
        return self.add(pdl.AttributeOp(to_attribute(value))).output

    def _constraint(self, p: Constrained, value: SSAValue) -> None:
        if p.kind == "has_attr":
            raise RuleError(f"{p!r} cannot be written as PDL: state the attributes of the op")
        if p.kind == "has_type":
            wanted = self.add(pdl.TypeOp(p.wanted)).result
            self._apply("has_type", [value, wanted])
            return
        listed = [p.wanted] if isinstance(p.wanted, int) else list(p.wanted)
        if p.kind == "has_shape":
            listed = [",".join("?" if e is None else str(e) for e in listed)]
        self._apply(p.kind, [value, *(self._attribute(w) for w in listed)])

    def _apply(self, name: str, args: Sequence[SSAValue]) -> None:
        self.add(pdl.ApplyNativeConstraintOp(name, list(args), []))

    def _native_constraint(self, guard: Any) -> None:
        if not isinstance(guard, Computed):
            raise RuleError(f"{guard!r} is no constraint of PDL: make it a function")
        self._apply(guard.function.__name__, [self._leaf(a) for a in _leaves(guard)])

    def _leaf(self, value: Any) -> SSAValue:
        """An argument of a native function: attributes as they are, of shapes, dtypes and constants the value."""
        if isinstance(value, TypeExpr):
            return self.left(value.pattern)
        if isinstance(value, AttrVar):
            return self._attribute(value)
        return self._attribute(str(value) if not isinstance(value, (int, float, str, list, tuple)) else value)

    # -- the right side ------------------------------------------------------------------------------------------

    def right(self, p: Pattern, sibling: SSAValue | None = None) -> SSAValue:
        """The value of a part of the right side."""
        if p in self.values:
            return self.values[p]
        if isinstance(p, Splat):
            like = self.left(p.like) if p.like is not None else sibling
            assert like is not None
            value = self._computed("splat", [*map(self._leaf, _leaves(p.number)), like])
            made = self.add(pdl.OperationOp("relay.constant", [StringAttr("value")], [], [value], []))
            return self.add(pdl.ResultOp(0, made.op)).val
        assert isinstance(p, OpPattern)
        op = self.ops.get(p.origin)
        if op is None:
            operands: list[SSAValue | None] = [
                None if isinstance(a, Splat) and a not in self.values else self.right(a) for a in p.args
            ]
            last = next((v for v in reversed(operands) if v is not None), None)
            values = [v if v is not None else self.right(a, last) for v, a in zip(operands, p.args, strict=True)]
            attrs: dict[str, SSAValue] = {}
            if p.like is not None:
                attrs = self._of_like(p)
            for name, value in p.attrs.items():
                if value is None:
                    attrs.pop(name, None)
                else:
                    attrs[name] = self._argument(value)
            op = self.add(pdl.OperationOp(p.op.name, [StringAttr(n) for n in attrs], values, list(attrs.values()), []))
            self.ops[p.origin] = op
        return self.add(pdl.ResultOp(p.index or 0, op.op)).val

    def _of_like(self, p: OpPattern) -> dict[str, SSAValue]:
        """The attributes that are taken over, as the left side names them."""
        source = _read(p.like, self.way)
        op = self.ops[identity(source)]
        names = [n.data for n in op.attributeValueNames]
        known = p.facts.known_attributes()
        return {n: v for n, v in zip(names, op.attribute_values, strict=True) if n in known}

    def _argument(self, value: Any) -> SSAValue:
        if isinstance(value, Computed):
            return self._computed(value.function.__name__, [self._leaf(a) for a in _leaves(value)])
        if isinstance(value, TypeExpr):
            return self._computed(value.what, [self._leaf(value)])
        return self._attribute(value)

    def _computed(self, name: str, args: Sequence[SSAValue]) -> SSAValue:
        made = pdl.ApplyNativeRewriteOp(name, list(args), [ATTRIBUTE])
        return self.add(made).results[0]


def _leaves(value: Any) -> list[Any]:
    """The values that a computed value depends on in the end; functions of functions are one native function."""
    if isinstance(value, Computed):
        return [leaf for a in value.args for leaf in _leaves(a)]
    return [value]


def _read(p: Pattern | None, way: Way) -> Pattern:
    """The op that a pattern is when it is read in one way."""
    while isinstance(p, (Alternatives, Constrained)):
        p = way[p] if isinstance(p, Alternatives) else p.pattern
    assert p is not None
    return p


def _taken_attributes(rule: Equation) -> dict[Pattern, list[str]]:
    """For each op of the left side the attributes that the right side takes over by `like`."""
    found: dict[Pattern, list[str]] = {}
    stack: list[Pattern] = [rule.right]
    while stack:
        p = stack.pop()
        stack.extend(p.children())
        if isinstance(p, OpPattern) and p.like is not None:
            for source in reachable(p.like):
                if isinstance(source, OpPattern):
                    known = source.facts.known_attributes()
                    wanted = [n for n in p.facts.known_attributes() if n in known and n not in p.attrs]
                    found.setdefault(source.origin, []).extend(wanted)
    return {p: list(dict.fromkeys(names)) for p, names in found.items()}
