"""PyTorch's operators: graphs of ATen calls as Relay, whichever door they come through.

graph.py        a graph of calls, as data: no torch is needed to read or convert one
promotion.py    the element type of a result
equations.py    the language of the table: `aten.relu(x) >> r.nn.relu(x)`
convert_*.py    the table, by subject: equations, and functions for what is none
importer.py     a graph as a module
fx_graph.py     graphs of torch.fx and exported programs, which torch holds in memory
fx_text.py      their text, as torch prints it
"""
