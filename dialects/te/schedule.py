"""Schedule ops."""

OPS: list = []
ATTRS: list = []
