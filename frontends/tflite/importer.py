"""Import of TensorFlow Lite's models as Relay modules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import Block

from lamina.dialects.relay.params import ParamStore
from lamina.frontends.builder import LIMIT
from lamina.frontends.network import Network, import_network, report_of
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.reader import read_model
from lamina.frontends.tflite.variables import with_states

if TYPE_CHECKING:
    from lamina.frontends.formats import Shapes
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport
    from lamina.frontends.tflite.graph import TfliteModel


def load_tflite(
    source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None, named_weights: bool = False
) -> ImportedModel:
    """Import a model: a path or bytes. `shapes` gives inputs others than the file says. Raises LaminaError.

    With `named_weights` also small constants are parameters, by the names of their tensors.
    """
    limit = LIMIT if max_tensor_bytes is None else max_tensor_bytes
    model = read_model(source, limit)
    report = report_of(_all_nodes(model), TABLE)
    if not report.ok:
        raise report.error()

    def make(block: Block, store: ParamStore) -> TfliteBuilder:
        builder = TfliteBuilder(block, store, model.label, limit, TABLE)
        builder.model = model
        return builder

    network = with_states(model, make(Block(), ParamStore()))
    given = {**model.shapes, **(shapes or {})}
    return import_network(network, TABLE, given, limit, named_weights=named_weights, make=make)


def check_tflite(source: Any) -> SupportReport:
    """Report which operators of a model are missing, in all of its subgraphs that are used. Raises LaminaError."""
    return report_of(_all_nodes(read_model(source, LIMIT)), TABLE)


def _all_nodes(model: TfliteModel) -> Network:
    nodes = tuple(node for place in model.reachable for node in model.subgraphs[place].nodes)
    return replace(model.subgraphs[0], nodes=nodes)
