"""The description of a model: a tree of layers, as the JSON of Keras 2 and 3 has it, and the calls of each layer.

A layer is `{"class_name": ..., "config": {...}}`; Keras 3 says also of which module its class is. A functional model
has in its `config` the layers with the calls of each (`inbound_nodes`), and which tensors go in and come out. A tensor
is named by a layer, one of its calls and one of the results: `["dense", 0, 0]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lamina.errors import InputError, UnsupportedError, shown

MODELS = ("Functional", "Model", "Sequential")
"""Classes of models that are described by their layers."""
_BARE = ("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
"""Layers whose configurations do not say whether they are trained."""
_CODE = ("Lambda", "TFOpLambda", "SlicingOpLambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer")


@dataclass(frozen=True)
class TensorRef:
    """A tensor: the result `index` of a call of a layer."""

    layer: str
    call: int
    index: int


@dataclass(frozen=True)
class LayerConfig:
    """A layer or a model: its class, its name, what it is made with, and its calls."""

    class_name: str
    """`Dense`, or `ops.Add` for an operation of keras.ops."""
    name: str
    config: Mapping[str, Any]
    calls: tuple[Any, ...] = ()
    custom: str = ""
    """The name that its class is registered by, where the class is not one of Keras's."""
    build: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The shapes of inputs that it was built with."""

    @property
    def is_model(self) -> bool:
        """Whether it is a model made of layers."""
        return self.class_name in MODELS and not self.custom

    @property
    def layers(self) -> list[LayerConfig]:
        """The layers of a model."""
        return [layer_of(given) for given in layers_of(self.config)]

    def inner(self, key: str) -> LayerConfig:
        """A layer that stands in the configuration of this one."""
        return layer_of(self.config[key])

    def get(self, key: str, default: Any = None) -> Any:
        """A part of the configuration, the default where it is absent or null."""
        found = self.config.get(key)
        return default if found is None else found

    @property
    def refusal(self) -> str:
        """The reason why a layer cannot be imported whatever it is made with, empty where there is none."""
        if self.custom:
            return f"its class {shown(self.custom)} is not one of Keras's"
        return "holds Python code" if self.class_name in _CODE else ""


def parsed(text: str | bytes, label: str) -> Any:
    """A description from JSON. Raises InputError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        what = f"the description of the model is no JSON: {type(e).__name__}: {e}"
        raise InputError(what[:200], where=label, hint="is the file whole?") from None


_FUNCTION_KEYS = ("activation", "recurrent_activation")


def of_version(given: Any, version: str) -> Any:
    """A description with the functions that the version of Keras that wrote it means by their names.

    The hard_sigmoid of Keras 1 and 2 is x / 5 + 1/2, that of Keras 3 x / 6 + 1/2.
    """
    return _renamed(given) if version.startswith(("1.", "2.")) else given


def _renamed(given: Any) -> Any:
    if isinstance(given, list):
        return [_renamed(v) for v in cast("list[Any]", given)]
    if not isinstance(given, dict):
        return given
    entries = cast("dict[str, Any]", given)
    return {
        k: "hard_sigmoid_2" if k in _FUNCTION_KEYS and v == "hard_sigmoid" else _renamed(v) for k, v in entries.items()
    }


def layer_of(given: Any) -> LayerConfig:
    """A layer of its JSON. Raises KeyError, TypeError or ValueError where it is none."""
    if not isinstance(given, dict):
        raise TypeError(f"a layer is described by {type(given).__name__}")
    described = cast("dict[str, Any]", given)
    class_name, config = str(described["class_name"]), described["config"]
    if class_name == "Sequential" and isinstance(config, list):  # Keras 1
        config = dict[str, Any](layers=config)
    if not isinstance(config, dict):
        raise TypeError(f"the configuration of {class_name} is {type(config).__name__}")
    own = cast("dict[str, Any]", config)
    name = str(described.get("name") or own.get("name") or class_name)
    module = described.get("module")
    custom = ""
    if class_name not in MODELS and ("module" in described and not str(module).startswith("keras")):
        custom = str(described.get("registered_name") or class_name)
    elif ">" in class_name:  # a registered class in an HDF5 file
        custom = class_name
    elif class_name in MODELS and "layers" not in own or class_name not in MODELS and "layers" in own:
        raise UnsupportedError(
            f"{shown(name)} is a model of the class {shown(class_name)} of its own, whose code is not in the file",
            hint="build it of layers: keras.Sequential or keras.Model(inputs, outputs)",
        )
    operation = str(module).startswith(("keras.src.ops", "keras.ops", "keras.src.activations"))
    if operation or "module" not in described and _is_operation(class_name, own):
        class_name = f"ops.{class_name}"
    build = described.get("build_config")
    calls = tuple(cast("Sequence[Any]", described.get("inbound_nodes") or ()))
    return LayerConfig(class_name, name, own, calls, custom, cast("dict[str, Any]", build or {}))


def _is_operation(class_name: str, config: Mapping[str, Any]) -> bool:
    """Whether what an HDF5 file of Keras 3 has is an operation: only layers have a type and can be trained."""
    return class_name not in (*MODELS, *_BARE) and not any(
        k in config for k in ("trainable", "batch_shape", "batch_input_shape", "layer")
    )


def layers_of(config: Mapping[str, Any]) -> list[Any]:
    """The layers in the configuration of a model."""
    found = config["layers"]
    if not isinstance(found, list):
        raise TypeError(f"the layers are {type(found).__name__}")
    return cast("list[Any]", found)


def dtype_in(given: Any, default: str = "float32") -> str:
    """The name of a type or of a policy of types: `float32`, `mixed_float16`."""
    if given is None:
        return default
    if isinstance(given, dict):
        policy = cast("dict[str, Any]", given)
        if str(policy.get("class_name")).startswith("Quantized"):
            return "quantized"
        return str(policy.get("config", {}).get("name", default))
    return str(given)


def compute_dtype(policy: str) -> str:
    """The type that a layer with a policy computes in."""
    return policy.removeprefix("mixed_")


_WORD_START = re.compile("(.)([A-Z][a-z]+)")
_WORD_END = re.compile("([a-z])([A-Z])")


def snake_case(name: str) -> str:
    """The name of a class as files of weights have it: `conv2d_transpose` of Conv2DTranspose."""
    text = _WORD_START.sub(r"\1_\2", re.sub(r"\W+", "", name))
    return _WORD_END.sub(r"\1_\2", text).lower()
