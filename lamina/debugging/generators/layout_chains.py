"""Chains of operators that move elements, with elementwise ones among them: what layout passes and stairs meet."""

from __future__ import annotations

from lamina.debugging.generators.draw import Draw
from lamina.debugging.generators.onnx_graph import OnnxGraph
from lamina.debugging.generators.operator_graphs import draw_node

MOVING = ("Reshape", "Transpose", "Concat", "Slice", "Gather", "Split", "Pad", "Where", "Expand", "Tile", "Squeeze",
          "Unsqueeze", "Flatten", "DepthToSpace", "SpaceToDepth", "GatherElements", "GatherND")  # fmt: skip
OFTEN = ("Reshape", "Transpose", "Concat", "Slice", "Gather")
BETWEEN = ("Add", "Mul", "Sub", "Div", "Relu", "Sigmoid", "Abs", "Neg", "Clip", "Cast", "Max", "Equal", "Less", "Not",
           "Tanh", "ReduceSum", "ReduceMax", "Softmax", "MatMul", "LayerNormalization")  # fmt: skip


def layout_chain(draw: Draw) -> OnnxGraph:
    """A chain of 3 to 12 nodes over few inputs, of few operators: these meet each other the more often."""
    graph = OnnxGraph(draw, draw.choice((11, 13, 15, 17, 18, 21)), exact=draw.chance(0.8), fresh=0.05)
    moving = [*draw.sample(OFTEN, draw.integer(1, 3)), *draw.sample(MOVING, draw.integer(0, 3))]
    between = draw.sample(BETWEEN, draw.integer(1, 4))
    share = draw.choice((0.0, 0.2, 0.4))
    for _ in range(draw.integer(3, 12)):
        draw_node(graph, "", draw.choice(between if draw.chance(share) else moving))
    if not graph.nodes:
        draw_node(graph, "", "Transpose")
    return graph
