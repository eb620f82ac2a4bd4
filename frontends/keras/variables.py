"""The weights of each class of layers by name, in the order in which files have them, and the layers inside layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from lamina.frontends.keras.config import LayerConfig, snake_case

MOST_DEPTH = 64
"""Layers inside layers."""


@dataclass(frozen=True)
class LayerWeight:
    """A weight of a tree of layers."""

    folder: str
    """The layer that owns it: `forward_layer/cell`, empty for the root of the tree."""
    name: str
    index: int
    """Its place among those of the layer that owns it."""
    is_trained: bool

    @property
    def path(self) -> str:
        """`forward_layer/cell/kernel`."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


Names: TypeAlias = "Callable[[LayerConfig], tuple[list[str], list[str]]]"
"""The trained weights of a layer, and the others."""


def _names(*parts: str) -> Names:
    """Names of trained weights; `bias:use_bias` is there where the flag in the configuration is not False."""

    def of(layer: LayerConfig) -> tuple[list[str], list[str]]:
        found: list[str] = []
        for part in parts:
            name, _, flag = part.partition(":")
            if not flag or layer.config.get(flag, True):
                found.append(name)
        return found, []

    return of


def _einsum_dense(layer: LayerConfig) -> tuple[list[str], list[str]]:
    return ["kernel", *(["bias"] if layer.config.get("bias_axes") is not None else [])], []


def _batch_normalization(layer: LayerConfig) -> tuple[list[str], list[str]]:
    others = ["moving_mean", "moving_variance"]
    if layer.get("renorm", False):
        others += ["moving_stddev", "renorm_mean", "renorm_stddev"]
    return _names("gamma:scale", "beta:center")(layer)[0], others


def _layer_normalization(layer: LayerConfig) -> tuple[list[str], list[str]]:
    if layer.get("rms_scaling", False):
        return ["gamma"], []
    return _names("gamma:scale", "beta:center")(layer)


def _normalization(layer: LayerConfig) -> tuple[list[str], list[str]]:
    return [], [] if layer.config.get("mean") is not None else ["mean", "variance", "count"]


def _attention(layer: LayerConfig) -> tuple[list[str], list[str]]:
    scale = ["scale"] if layer.get("use_scale", False) else []
    return scale + (["concat_score_weight"] if layer.get("score_mode", "dot") == "concat" else []), []


def _reversible(layer: LayerConfig) -> tuple[list[str], list[str]]:
    return ["embeddings", *([] if layer.config.get("tie_weights", True) else ["reverse_embeddings"])], []


_CONV = _names("kernel", "bias:use_bias")
_CELL = _names("kernel", "recurrent_kernel", "bias:use_bias")

OWN: dict[str, Names] = {
    "Dense": _CONV,
    "EinsumDense": _einsum_dense,
    "Embedding": _names("embeddings"),
    "ReversibleEmbedding": _reversible,
    **dict.fromkeys((f"Conv{n}D{kind}" for n in (1, 2, 3) for kind in ("", "Transpose")), _CONV),
    "DepthwiseConv1D": _CONV,
    "DepthwiseConv2D": _CONV,
    "SeparableConv1D": _names("depthwise_kernel", "pointwise_kernel", "bias:use_bias"),
    "SeparableConv2D": _names("depthwise_kernel", "pointwise_kernel", "bias:use_bias"),
    "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization,
    "GroupNormalization": _names("gamma:scale", "beta:center"),
    "RMSNormalization": _names("scale"),
    "LayerScale": _names("gamma"),
    "SpectralNormalization": lambda _: ([], ["vector_u"]),
    "Normalization": _normalization,
    "PReLU": _names("alpha"),
    "Attention": _attention,
    "AdditiveAttention": _names("scale:use_scale"),
    **dict.fromkeys(("LSTMCell", "GRUCell", "SimpleRNNCell", "ConvLSTMCell"), _CELL),
}
"""By the class of the layer; others have no weights."""

