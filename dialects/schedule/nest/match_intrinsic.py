"""Comparing a loop nest with a tensor intrinsic's description: op by op, and every index as an affine window.

The two agree when a bijection of their loops (equal extents, reductions to reductions) and one window for each buffer
make them the same computation, up to the names of values and the order of operands of commutative ops. The order of
loops is free, and so the order in which a reduction adds. Where they do not agree, the difference found deepest in
the bodies is reported, both sides shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, islice, permutations, product
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import Pure

from lamina.dialects.index.accesses import RangeCache, over_values
from lamina.dialects.index.index_map import Condition, condition_text
from lamina.dialects.index.linear import ZERO, Atom, Linear, constant, linear_text
from lamina.dialects.schedule.nest.tensor_intrinsic import TensorIntrinsic, Window
from lamina.dialects.tir.memory import AccessOp, LoadOp, StoreOp, extents_of, type_of
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, IndexOp

COMMUTATIVE: tuple[type[Operation], ...] = (
    *(arith.AddfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
    *(arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
    *(arith.AndIOp, arith.OrIOp, arith.XOrIOp, math.FmaOp),
)
"""Ops whose first two operands may change places."""

MAX_ORDERS = 720
"""Bijections of loops that are tried."""

MAX_STEPS = 50_000
"""Pairs of values that one bijection may compare: each commutative op doubles what there is to try."""

Windows = Mapping[SSAValue, Window]


@dataclass
class Nest:
    """The nest of a stage: loops from the outside in, and the block in the innermost."""

    loops: list[ForOp]
    block: BlockOp
    zero: dict[Atom, Linear] = field(init=False)
    """Loops of one iteration: their variables are 0."""

    def __post_init__(self) -> None:
        self.zero = {v.var: constant(0) for v in self.loops if v.trip == 1}

    @property
    def real_loops(self) -> list[ForOp]:
        """The loops of more than one iteration."""
        return [v for v in self.loops if v.trip != 1]


class Difference(Exception):
    """A difference between a nest and a description."""


def match(nest: Nest, intrinsic: TensorIntrinsic) -> Windows:
    """The window of each of the description's buffers. Raises Difference."""
    described = Nest(intrinsic.loops, intrinsic.block)
    _compare_loops(nest, described)
    _compare_stores(nest, described)
    best: _Attempt | None = None
    for order in _orders(nest.real_loops, described.real_loops):
        attempt = _Attempt(nest, described, order)
        windows = attempt.run()
        if windows is not None:
            return windows
        if best is None or attempt.depth > best.depth:
            best = attempt
    assert best is not None
    raise Difference(best.difference)


def _loop_text(loops: Sequence[ForOp]) -> str:
    return ", ".join(f"{v.axis.data!r} of {v.trip}{' (reduction)' if v.is_reduction else ''}" for v in loops) or "none"


def _compare_loops(nest: Nest, described: Nest) -> None:
    sides = [sorted((v.trip, v.is_reduction) for v in n.real_loops) for n in (nest, described)]
    if sides[0] != sides[1]:
        raise Difference(
            f"its loops are {_loop_text(nest.real_loops)}; the description has {_loop_text(described.real_loops)}"
        )


def _stores(nest: Nest) -> list[StoreOp]:
    return [op for op in nest.block.body.block.ops if type(op) is StoreOp]


def _compare_stores(nest: Nest, described: Nest) -> None:
    for op in nest.block.body.block.ops:
        if op.regions or not (isinstance(op, AccessOp) or op.has_trait(Pure) or op.results):
            raise Difference(f"it contains {op.name}, which no description has")
    if len(_stores(nest)) != 1:
        raise Difference(f"it stores {len(_stores(nest))} times, the description once")
    has, wants = (bool(n.block.init.blocks) for n in (nest, described))
    if has and not wants:
        raise Difference("it starts a reduction, the description has none")


def _orders(real: Sequence[ForOp], described: Sequence[ForOp]) -> Iterator[dict[Atom, SSAValue]]:
    """The bijections from the description's loops to the nest's, the one in order first; MAX_ORDERS at most."""
    kinds = list(dict.fromkeys((v.trip, v.is_reduction) for v in described))
    sides = [[[v.var for v in loops if (v.trip, v.is_reduction) == k] for k in kinds] for loops in (real, described)]
    choices = product(*(permutations(variables) for variables in sides[0]))
    for chosen in islice(choices, MAX_ORDERS):
        pairs = zip(chain(*sides[1]), chain(*chosen), strict=True)
        yield {described_variable: variable for described_variable, variable in pairs}


