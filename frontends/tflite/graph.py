"""TensorFlow Lite models as read: tensors with their quantisation, operators, and the subgraphs that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lamina.frontends.network import Network, NetworkNode

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TensorQuantization:
    """Parameters of a quantised tensor: real = scale[c] * (q - zero_point[c]), c the place on `axis`."""

    scale: NDArray[Any]
    """float32; one number, or one for each place on the axis."""
    zero_point: NDArray[Any]
    """int64, as many as there are scales."""
    axis: int

    @property
    def is_per_axis(self) -> bool:
        """Whether there is more than one scale."""
        return self.scale.size > 1


@dataclass(frozen=True, eq=False)
class TfliteTensor:
    """A tensor that a subgraph declares."""

    name: str
    """Its name, unique in its subgraph."""
    shape: tuple[int, ...]
    """The extents in the file, where one that is open is 1."""
    open_shape: tuple[int, ...] | None
    """The extents where one that is open is -1; None where the file does not tell."""
    dtype: str
    """The type of the elements; `int4` elements are held in int8, `resource` is that of a handle."""
    quantization: TensorQuantization | None = None
    is_variable: bool = False
    """Whether it keeps its value from one run to the next."""

    @property
    def is_quantized(self) -> bool:
        """Whether its elements are integers that stand for real numbers."""
        return self.quantization is not None and self.dtype not in ("float32", "float16", "bfloat16", "float64")


@dataclass(frozen=True)
class TfliteNode(NetworkNode):
    """An operator with the tensors that it takes and gives.

    `op` is the name in the schema, `CONV_2D`; `quantized CONV_2D` where a result or all data are quantised tensors,
    `hybrid CONV_2D` where only the weights are, which integers times floats make; `custom NAME` for a custom one.
    `attributes` are the fields of its options, in small letters: `stride_w`, `fused_activation_function`.
    """

    operands: tuple[TfliteTensor | None, ...] = ()
    results: tuple[TfliteTensor, ...] = ()
    custom_options: bytes = b""

    def dtype(self, place: int = 0) -> str:
        """The type of a result."""
        return self.results[place].dtype


@dataclass(frozen=True)
class TfliteModel:
    """A model: its subgraphs, of which the first one is run."""

    label: str
    subgraphs: Sequence[Network]
    reachable: tuple[int, ...] = (0,)
    """The places of the subgraphs that the first one uses, itself among them."""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, "tuple[int, ...]"])
    """The shapes of its inputs where the user gives none."""
