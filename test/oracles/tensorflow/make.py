"""Frozen graphs and SavedModels with what TensorFlow computes of them: test/unit/inputs/tensorflow.

    python test/oracles/tensorflow/make.py              # all; needs what requirements.txt names
    python test/oracles/tensorflow/make.py convolutions resizing

A graph for each family of operators, each with many outputs; numbers are drawn from a seed. `NAME.pb` is the graph,
`NAME.npz` has the inputs by `in NAME` and the outputs by `out NAME`.
"""

# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import saved_models
import tensorflow as tf
from graph_families import FAMILIES, Drawing
from tensorflow.core.protobuf import saved_model_pb2

FOLDER = Path(__file__).parents[2] / "unit" / "inputs" / "tensorflow"
tf1 = tf.compat.v1


def build(name: str, layout: str) -> tuple[Any, Drawing]:
    """A family's graph. The name is the seed of its numbers."""
    graph = tf1.Graph()
    with graph.as_default():
        drawing = Drawing(np.random.default_rng(list(name.encode())))
        drawing.layout = layout
        FAMILIES[name](drawing)
    return graph, drawing


def write_graph(name: str) -> None:
    """Write a family's graph and its numbers."""
    graph, drawing = build(name, "NHWC")
    options = tf1.ConfigProto()
    options.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf1.Session(graph=graph, config=options) as session:
        values = session.run([f"{n}:0" for n in drawing.outputs], {f"{n}:0": v for n, v in drawing.inputs.items()})
    if name == "channels_first":
        graph, _ = build(name, "NCHW")
    (FOLDER / f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
    arrays = {f"in {n}": v for n, v in drawing.inputs.items()}
    arrays |= {f"out {n}": v for n, v in zip(drawing.outputs, values, strict=True)}
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


def main() -> None:
    names = sys.argv[1:]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in FAMILIES:
        if not names or name in names:
            write_graph(name)
    for name, make in saved_models.MODELS.items():
        if not names or name in names:
            shutil.rmtree(FOLDER / name, ignore_errors=True)
            make(FOLDER / name)
            strip(FOLDER / name / "saved_model.pb")


def strip(path: Path) -> None:
    """Leave out what nobody reads: the definitions of the operators, where nodes were written."""
    model = saved_model_pb2.SavedModel()
    model.ParseFromString(path.read_bytes())
    for graph in model.meta_graphs:
        graph.meta_info_def.ClearField("stripped_op_list")
        functions = graph.graph_def.library.function
        for node in [*graph.graph_def.node, *(n for f in functions for n in f.node_def)]:
            node.ClearField("experimental_debug_info")
            node.attr.pop("_output_shapes", None)
            node.attr.pop("_class", None)
        for function in functions:
            function.ClearField("arg_attr")
    path.write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
