"""Other forms of ops that users have registered: relay-legalize puts them in the place of the ops.

    @register_legalize("nn.conv2d")
    def padded(inputs, **attrs): ...      # the value that stands for conv2d(*inputs, **attrs), or None

A file of its own, since who looks whether there are any need not load the dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from lamina.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

Form: TypeAlias = "Callable[..., SSAValue | None]"
_F = TypeVar("_F", bound="Callable[..., SSAValue | None]")

_registered: dict[str, list[Form]] = {}


def register_legalize(name: str) -> Callable[[_F], _F]:
    """Declares a function `(inputs, **attrs)` that gives another form of an op, or None. Raises UsageError."""
    from lamina.dialects.relay.op_index import OPS

    full = f"relay.{name.removeprefix('relay.')}"
    if full not in OPS:
        raise UsageError(f"there is no op {name!r}", hint=did_you_mean(full, list(OPS)))

    def register(function: _F) -> _F:
        _registered.setdefault(full, []).insert(0, function)
        return function

    return register


def unregister_legalize(name: str, function: Form) -> None:
    """Takes back a registered function."""
    full = f"relay.{name.removeprefix('relay.')}"
    _registered[full].remove(function)
    if not _registered[full]:
        del _registered[full]


def registered_forms(name: str) -> Sequence[Form]:
    """The functions for an op by its full name, the latest first."""
    return tuple(_registered.get(name, ()))


def any_registered() -> bool:
    """Whether there is any: then a program is not what its model, target and options alone say."""
    return bool(_registered)
