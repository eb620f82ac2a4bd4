"""Windows over the axes of an image, in Keras's terms: padding by name, layouts by the place of the channels."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.errors import shown
from lamina.frontends.builder import Value
from lamina.frontends.keras.table import Layer
from lamina.frontends.network import NodeBuilder
from lamina.frontends.padding import same_padding

AXES = {1: "W", 2: "HW", 3: "DHW"}
"""The letters of the axes of an image."""


def layout(layer: Layer, rank: int) -> str:
    """The order of the axes of a batch of images: NHWC."""
    return f"NC{AXES[rank]}" if layer.channels_first else f"N{AXES[rank]}C"


def image_axes(layer: Layer, rank: int) -> list[int]:
    """The axes of an image in a batch."""
    first = 2 if layer.channels_first else 1
    return list(range(first, first + rank))


def channel_axis(layer: Layer, rank: int) -> int:
    """The axis of the channels in a batch of images."""
    return 1 if layer.channels_first else rank + 1


def check_image(b: NodeBuilder, x: Value, rank: int) -> None:
    """Raises InputError for what is no batch of images with so many axes."""
    if x.rank != rank + 2:
        raise b.fail(f"the input has rank {x.rank}, expects {rank + 2}")


def padding_of(
    b: NodeBuilder, layer: Layer, x: Value, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
    kind: str | None = None,
) -> list[int]:  # fmt: skip
    """The elements added before each axis of an image, then those behind, by a kind or by that of the layer."""
    kind = str(kind or layer.get("padding", "valid")).lower()
    if min((*kernel, *strides, *dilations)) < 1:
        raise b.fail("kernels, strides and dilations are at least 1")
    if kind == "valid":
        return [0] * 2 * len(kernel)
    if kind == "causal":
        return [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)] + [0] * len(kernel)
    if kind == "same":
        extents = [x.shape[a] for a in image_axes(layer, len(kernel))]
        return same_padding(extents, kernel, strides, dilations)
    raise b.fail(f"the padding {shown(kind)} is unknown")
