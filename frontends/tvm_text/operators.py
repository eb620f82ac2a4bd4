"""The operators of TVM's texts, and what is known of them by their names."""

from __future__ import annotations

from functools import cache

from lamina.dialects.attributes import to_attribute
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import OpPattern, RelayOp, arity
from lamina.errors import UsageError, did_you_mean

FIRST_OF = {"nn.batch_norm": 3, "nn.dropout": 2}
"""Operators that give tuples of this many fields in TVM and the first field here."""

ALWAYS_TUPLES = frozenset(("split", "meshgrid", "unique"))
"""Operators that give a tuple also where it has one field."""

WITH_EFFECTS = frozenset(("debug",))
"""Operators that are no tensor ops here."""


def gives_tuple(name: str, results: int) -> bool:
    """Whether an operator with that many results here gives a tuple in TVM."""
    return results != 1 or name in ALWAYS_TUPLES


def op_names() -> list[str]:
    """The operators by TVM's names."""
    from lamina.dialects.relay.op_index import OPS

    return [n.removeprefix("relay.") for n in OPS if n not in _LANGUAGE]


_LANGUAGE = frozenset(
    f"relay.{n}"
    for n in (
        *("call", "constant", "construct", "fn", "global", "if", "match", "return", "type", "yield", "tuple"),
        *("tuple_get_item", "ref_create", "ref_read", "ref_write", "check_divisor", "multiplier_shift"),
        *("call_lowered", "memory.alloc_storage", "memory.alloc_tensor", "memory.kill", "vm.invoke_tvm_op"),
    )
)


@cache
def op_class(name: str) -> type[RelayOp]:
    """The class of an operator by TVM's name. Raises UsageError."""
    found = find_op(f"relay.{name}") if f"relay.{name}" not in _LANGUAGE else None
    if found is None or not issubclass(found, RelayOp):
        near = did_you_mean(name, op_names())
        raise UsageError(f"there is no operator {name!r}", hint=near or "docs/reference/tvm-names.md lists them")
    return found


def fusion_kind(name: str) -> OpPattern:
    """The kind of fusion that an operator allows. Raises UsageError where there is none."""
    return OpPattern.OPAQUE if name in WITH_EFFECTS else op_class(name).FUSION_KIND


def takes_list(name: str) -> bool:
    """Whether an operator takes tensors as a tuple."""
    return arity(op_class(name)) is None


def operand_names(name: str) -> list[str]:
    """Our names of the operands."""
    return [n for n, _ in op_class(name).get_irdl_definition().operands]


@cache
def kinds(cls: type[RelayOp], key: str) -> frozenset[str]:
    """The kinds of value that an attribute takes: `int`, `float`, `bool`, `text`, `ints`, `floats`."""
    from xdsl.irdl.constraints import VerificationContext
    from xdsl.utils.exceptions import VerifyException

    tries = {"int": 1, "float": 1.0, "bool": True, "text": "", "ints": (1,), "floats": (1.0,)}
    found: set[str] = set()
    for kind, value in tries.items():
        try:
            cls.known_attributes()[key].constr.verify(to_attribute(value), VerificationContext())
        except VerifyException:
            continue
        found.add(kind)
    return frozenset(found)
