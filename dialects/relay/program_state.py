"""State of programs: inputs that take what outputs gave in the run before.

    func.func @main(%x: tensor<1x8xf32>, %ring: tensor<1x4x8xf32>) -> (tensor<1x2xf32>, tensor<1x4x8xf32>) attributes {
      lamina.state = [{input = "ring", output = "ring:next", initial = dense<0.0> : tensor<f32>}]
    }

The function itself keeps nothing: whoever calls it hands each output to its input in the next run, and the initial
value in the first one (`lamina.runtime.session`). A value of rank 0 stands for a tensor of it repeated. Of state that
grows where it lies (relay-state-append) an entry has `axis`, `kept` and `spare` besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)

from lamina.dialects.relay.params import ParamStore, array_dense
from lamina.dialects.state_growth import Growth
from lamina.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute

STATE = "lamina.state"
"""The attribute of a function whose inputs and outputs hold state."""
MOST_BYTES = 1 << 20
"""Bytes of an initial value that is not one number repeated."""


class StateVariable(NamedTuple):
    """A value that is kept: the names of its input and its output, and its value before the first run."""

    input: str
    output: str
    initial: NDArray[Any]
    """The value, or an array of rank 0 of the number that all elements have."""
    growth: Growth | None = None


def state_attribute(variables: Sequence[StateVariable]) -> ArrayAttr[DictionaryAttr]:
    """The attribute that says which inputs and outputs hold state.

    Raises UnsupportedError for initial values that are too large for a text.
    """
    return ArrayAttr([_entry(v) for v in variables])


def _entry(v: StateVariable) -> DictionaryAttr:
    flat = v.initial.reshape(-1)
    value = v.initial
    if flat.size and np.all(flat == flat[0]):
        value = np.asarray(flat[0])
    elif value.nbytes > MOST_BYTES:
        what = f"the initial value of {v.input!r} has {value.nbytes} bytes, only {MOST_BYTES} are supported"
        raise UnsupportedError(what, hint="start from one number repeated")
    initial = cast("Attribute", array_dense(value.copy(order="C")))
    fields: dict[str, Attribute] = {"input": StringAttr(v.input), "output": StringAttr(v.output), "initial": initial}
    if v.growth is not None:
        kept, spare = StringAttr(v.growth.kept), StringAttr(v.growth.spare)
        fields |= {"axis": IntegerAttr(v.growth.axis, i64), "kept": kept, "spare": spare}
    return DictionaryAttr(fields)


def state_of(function: FuncOp) -> list[StateVariable]:
    """The state that a function takes and gives; empty where it has none. Raises InputError for a malformed one."""
    attribute = function.attributes.get(STATE)
    if attribute is None:
        return []
    store = ParamStore()
    found: list[StateVariable] = []
    entries: list[Any] = list(attribute) if isinstance(attribute, ArrayAttr) else [None]  # pyright: ignore[reportUnknownArgumentType]
    for entry in entries:
        fields: dict[str, Any] = dict(entry.data) if isinstance(entry, DictionaryAttr) else {}
        name, output, initial = (fields.get(key) for key in ("input", "output", "initial"))
        if (
            not isinstance(name, StringAttr)
            or not isinstance(output, StringAttr)
            or not isinstance(initial, DenseIntOrFPElementsAttr)
        ):
            hint = '[{input = "x", output = "x:next", initial = dense<0.0> : tensor<f32>}]'
            raise InputError(f"the attribute {STATE} of @{function.sym_name.data} is malformed", hint=hint)
        growth = _growth(fields, function.sym_name.data)
        found.append(StateVariable(name.data, output.data, store.get(cast("Any", initial)), growth))
    return found


def _growth(fields: dict[str, Any], function: str) -> Growth | None:
    if fields.keys().isdisjoint(Growth._fields):
        return None
    axis, kept, spare = (fields.get(key) for key in Growth._fields)
    if not isinstance(axis, IntegerAttr) or not isinstance(kept, StringAttr) or not isinstance(spare, StringAttr):
        hint = 'state that grows has `axis = 2 : i64, kept = "p_kept", spare = "p_spare"`'
        raise InputError(f"the attribute {STATE} of @{function} is malformed", hint=hint)
    return Growth(int(cast("IntegerAttr", axis).value.data), kept.data, spare.data)
