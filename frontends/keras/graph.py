"""The network of a model: the calls of its layers in order, models inside models taken apart.

Layers that only wrap others become nodes around what they wrap: a TimeDistributed folds the steps into the batch and
unfolds them again, a Bidirectional merges two recurrent layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from lamina.errors import InputError, UnsupportedError, shown
from lamina.frontends.imported import Port
from lamina.frontends.keras.config import LayerConfig, TensorRef, compute_dtype, dtype_in, layers_of
from lamina.frontends.keras.tensors import Arguments, arguments_of, ports_of, refs_in, replaced
from lamina.frontends.keras.variables import MOST_DEPTH, children, config_of_cell, directions, variables
from lamina.frontends.network import Network, NetworkNode

MOST_NODES = 5_000
"""Calls of layers in a model."""
INPUT = "InputLayer"
_OUTER = ("TimeDistributed", "Bidirectional")
_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float16", "float32",
    "float64",
)  # fmt: skip
"""The types of inputs."""


@dataclass(frozen=True)
class Slot:
    """The place of a tensor among the inputs of a node."""

    index: int


def network_of(label: str, model: LayerConfig) -> tuple[Network, dict[str, str]]:
    """The network, without its weights, and where these are: by name, the path in the tree of layers."""
    flat = _Flat(label)
    outputs = flat.model(model, "", "", None)
    results: dict[str, str] = {}
    structure: object = outputs.structure
    names = cast("dict[str, Any]", structure) if isinstance(structure, dict) else {}
    keys = sorted(names) if len(names) == len(outputs.values) else [_shown_name(v) for v in outputs.values]
    for key, value in zip(keys, outputs.values, strict=True):
        name, count = key, 1
        while name in results:
            name, count = f"{key}_{count}", count + 1
        results[name] = value
    if not results:
        raise ValueError("the model gives nothing")
    network = Network.named(label, list(flat.inputs.values()), flat.nodes, results, {})
    return network, flat.weights


def _shown_name(value: str) -> str:
    """The name that users know a result by: that of its layer."""
    return value.partition("@")[0].partition(":")[0].rpartition("/")[2]


@dataclass(frozen=True)
class _Outputs:
    """The results of a model, and the nested structure that the file has of them."""

    values: tuple[str, ...]
    structure: Any = None


class _Flat:
    """The nodes of a model, those of the models in it among them."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.inputs: dict[str, Port] = {}
        self.nodes: list[NetworkNode] = []
        self.weights: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def model(self, model: LayerConfig, path: str, prefix: str, given: Sequence[str] | None) -> _Outputs:
        """The results of a model on values, or on inputs of the network where none are given.

        `path` is its place among the weights, `prefix` what stands before the names of its layers.
        """
        if path.count("/layers/") > MOST_DEPTH:
            raise ValueError(f"models stand in one another more than {MOST_DEPTH} deep")
        if model.class_name == "Sequential" and "input_layers" not in model.config:
            return self._sequential(model, path, prefix, given)
        return _Functional(self, model, path, prefix).outputs(given)

    def _sequential(self, model: LayerConfig, path: str, prefix: str, given: Sequence[str] | None) -> _Outputs:
        layers = model.layers
        places = _places(model, path)
        if given is None:
            first = layers[0] if layers else None
            if first is None or first.class_name != INPUT:
                first = _input_before(model, first)
            given = [self.port(first)]
        values = tuple(given)
        for layer in layers:
            if layer.class_name != INPUT:
                argument = (
                    TensorRef(layer.name, 0, 0)
                    if len(values) == 1
                    else [TensorRef("", 0, i) for i in range(len(values))]
                )
                arguments = Arguments((argument,), {})
                values = self.call(layer, places[layer.name], prefix, "", arguments, list(values), 1)
        return _Outputs(values)

    def port(self, layer: LayerConfig) -> str:
        """The input that an InputLayer is."""
        shape = layer.config.get("batch_shape", layer.config.get("batch_input_shape"))
        if layer.get("sparse", False) or layer.get("ragged", False):
            raise UnsupportedError(f"the input {shown(layer.name)} is sparse or ragged", where=self.label)
        extents = tuple(-1 if e is None else int(e) for e in shape)
        if min(extents, default=0) < -1:
            raise InputError(f"the input {shown(layer.name)} has the shape {list(extents)}", where=self.label)
        dtype = compute_dtype(dtype_in(layer.config.get("dtype")))
        if dtype not in _DTYPES:
            raise UnsupportedError(f"the input {shown(layer.name)} has the type {shown(dtype)}", where=self.label)
        self.inputs.setdefault(layer.name, Port(layer.name, extents, dtype))
        return layer.name

    # -- calls ---------------------------------------------------------------------------------------

    def call(
        self, layer: LayerConfig, path: str, prefix: str, suffix: str, arguments: Arguments, values: Sequence[str],
        count: int,
    ) -> tuple[str, ...]:  # fmt: skip
        """The results of a layer, `count` of them. The tensors in `arguments`, in order, are `values`."""
        if layer.is_model or layer.class_name in _OUTER and not layer.custom:
            arguments, values = self._without_mask(layer, prefix, suffix, arguments, values)
        if layer.is_model:
            taken = refs_in(arguments.args)
            return self.model(layer, path, f"{prefix}{layer.name}{suffix}/", values[: len(taken)]).values
        if not layer.custom:
            if layer.class_name == "TimeDistributed":
                return self._time_distributed(layer, path, prefix, suffix, arguments, values)
            if layer.class_name == "Bidirectional":
                return self._bidirectional(layer, path, prefix, suffix, arguments, values, count)
            if layer.class_name == "SpectralNormalization":
                inner = layer.inner("layer")
                return self.call(inner, f"{path}/layer", prefix, suffix, arguments, values, count)
            if layer.class_name == "RNN":
                known = config_of_cell(layer)
                return self._node(known or layer, path, prefix, suffix, arguments, values, count)
        return self._node(layer, path, prefix, suffix, arguments, values, count)

    def _node(
        self, layer: LayerConfig, path: str, prefix: str, suffix: str, arguments: Arguments, values: Sequence[str],
        count: int,
    ) -> tuple[str, ...]:  # fmt: skip
        name = prefix + layer.name
        inputs, weights = list(values), dict[str, int]()
        for variable, _ in variables(layer):
            weights[variable.path] = len(inputs)
            inputs.append(self._weight(f"{path}/{variable.path}", f"{name}/{variable.path}"))
        slots = iter(range(len(values)))
        args, kwargs = replaced([list(arguments.args), dict(arguments.kwargs)], lambda _: Slot(next(slots)))
        outputs = tuple(f"{name}{suffix}:{k}" if k else name + suffix for k in range(count))
        attributes = {"layer": layer, "args": args, "kwargs": kwargs, "weights": weights}
        self._add(NetworkNode(
            layer.class_name, name, tuple(inputs), outputs, attributes, len(self.nodes), layer.refusal
        ))  # fmt: skip
        return outputs

    def _weight(self, path: str, name: str) -> str:
        """The name of a weight: that of the first call of its layer."""
        if path not in self._names:
            self._names[path] = name
            self.weights[name] = path
        return self._names[path]

    def _add(self, node: NetworkNode) -> None:
        if len(self.nodes) >= MOST_NODES:
            raise ValueError(f"layers are called more than {MOST_NODES} times")
        self.nodes.append(node)

    def _glue(self, op: str, layer: LayerConfig, prefix: str, value: str, inputs: Sequence[str]) -> str:
        """A node of a wrapper's own, which takes tensors and the wrapper's configuration."""
        args = [Slot(k) for k in range(len(inputs))]
        attributes: dict[str, Any] = {"layer": replace(layer, class_name=op), "args": args, "kwargs": {}, "weights": {}}
        self._add(NetworkNode(op, prefix + layer.name, tuple(inputs), (value,), attributes, len(self.nodes)))
        return value

    def _without_mask(
        self, layer: LayerConfig, prefix: str, suffix: str, arguments: Arguments, values: Sequence[str]
    ) -> tuple[Arguments, Sequence[str]]:
        """A call whose tensors have the masks that stand among its arguments."""
        given = arguments.kwargs.get("mask")
        if not refs_in(given):
            return arguments, values
        count = len(refs_in(arguments.args))
        before = [arguments.kwargs[k] for k in sorted(arguments.kwargs) if k < "mask"]
        first = count + len(refs_in(before))
        masks = cast("list[Any]", given) if isinstance(given, list) else [given]
        tensors = len(refs_in(arguments.args[:1]))
        if len(masks) != tensors or not all(m is None or isinstance(m, TensorRef) for m in masks):
            raise UnsupportedError(f"{len(masks)} masks of {tensors} tensors are not supported", where=self.label)
        found, at = list(values), first
        for k, mask in enumerate(masks):
            if mask is not None:
                name = f"{prefix}{layer.name}{suffix}@masked{k}"
                found[k] = self._glue("Masked", layer, prefix, name, [values[k], values[at]])
                at += 1
        kwargs = {k: v for k, v in arguments.kwargs.items() if k != "mask"}
        return Arguments(arguments.args, kwargs), found[:first] + found[at:]

    def _time_distributed(
        self, layer: LayerConfig, path: str, prefix: str, suffix: str, arguments: Arguments, values: Sequence[str]
    ) -> tuple[str, ...]:
        name = f"{prefix}{layer.name}{suffix}"
        x = values[:1]
        folded = self._glue("TimeDistributed.fold", layer, prefix, f"{name}@folded", x)
        inner = self.call(
            layer.inner("layer"), f"{path}/layer", f"{prefix}{layer.name}/", suffix,
            Arguments(arguments.args[:1], {}), [folded], 1,
        )  # fmt: skip
        return (self._glue("TimeDistributed.unfold", layer, prefix, name, [inner[0], *x]),)

    def _bidirectional(
        self, layer: LayerConfig, path: str, prefix: str, suffix: str, arguments: Arguments, values: Sequence[str],
        count: int,
    ) -> tuple[str, ...]:  # fmt: skip
        """The outputs of both directions merged, then their states; of initial states each takes a half."""
        forward, backward = directions(layer)
        states = int(bool(forward.get("return_state", False))) * (2 if forward.class_name == "LSTM" else 1)
        given = values[1:]
        half = len(given) // 2
        results: list[tuple[str, ...]] = []
        for place, inner, own in (
            ("forward_layer", forward, given[:half]),
            ("backward_layer", backward, given[half:]),
        ):
            args: tuple[Any, ...] = (TensorRef("", 0, 0),)
            if own:
                args = (args[0], [TensorRef("", 0, 1 + k) for k in range(len(own))])
            called = Arguments(args, {})
            results.append(
                self.call(inner, f"{path}/{place}", f"{prefix}{layer.name}/", suffix, called,
                          [values[0], *own], 1 + states)
            )  # fmt: skip
        name = f"{prefix}{layer.name}{suffix}"
        outputs = [results[0][0], results[1][0]]
        if layer.config.get("merge_mode", "concat") is None:
            merged = [
                self._glue("Identity", layer, prefix, name, outputs[:1]),
                self._glue("Bidirectional.turned", layer, prefix, f"{name}:1", outputs[1:]),
            ]
        else:
            merged = [self._glue("Bidirectional.merge", layer, prefix, name, outputs)]
        return (*merged, *results[0][1:], *results[1][1:])