class _Attempt:
    """One bijection of loops, tried."""

    def __init__(self, nest: Nest, described: Nest, order: dict[Atom, SSAValue]) -> None:
        self.nest = nest
        self.described = described
        self.order = order
        self.inner: set[Atom] = set(order.values())
        self.ranges = RangeCache()
        self.steps = 0
        self.depth = -1
        self.difference = ""

    def run(self) -> Windows | None:
        real, desc = _stores(self.nest)[0], _stores(self.described)[0]
        windows = self.access(real, desc, {}, 0)
        if windows is None:
            return None
        windows = self.values([(real.value, desc.value)], windows, 1)
        if windows is None or not self.init(windows) or not self.sound(windows, desc.buffer):
            return None
        return windows

    def differ(self, depth: int, text: str) -> None:
        """Remember a difference, if none was found deeper."""
        if depth > self.depth:
            self.depth, self.difference = depth, text

    # -- bodies ----------------------------------------------------------------------------------------------------

    def values(
        self,
        pairs: list[tuple[SSAValue, SSAValue]],
        windows: Windows,
        depth: int,
        known: frozenset[tuple[SSAValue, SSAValue]] = frozenset(),
    ) -> Windows | None:
        """Windows that make all pairs of values equal; those that are known to be so, if all others are, excepted."""
        if not pairs:
            return windows
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise Difference("it is too large to be compared")
        (real, desc), rest = pairs[0], pairs[1:]
        if (real, desc) in known:
            return self.values(rest, windows, depth, known)
        known |= {(real, desc)}
        a, b = real.owner, desc.owner
        if isinstance(a, Block) or isinstance(b, Block):
            self.differ(depth, f"it uses {_value_text(real)} where the description has {_value_text(desc)}")
            return None
        if isinstance(a, LoadOp) and isinstance(b, LoadOp):
            bound = self.access(a, b, windows, depth)
            return None if bound is None else self.values(rest, bound, depth + 1, known)
        if type(a) is not type(b) or len(a.operands) != len(b.operands) or not _same_kind(a, b):
            self.differ(depth, f"it computes {_op_text(a)} where the description computes {_op_text(b)}")
            return None
        if isinstance(a, (IndexOp, ConditionOp)) and isinstance(b, (IndexOp, ConditionOp)):
            return self.values(rest, windows, depth + 1, known) if self.same_indices(a, b, depth) else None
        orders = [list(a.operands)]
        if isinstance(a, COMMUTATIVE) and a.operands[0] is not a.operands[1]:
            orders.append([a.operands[1], a.operands[0], *a.operands[2:]])
        for operands in orders:
            found = self.values([*zip(operands, b.operands, strict=True), *rest], windows, depth + 1, known)
            if found is not None:
                return found
        return None

    def same_indices(self, a: IndexOp | ConditionOp, b: IndexOp | ConditionOp, depth: int) -> bool:
        """Whether index arithmetic that enters values is the same; it must not depend on loops outside."""
        mapping = self.mapping()
        if isinstance(a, IndexOp) and isinstance(b, IndexOp):
            mine = over_values(a.map.data.results, a.operands)
            other = over_values(b.map.data.results, b.operands)
        else:
            assert isinstance(a, ConditionOp) and isinstance(b, ConditionOp)
            mine = over_values([c.form for c in a.set.data.conditions], a.operands)
            other = over_values([c.form for c in b.set.data.conditions], b.operands)
        if [f.substitute(self.nest.zero, self.ranges) for f in mine] == [f.substitute(mapping) for f in other]:
            return True
        texts = ["[" + ", ".join(map(_form_text, forms)) + "]" for forms in (mine, other)]
        self.differ(depth, f"it computes with the index {texts[0]} where the description has {texts[1]}")
        return False

    def mapping(self) -> dict[Atom, Linear]:
        """The description's variables as the nest's."""
        return {d: Linear.dim(r) for d, r in self.order.items()} | self.described.zero

    def init(self, windows: Windows) -> bool:
        """Whether a reduction starts from what the description says."""
        if not self.nest.block.init.blocks:
            return True
        (real,) = [o for o in self.nest.block.init.blocks[0].ops if isinstance(o, StoreOp)]
        (desc,) = [o for o in self.described.block.init.blocks[0].ops if isinstance(o, StoreOp)]
        depth = 1 << 20  # the bodies agree
        if self.access(real, desc, windows, depth) is None:
            return False
        start: SSAValue = real.value
        return self.values([(start, desc.value)], windows, depth) is not None

    # -- windows ---------------------------------------------------------------------------------------------------

    def access(self, real: AccessOp, desc: AccessOp, windows: Windows, depth: int) -> Windows | None:
        """The windows, with the one through which an access of the description is the nest's access."""
        buffer, operand = real.buffer_value(), desc.buffer_value()
        types = [type_of(v).element_type for v in (buffer, operand)]
        here = f"{_access_text(real)} where the description has {_access_text(desc)}"
        if types[0] != types[1]:
            self.differ(depth, f"it accesses {types[0]} in {here} of {types[1]}")
            return None
        if real.lanes is not None:
            self.differ(depth, f"its access {_access_text(real)} is of vectors already")
            return None
        for condition in self.open_conditions(real.conditions()):
            text = condition_text(condition, _name)
            self.differ(depth, f"{_access_text(real)} is under the condition {text}, the description's has none")
            return None
        window = self.window(real, desc)
        if isinstance(window, str):
            self.differ(depth, f"{here}: {window}")
            return None
        known = windows.get(operand)
        if known is not None:
            if known == window:
                return windows
            self.differ(depth, f"{here}: another access of {_value_text(operand)} takes it for another window")
            return None
        output = self.described_output()
        if any((o is output or operand is output) and w.buffer is buffer for o, w in windows.items()):
            self.differ(depth, f"{here}: it reads the buffer that it writes")
            return None
        return {**windows, operand: window}

    def described_output(self) -> SSAValue:
        return _stores(self.described)[0].buffer

    def open_conditions(self, conditions: Sequence[Condition]) -> list[Condition]:
        """The conditions that the ranges do not decide."""
        left: list[Condition] = []
        for c in conditions:
            bounds = c.form.range(self.ranges)
            if bounds is None or not (bounds == (0, 0) if c.equal else bounds[0] >= 0):
                left.append(c)
        return left

    def window(self, real: AccessOp, desc: AccessOp) -> Window | str:
        """The affine window between two accesses, or why there is none."""
        variables = list(self.order.items())
        rows: list[list[int]] = []  # of each window dimension, the coefficient of each loop
        offsets: list[int] = []
        for form in desc.forms():
            form = form.substitute(self.described.zero)
            if any(isinstance(a, tuple) for a in form.terms):
                return f"the description's index {_form_text(form)} is not affine"
            rows.append([form.terms.get(d, 0) for d, _ in variables])
            offsets.append(form.const)
        bases: list[Linear] = []
        factors: list[tuple[int, ...]] = []
        for form in real.forms():
            form = form.substitute(self.nest.zero, self.ranges).simplify(self.ranges)
            base = Linear(const=form.const)
            for atom, coef in form.terms.items():
                if atom in self.inner:
                    continue
                if any(d in self.inner for d in Linear({atom: 1}).dims()):
                    return f"the index {_form_text(form)} is not affine in the loops of the nest"
                base = base + Linear({atom: coef})
            wanted = [form.terms.get(r, 0) for _, r in variables]
            solved = _solve(rows, wanted)
            if solved is None:
                return f"the index {_form_text(form)} does not move with the description's"
            factors.append(tuple(solved))
            bases.append(base - sum(f * o for f, o in zip(solved, offsets, strict=True)))
        return Window(real.buffer_value(), tuple(bases), tuple(factors))

    def sound(self, windows: Windows, output: SSAValue) -> bool:
        """Whether the result's elements lie apart, and no window reaches beyond its buffer."""
        depth = 1 << 21
        shape = _shape(output)
        if not _lies_apart(windows[output], shape):
            self.differ(
                depth, f"several elements of its result are one element of {_value_text(windows[output].buffer)}"
            )
            return False
        accesses = [op for op in self.described.block.walk() if isinstance(op, AccessOp)]
        for operand, window in windows.items():
            if not self.covers([a for a in accesses if a.buffer_value() is operand], _shape(operand)):
                if not self.reaches_inside(window, _shape(operand)):
                    text = f"the window of {_value_text(operand)} reaches beyond {_value_text(window.buffer)}"
                    self.differ(depth, text)
                    return False
        return True

    def covers(self, accesses: Sequence[AccessOp], shape: Sequence[int]) -> bool:
        """Whether one access goes through the whole window: then the nest itself reaches as far."""
        trips: dict[Atom, int] = {v.var: v.trip for v in self.described.loops}
        for access in accesses:
            variables: set[Atom] = set()
            whole = True
            for form, extent in zip(access.forms(), shape, strict=True):
                form = form.substitute(self.described.zero)
                if form == ZERO and extent == 1:
                    continue
                ((variable, _),) = form.terms.items() if len(form.terms) == 1 else ((None, 0),)
                plain = variable is not None and form == Linear.dim(variable) and variable not in variables
                if variable is None or not plain or trips.get(variable) != extent:
                    whole = False
                    break
                variables.add(variable)
            if whole:
                return True
        return False

    def reaches_inside(self, window: Window, shape: Sequence[int]) -> bool:
        index: list[Linear] = [Linear.dim(f"w{n}") for n in range(len(shape))]
        ranges = RangeCache({f"w{n}": (0, max(e - 1, 0)) for n, e in enumerate(shape)})
        for form, extent in zip(window.at(index, ranges), extents_of(window.buffer), strict=True):
            low, high = form.range(ranges), (extent - 1 - form).range(ranges)
            if low is None or high is None or low[0] < 0 or high[0] < 0:
                return False
        return True


