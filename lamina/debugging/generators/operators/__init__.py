"""Draws of a node of each operator: one function for one or several, in the file of their family.

@row("Softmax", "LogSoftmax")
def softmax(g, name):
    x = g.some(FLOATS, rank=(1, 4))
    g.node(name, [x], axis=g.draw.axis(x.rank))
"""
