"""Variables of a model: what is kept from one run to the next, and its values before the first one.

Resource variables are named by handles and begin with what the subgraph of CALL_ONCE assigns; tensors that are variable
belong to the operators that change them, and begin with zeros.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.frontends.builder import Value
from lamina.frontends.network import Network, NetworkState
from lamina.frontends.tflite.graph import TfliteModel, TfliteNode, TfliteTensor

if TYPE_CHECKING:
    from lamina.frontends.tflite.builder import TfliteBuilder


class Handle(Value):
    """A handle of a variable, which is no tensor of the program."""

    __slots__ = ("variable",)

    def __init__(self, container: str, shared_name: str) -> None:
        super().__init__((), "int32", array=np.zeros((), np.int32))
        self.variable = f"{container}/{shared_name}" if container else shared_name


def with_states(model: TfliteModel, scratch: TfliteBuilder) -> Network:
    """The subgraph that is run with what it keeps. `scratch` is a builder whose function is thrown away.

    Raises LaminaError where an initial value is not known when the model is imported.
    """
    main = model.subgraphs[0]
    states: list[NetworkState] = []
    for place in model.reachable:
        for node in model.subgraphs[place].nodes:
            if node.op == "CALL_ONCE":
                scratch.enter(node)
                scratch.subgraph(int(node.attr("subgraph", 0)), [])
    scratch.enter(None)
    for name, value in scratch.states.items():
        states.append(NetworkState(name, value.shape, value.dtype, scratch.known(value, f"the variable {name!r}")))
    for tensor in _variable_tensors(main):
        initial = main.weights.get(tensor.name, np.zeros((), numpy_dtype(tensor.dtype)))
        states.append(NetworkState(tensor.name, tensor.shape, tensor.dtype, initial))
    names = {s.name for s in states}
    weights = {name: array for name, array in main.weights.items() if name not in names}
    return replace(main, states=tuple(states), weights=weights)


def _variable_tensors(main: Network) -> list[TfliteTensor]:
    found: dict[str, TfliteTensor] = {}
    for node in main.nodes:
        if isinstance(node, TfliteNode):
            found.update({t.name: t for t in node.operands if t is not None and t.is_variable})
    return list(found.values())
