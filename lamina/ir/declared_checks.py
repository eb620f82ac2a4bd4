"""Verification of what an op's class declares of it, once for each set of types and attributes that its ops have.

xDSL looks at every operand, result, property and region of every op by the constraints of its class, for 28 us an op.
These only see types, attributes and the numbers of blocks. Ops that agree in those, as most do from one pass to the
next, are accepted by the first of them: what is left to check is what the class does by itself (its own `verify_`) and
the traits that look around.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from xdsl.ir import Attribute, Operation
from xdsl.irdl import OpDef
from xdsl.traits import IsolatedFromAbove, OpTrait

from lamina.dialects.fast_ir import operands_of, type_of

Check = Callable[[Any], None]

MOST_FORMS = 50_000
"""Forms that are remembered; they keep their attributes alive."""


class Checks(NamedTuple):
    """The checks of a class besides those of operands, results, properties and regions."""

    around: tuple[OpTrait, ...]
    """Traits with a check, but IsolatedFromAbove."""
    isolated: tuple[OpTrait, ...]
    """That one, which a check of dominance knows about already."""
    own: Check | None
    """The `verify_` that the class was written with."""


_checks: dict[type[Operation], Checks | None] = {}
_forms: dict[tuple[Any, ...], list[Attribute]] = {}
"""The attributes of a form, by their ids."""
_equal_forms: set[tuple[Any, ...]] = set()
"""Forms with the attributes themselves: another attribute that is equal is as good."""


def verify_op(op: Operation, isolation: bool = True) -> None:
    """Check an op, not what is inside it, as its `verify_` would. Raises what that raises.

    Without `isolation` the trait IsolatedFromAbove may be passed over: dominance has been checked.
    """
    kind = type(op)
    if kind not in _checks:
        _checks[kind] = checks_of(kind)
    checks = _checks[kind]
    if checks is None:
        op.verify_()
        return
    shape, attributes = _form(op)
    # By their ids attributes are found at once; these hold as long as the attributes live.
    form = (*shape, *map(id, attributes))
    if form not in _forms:
        if len(_forms) >= MOST_FORMS:
            _forms.clear()
            _equal_forms.clear()
        equal = (*shape, *attributes)
        known = equal in _equal_forms
        if not known:
            op.verify_()
            _equal_forms.add(equal)
        _forms[form] = attributes
        if not known:
            return
    for trait in checks.around:
        trait.verify(op)
    if isolation:
        for trait in checks.isolated:
            trait.verify(op)
    if checks.own is not None:
        checks.own(op)


def _form(op: Operation) -> tuple[list[Any], list[Attribute]]:
    """All that the declared constraints see of an op: how it is put together, and the attributes in it."""
    properties, attributes = op.properties, op.attributes
    parts = [type_of(v) for v in operands_of(op)]
    key: list[Any] = [type(op), len(parts), len(op.results), len(op.successors), *properties, None, *attributes]
    parts += [type_of(v) for v in op.results]
    parts += properties.values()
    parts += attributes.values()
    for region in op.regions:
        first = region.first_block
        key.append(len(region.blocks))
        if first is not None:
            key.append(len(first.args))
            parts += first.arg_types
    return key, parts


def checks_of(kind: type[Operation]) -> Checks | None:
    """The checks of a class besides its declarations; None where its `verify_` is not what `irdl_op_definition` made.

    xDSL leaves the two that it has put together in the cells of that function. A class over a declared one has both.
    """
    traits: list[OpTrait] = []
    check: Check | None = kind.verify_
    while check is not None and check is not Operation.verify_:
        cells = inspect.getclosurevars(check).nonlocals
        definition = cells.get("op_def")
        if not isinstance(definition, OpDef):
            break
        traits += [t for t in definition.traits if type(t).verify is not OpTrait.verify and t not in traits]
        check = cells.get("custom_verify")
    if check is kind.verify_:
        return None
    own = None if check is Operation.verify_ else check
    isolated = tuple(t for t in traits if isinstance(t, IsolatedFromAbove))
    return Checks(tuple(t for t in traits if t not in isolated), isolated, own)