def _places(model: LayerConfig, path: str) -> dict[str, str]:
    """Places of the weights of the layers of a model, by the names of the layers."""
    return {layer.name: f"{path}/{place}" if path else place for place, layer in children(model)}


def _input_before(model: LayerConfig, first: LayerConfig | None) -> LayerConfig:
    """The input of a sequence of layers that has no layer for it."""
    own: Mapping[str, Any] = first.config if first is not None else {}
    shape = own.get("batch_input_shape", own.get("batch_shape"))
    if shape is None:
        shape = model.config.get("build_input_shape") or model.build.get("input_shape")
    if shape is None:
        raise UnsupportedError(
            "the model was never built: nothing says what it takes", where="", hint="call it once, and save it again"
        )
    name = f"{first.name}_input" if first is not None else "input"
    dtype = own.get("dtype") if first is not None and first.class_name != "Embedding" else "float32"
    return LayerConfig(INPUT, name, {"batch_shape": shape, "dtype": dtype})


class _Functional:
    """One functional model on its way into the network."""

    def __init__(self, flat: _Flat, model: LayerConfig, path: str, prefix: str) -> None:
        self.flat = flat
        self.model = model
        self.prefix = prefix
        self.layers = {layer.name: layer for layer in model.layers}
        if len(self.layers) != len(layers_of(model.config)):
            raise ValueError("two layers have the same name")
        self.places = _places(model, path)
        self.calls = {
            name: [arguments_of(call, self._is_model) for call in layer.calls if call or isinstance(call, dict)]
            for name, layer in self.layers.items()
        }
        self.taken = refs_in(ports_of(model.config["input_layers"], lambda name, call: call))
        self.given = ports_of(model.config["output_layers"], self._call_of_output)
        self.values: dict[tuple[str, int], tuple[str, ...]] = {}
        self.counts: dict[tuple[str, int], int] = {}
        every = [r for calls in self.calls.values() for c in calls for r in refs_in([list(c.args), dict(c.kwargs)])]
        for ref in (*every, *refs_in(self.given)):
            key = ref.layer, ref.call
            if not 0 <= ref.index < MOST_DEPTH:
                raise ValueError(f"result {ref.index} of {ref.layer} is asked for")
            self.counts[key] = max(self.counts.get(key, 1), ref.index + 1)

    def _is_model(self, name: str) -> bool:
        return name in self.layers and self.layers[name].is_model

    def _call_of_output(self, name: str, call: int) -> int:
        """The number of a call as outputs have it: those of a functional model count from 1."""
        layer = self.layers.get(name)
        if layer is None or not layer.is_model or call == 0:
            return call
        return call - 1 if layer.class_name != "Sequential" or call >= len(layer.calls) else call

    def outputs(self, given: Sequence[str] | None) -> _Outputs:
        """The results of the model on values, or on inputs of the network."""
        if given is None:
            given = [self.flat.port(self._input(ref)) for ref in self.taken]
        if len(given) != len(self.taken):
            raise ValueError(f"{self.model.name} takes {len(self.taken)} tensors, it is given {len(given)}")
        for ref, value in zip(self.taken, given, strict=True):
            self.values[ref.layer, ref.call] = (value,)
        wanted = refs_in(self.given)
        for ref in wanted:
            self._compute(ref)
        return _Outputs(tuple(self._value(r) for r in wanted), self.given)

    def _input(self, ref: TensorRef) -> LayerConfig:
        layer = self.layers[ref.layer]
        if layer.class_name != INPUT:
            raise ValueError(f"the input {ref.layer} is a layer of the class {layer.class_name}")
        return layer

    def _value(self, ref: TensorRef) -> str:
        values = self.values[ref.layer, ref.call]
        if ref.index >= len(values):
            raise ValueError(f"{ref.layer} has {len(values)} results, number {ref.index} is asked for")
        return values[ref.index]

    def _compute(self, wanted: TensorRef) -> None:
        """Call what a tensor depends on, and its layer last: no recursion, as graphs are deep."""
        open_: dict[tuple[str, int], None] = {}
        stack = [(wanted.layer, wanted.call)]
        while stack:
            key = stack[-1]
            if key in self.values:
                stack.pop()
                continue
            arguments = self._arguments(key)
            refs = refs_in([list(arguments.args), dict(arguments.kwargs)])
            missing = [(r.layer, r.call) for r in refs if (r.layer, r.call) not in self.values]
            if not missing:
                stack.pop()
                self.values[key] = self._called(key, arguments, [self._value(r) for r in refs])
                continue
            if key in open_:
                raise ValueError(f"the layer {shown(key[0])} depends on itself")
            open_[key] = None
            stack += missing

    def _arguments(self, key: tuple[str, int]) -> Arguments:
        name, call = key
        calls = self.calls.get(name)
        if calls is None or not 0 <= call < len(calls):
            raise ValueError(f"the layer {shown(name)} has no call {call}")
        return calls[call]

    def _called(self, key: tuple[str, int], arguments: Arguments, values: Sequence[str]) -> tuple[str, ...]:
        name, call = key
        suffix = f"@{call}" if call else ""
        layer = self.layers[name]
        return self.flat.call(
            layer, self.places.get(name, name), self.prefix, suffix, arguments, values, self.counts.get(key, 1)
        )
