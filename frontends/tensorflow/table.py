"""The table of TensorFlow's operators, and what their converters share: layouts of images, and windows."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.frontends.builder import Value
from lamina.frontends.network import ConverterTable, NetworkNode, NodeBuilder
from lamina.frontends.padding import same_padding

TABLE = ConverterTable("tensorflow")


MOST_NOW = 1 << 22
"""Elements that are computed while a graph is imported."""
MOST_INTEGERS = 1 << 12
"""Integers that are extents, axes, places or counts."""


def small(b: NodeBuilder, count: int, what: str, most: int = MOST_NOW) -> int:
    """A number of elements that are computed now. Raises UnsupportedError for too many."""
    if count > most:
        raise b.unsupported(f"{what}: {count} elements are more than {most}")
    return count


def ints(b: NodeBuilder, value: Value, what: str) -> list[int]:
    """The integers of an operand that must be known."""
    array = b.known(value, what)
    small(b, array.size, what, MOST_INTEGERS)
    return [int(v) for v in array.reshape(-1)]


class Images:
    """The axes of a node's images by its `data_format`: `NHWC`, `NCHW`, `NDHWC`, `NCDHW`.

    Raises UnsupportedError for others.
    """

    def __init__(self, b: NodeBuilder, node: NetworkNode, spatial: int = 2) -> None:
        self.builder = b
        self.node = node
        letters = "DHW"[-spatial:]
        self.layout = str(node.attr("data_format") or f"N{letters}C")
        """The layout of the data, as relay names it."""
        if self.layout not in (f"N{letters}C", f"NC{letters}"):
            raise b.unsupported(f"the layout {self.layout} is not supported")
        self.channels = self.layout.index("C")
        """The axis of channels."""
        self.axes = [self.layout.index(letter) for letter in letters]
        """The axes of space."""
        self.kernel = f"{letters}IO"
        """The layout of a filter."""

    def spatial(self, given: Sequence[int] | None, what: str) -> list[int]:
        """The numbers of an attribute that belong to space; those of batch and channels must be 1."""
        if given is None:
            return [1] * len(self.axes)
        if len(given) != len(self.layout) or min(given) < 1:
            raise self.builder.fail(f"the {what} {list(given)} do not fit {self.layout}")
        if given[0] != 1 or given[self.channels] != 1:
            raise self.builder.unsupported(f"{what} over batches or channels are not supported")
        return [int(given[a]) for a in self.axes]

    def padding(
        self, extents: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ) -> list[int]:
        """The elements added before each axis of space, then those behind each, by `padding`."""
        way = self.node.attr("padding")
        if way == "VALID":
            return [0] * 2 * len(kernel)
        if way == "SAME":
            return same_padding(extents, kernel, strides, dilations)
        given: list[int] = self.node.attr("explicit_paddings") or []
        if way != "EXPLICIT" or len(given) != 2 * len(self.layout) or min(given) < 0:
            raise self.builder.fail(f"the padding is {way!r} {given}")
        if any(given[2 * a] or given[2 * a + 1] for a in (0, self.channels)):
            raise self.builder.unsupported("padding of batches or channels is not supported")
        return [given[2 * a + end] for end in (0, 1) for a in self.axes]
