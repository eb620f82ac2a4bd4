"""State that a user declares: which outputs of a model go to its inputs in the next run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from xdsl.dialects.builtin import ContainerType, ShapedType

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.entry_names import argument_names, result_names
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.program_state import STATE, StateVariable, state_attribute, state_of
from lamina.runtime.session import check_states

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute, SSAValue


def declare_states(main: FuncOp, states: object) -> None:
    """Let a function keep values, each from zeros on: the names of its outputs by those of the inputs that they go to.

    Raises UsageError as `lamina.runtime.session.check_states` does.
    """
    returned = main.get_return_op()
    values = list(returned.arguments) if returned is not None else []
    inputs = zip(argument_names(main, main.body.block.args), map(_type, main.body.block.args), strict=True)
    outputs = zip(result_names(main, len(values), values), map(_type, values), strict=True)
    types, declared = dict(inputs), state_of(main)
    found = check_states(states, types, dict(outputs), [(v.input, v.output) for v in declared])
    more = [StateVariable(name, output, np.zeros((), numpy_dtype(types[name][0]))) for name, output in found.items()]
    main.attributes[STATE] = state_attribute([*declared, *more])


def _type(value: SSAValue) -> tuple[str, tuple[int, ...]]:
    """Element type and extents."""
    type_ = value.type
    if not isinstance(type_, ShapedType) or not isinstance(type_, ContainerType):
        return str(type_), ()
    return dtype_name(cast("Attribute", type_.get_element_type())), tuple(type_.get_shape())
