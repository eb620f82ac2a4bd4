"""Random programs. Each file of `operators/` draws nodes of single operators.

`onnx_graph.py` is what they are drawn into, `draw.py` what decides, `drawn.py` leads from a seed to a program;
`operator_graphs.py` and `layout_chains.py` draw whole graphs.
"""