_CELLS = {
    "LSTM": "LSTMCell", "GRU": "GRUCell", "SimpleRNN": "SimpleRNNCell",
    "ConvLSTM1D": "ConvLSTMCell", "ConvLSTM2D": "ConvLSTMCell", "ConvLSTM3D": "ConvLSTMCell",
}  # fmt: skip
_WRAPPERS = ("TimeDistributed", "SpectralNormalization")
_OWN_NAMES = {"GroupQueryAttention": "GroupedQueryAttention"}
"""The names of classes in the source of Keras, where they are exported under others."""
_ATTENTIONS = ("MultiHeadAttention", "GroupedQueryAttention", "GroupQueryAttention")


def children(layer: LayerConfig) -> list[tuple[str, LayerConfig]]:
    """The layers inside a layer or a model, by the name of the place where files have them."""
    if layer.is_model:
        counts: dict[str, int] = {}
        found: list[tuple[str, LayerConfig]] = []
        for inner in layer.layers:
            if inner.class_name.startswith("ops."):
                continue  # an operation is no layer
            known = _OWN_NAMES.get(inner.class_name, inner.class_name)
            name = snake_case(inner.custom.rpartition(">")[2] or known)
            count = counts[name] = counts.get(name, -1) + 1
            found.append((f"layers/{name}_{count}" if count else f"layers/{name}", inner))
        return found
    if layer.custom:
        return []
    if layer.class_name in _CELLS:
        return [("cell", replace(layer, class_name=_CELLS[layer.class_name]))]
    if layer.class_name == "RNN":
        return [("cell", layer.inner("cell"))]
    if layer.class_name in _WRAPPERS:
        return [("layer", layer.inner("layer"))]
    if layer.class_name == "Bidirectional":
        forward, backward = directions(layer)
        return [("forward_layer", forward), ("backward_layer", backward)]
    if layer.class_name in _ATTENTIONS:
        projections = ["query", "key", *(["gate"] if layer.get("use_gate", False) else []), "value", "output"]
        bias = [0] if layer.config.get("use_bias", True) else None
        return [
            (f"{p}_dense", LayerConfig("EinsumDense", p, {"bias_axes": bias, "trainable": True})) for p in projections
        ]
    return []


def directions(layer: LayerConfig) -> tuple[LayerConfig, LayerConfig]:
    """The two layers of a Bidirectional; the second walks the other way where the file does not say it."""
    forward = layer.inner("layer")
    if layer.config.get("backward_layer") is not None:
        return forward, layer.inner("backward_layer")
    other = {**forward.config, "go_backwards": not forward.config.get("go_backwards", False)}
    return forward, replace(forward, config=other)


def variables(layer: LayerConfig, folder: str = "", depth: int = 0) -> Iterator[tuple[LayerWeight, bool]]:
    """The weights of a tree of layers, each with whether it is trained in the end: all that it is in must be."""
    if depth > MOST_DEPTH:
        raise ValueError(f"layers stand in one another more than {MOST_DEPTH} deep")
    names = OWN.get(layer.class_name)
    trained, others = names(layer) if names is not None and not layer.custom else ([], [])
    live = bool(layer.config.get("trainable", True))
    for index, name in enumerate(trained + others):
        found = LayerWeight(folder, name, index, index < len(trained))
        yield found, found.is_trained and live
    for place, inner in children(layer):
        for found, is_live in variables(inner, f"{folder}/{place}" if folder else place, depth + 1):
            yield found, is_live and live


def in_order_of_training(layer: LayerConfig) -> list[LayerWeight]:
    """The weights in the order of HDF5 files: those that are trained, then the others."""
    found = list(variables(layer))
    return [v for v, live in found if live] + [v for v, live in found if not live]


def config_of_cell(layer: LayerConfig) -> Any:
    """An RNN of a known cell as the layer that is named for it, LSTM for LSTMCell; None for others."""
    cell = layer.inner("cell")
    names = {v: k for k, v in _CELLS.items() if not k.startswith("Conv")}
    if cell.custom or cell.class_name not in names:
        return None
    own = {k: v for k, v in layer.config.items() if k != "cell"}
    return replace(layer, class_name=names[cell.class_name], config={**cell.config, **own})