# -- linear algebra ------------------------------------------------------------------------------------------------


def _solve(rows: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[int] | None:
    """Integers x with sum over w of x[w] * rows[w] = wanted, zero where nothing decides; None where there are none."""
    unknowns = len(rows)
    system = [[Fraction(rows[w][v]) for w in range(unknowns)] + [Fraction(wanted[v])] for v in range(len(wanted))]
    pivots: list[int] = []
    for w in range(unknowns):
        top = len(pivots)
        pivot = next((n for n in range(top, len(system)) if system[n][w]), None)
        if pivot is None:
            continue
        system[top], system[pivot] = system[pivot], system[top]
        head = system[top][w]
        system[top] = [x / head for x in system[top]]
        for n, row in enumerate(system):
            if n != top and row[w]:
                factor = row[w]
                system[n] = [x - factor * y for x, y in zip(row, system[top], strict=True)]
        pivots.append(w)
    if any(row[-1] for row in system[len(pivots) :]):
        return None
    found = [0] * unknowns
    for row, w in zip(system, pivots, strict=False):
        if row[-1].denominator != 1:
            return None
        found[w] = int(row[-1])
    return found


def _lies_apart(window: Window, shape: Sequence[int]) -> bool:
    """Whether different elements of the window are different elements of the buffer, as far as digits show it."""
    left = [w for w, extent in enumerate(shape) if extent > 1]
    for factors in window.factors:
        reach = 1
        for w in sorted((w for w in left if factors[w]), key=lambda w: abs(factors[w])):
            if abs(factors[w]) < reach:
                break
            reach += abs(factors[w]) * (shape[w] - 1)
            left = [x for x in left if x != w]
    return not left


# -- texts ---------------------------------------------------------------------------------------------------------


def _shape(buffer: SSAValue) -> Sequence[int]:
    return cast("MemRefType[Attribute]", buffer.type).get_shape()


def _same_kind(a: Operation, b: Operation) -> bool:
    """Whether two ops of one class give the same of equal operands, whose types are compared where they are given."""
    if isinstance(a, (IndexOp, ConditionOp)):
        return True
    return a.result_types == b.result_types and a.properties == b.properties


def _name(atom: Atom) -> str:
    if isinstance(atom, SSAValue):
        return _value_text(atom)
    return str(atom)


def _value_text(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "a value without a name"


def _form_text(form: Linear) -> str:
    return linear_text(form, _name)


def _access_text(op: AccessOp) -> str:
    return f"{_value_text(op.buffer_value())}[{', '.join(map(_form_text, op.forms()))}]"


def _op_text(op: Operation) -> str:
    if isinstance(op, AccessOp):
        return f"the load {_access_text(op)}"
    if isinstance(op, arith.ConstantOp):
        return f"the constant {op.value}"
    types = list(dict.fromkeys(str(v.type) for v in (*op.operands, *op.results)))
    return f"{op.name} on {' and '.join(types)}"
