"""Other forms of ops that users have registered: relay-legalize and relay-alter-op-layout put them in the ops' place.

    @register_legalize("nn.conv2d")
    def padded(inputs, **attrs): ...      # the value that stands for conv2d(*inputs, **attrs), or None

A file of its own, since who looks whether there are any need not load the dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from lamina.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from lamina.dialects.relay.base import RelayOp
    from lamina.dialects.relay.params import ParamStore

Form: TypeAlias = "Callable[..., SSAValue | None]"
"""A form by operands and attributes: `form(inputs, **attrs)`."""
OpForm: TypeAlias = "Callable[[RelayOp, ParamStore], SSAValue | None]"
"""A form by the op itself and the weights of its program."""
_F = TypeVar("_F", bound="Callable[..., SSAValue | None]")


class Forms:
    """The forms that a pass puts in the place of ops, by the ops' full names."""

    def __init__(self) -> None:
        self._registered: dict[str, list[tuple[Callable[..., Any], OpForm]]] = {}

    def add(self, name: str, written: Callable[..., Any], form: OpForm) -> None:
        """Let `form`, which calls what a user has written, come before the others of an op. Raises UsageError."""
        self._registered.setdefault(full_name(name), []).insert(0, (written, form))

    def remove(self, name: str, written: Callable[..., Any]) -> None:
        """Take back what a user has written."""
        full = full_name(name)
        kept = [entry for entry in self._registered.pop(full, ()) if entry[0] is not written]
        if kept:
            self._registered[full] = kept

    def of(self, name: str) -> Sequence[OpForm]:
        """The forms of an op by its full name, the latest first."""
        return [form for _, form in self._registered.get(name, ())]

    def __bool__(self) -> bool:
        return bool(self._registered)


LEGAL = Forms()
"""The forms that relay-legalize asks before the ops' own facets."""
ALTERED = Forms()
"""The forms that relay-alter-op-layout asks before it blocks convolutions."""


def full_name(name: str) -> str:
    """The name of an op with its dialect. Raises UsageError where there is no such op."""
    from lamina.dialects.relay.op_index import OPS

    full = f"relay.{name.removeprefix('relay.')}"
    if full not in OPS:
        raise UsageError(f"there is no op {name!r}", hint=did_you_mean(full, list(OPS)))
    return full


def by_operands(form: Form) -> OpForm:
    """A form by operands and attributes as one by the op."""
    from lamina.dialects.relay.base import attrs_of

    def of_op(op: RelayOp, store: ParamStore) -> SSAValue | None:
        return form(list(op.operands), **attrs_of(op))

    of_op.__name__ = form.__name__
    return of_op


def register_legalize(name: str) -> Callable[[_F], _F]:
    """Declares a function `(inputs, **attrs)` that gives another form of an op, or None. Raises UsageError."""
    full = full_name(name)

    def register(function: _F) -> _F:
        LEGAL.add(full, function, by_operands(function))
        return function

    return register


def unregister_legalize(name: str, function: Form) -> None:
    """Takes back a registered function."""
    LEGAL.remove(name, function)


def any_registered() -> bool:
    """Whether there is any: then a program is not what its model, target and options alone say."""
    return bool(LEGAL) or bool(ALTERED)
