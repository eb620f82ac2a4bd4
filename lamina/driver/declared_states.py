"""State that a user declares: which outputs of a model go to its inputs in the next run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from xdsl.dialects.builtin import ContainerType, ShapedType

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.entry_names import argument_names, result_names
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.program_state import STATE, StateVariable, state_attribute, state_of
from lamina.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute, SSAValue


def declare_states(main: FuncOp, states: Mapping[str, str]) -> None:
    """Let a function keep values, each from zeros on: the names of its outputs by those of the inputs that they go to.

    Raises UsageError for names that there are not, for values of another type, and for state that is declared already.
    """
    returned = main.get_return_op()
    values = list(returned.arguments) if returned is not None else []
    inputs = dict(zip(argument_names(main, main.body.block.args), main.body.block.args, strict=True))
    outputs = dict(zip(result_names(main, len(values), values), values, strict=True))
    found = state_of(main)
    for name, output in states.items():
        for given, known, what in ((name, inputs, "input"), (output, outputs, "output")):
            if given not in known:
                hint = did_you_mean(given, list(known)) or f"it has {', '.join(known)}"
                raise UsageError(f"states: the model has no {what} {given!r}", hint=hint)
        if any(v.input == name or v.output == output for v in found):
            raise UsageError(f"states: {name!r} or {output!r} is state already")
        dtype, rank = _type(inputs[name])
        if _type(outputs[output]) != (dtype, rank):
            raise UsageError(f"states: {output!r} is {outputs[output].type}, {name!r} takes {inputs[name].type}")
        found.append(StateVariable(name, output, np.zeros((), numpy_dtype(dtype))))
    main.attributes[STATE] = state_attribute(found)


def _type(value: SSAValue) -> tuple[str, int]:
    """Element type and rank."""
    type_ = value.type
    if not isinstance(type_, ShapedType) or not isinstance(type_, ContainerType):
        return str(type_), -1
    return dtype_name(cast("Attribute", type_.get_element_type())), type_.get_num_dims()
