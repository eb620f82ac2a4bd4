"""The graph of a `.pt2` archive (torch/_export/serde/schema.py has the schema of its JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import itemsize, numpy_dtype
from lamina.dialects.infos import TensorInfo
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.frontends.archive import Archive
from lamina.frontends.aten.functional import with_kept_outputs
from lamina.frontends.aten.graph import AtenCall, AtenGraph, DType, Input, Other, Output, Ref, SourcePlace, place_in
from lamina.frontends.aten.sizes import OpenSizes, SizesError
from lamina.frontends.builder import checked_nbytes
from lamina.frontends.dimensions import Dimensions, Findings
from lamina.frontends.formats import Shapes

MOST_JSON = 1 << 28
"""Bytes of a description: 256 MB."""
MAJOR = 8
"""The version of the schema that is read."""
_DTYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 12: "bool",
    13: "bfloat16",
}  # fmt: skip
"""Element types by the numbers of the schema's ScalarType."""
_PLAIN = ("as_int", "as_float", "as_bool", "as_string", "as_ints", "as_floats", "as_bools", "as_strings")
_SIZES = ("as_sym_int", "as_sym_bool", "as_sym_float")
_OTHERS = ("as_device", "as_layout", "as_memory_format")


def read_graph(
    source: Any, limit: int, shapes: Shapes | None = None, found: Findings | None = None
) -> tuple[AtenGraph, Dimensions]:
    """Read the program of a path or of bytes; `shapes` are sizes of what it leaves open, for which `found` is what
    earlier readings have found. With the dimensions of its inputs. Raises LaminaError."""
    archive = Archive(source)
    if "serialized_exported_program.json" in archive:
        raise UnsupportedError("was saved by torch before 2.9", where=archive.label, hint="load it and save it again")
    try:
        reader = _Reader(archive, limit, shapes or {}, found or Findings())
        return reader.graph(), reader.sizes.dimensions
    except LaminaError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as e:
        what = f"is no program of torch.export: {type(e).__name__}: {e}"
        raise InputError(what[:200], where=archive.label, hint="is the file whole?") from None


class _Reader:
    def __init__(self, archive: Archive, limit: int, shapes: Shapes, found: Findings) -> None:
        self.archive = archive
        self.limit = limit
        models = [n for n in archive.names() if re.fullmatch(r"models/[^/]+\.json", n)]
        if len(models) != 1:
            raise InputError(f"has {len(models)} graphs, expects one", where=archive.label)
        self.name = models[0].removeprefix("models/").removesuffix(".json")
        self.model = self._json(models[0])
        version = self.model["schema_version"]["major"]
        if version != MAJOR:
            what = f"has version {version} of the schema, only {MAJOR} is supported"
            raise UnsupportedError(what, where=archive.label, hint="save it with torch 2.9 or later")
        graph = self.model["graph_module"]["graph"]
        self.types: Mapping[str, Any] = graph["tensor_values"]
        self.computed: dict[str, Any] = graph.get("sym_int_values", {})
        """Sizes that the graph computes, by name."""
        self.sizes = self._sizes(shapes, found)

    def _sizes(self, shapes: Shapes, found: Findings) -> OpenSizes:
        """The sizes that the program leaves open."""
        specs = [
            s["user_input"]["arg"] for s in self.model["graph_module"]["signature"]["input_specs"] if "user_input" in s
        ]
        names = [str(arg["as_tensor"]["name"]) for arg in specs if "as_tensor" in arg]
        inputs = {name: [_extent(e) for e in self.types[name]["sizes"]] for name in names}
        given: Mapping[str, Any] = self.model.get("range_constraints") or {}
        ranges = {str(n): (r.get("min_val"), r.get("max_val")) for n, r in given.items()}
        return OpenSizes(self.archive.label, inputs, ranges, shapes, found)

    def _json(self, name: str) -> Any:
        data = self.archive.bytes(name)
        if len(data) > MOST_JSON:
            raise InputError(f"{name} has {len(data)} bytes", where=self.archive.label)
        return json.loads(bytes(data))

    def graph(self) -> AtenGraph:
        """The whole graph."""
        described = self.model["graph_module"]
        signature = described["signature"]
        inputs = [self._input(s) for s in signature["input_specs"]]
        calls = [c for n in described["graph"]["nodes"] for c in self._calls(n)]
        outputs: list[Output] = []
        kept: set[int] = set()
        for spec in signature["output_specs"]:
            ((kind, given),) = spec.items()
            if kind in ("buffer_mutation", "parameter_mutation"):
                kept.add(len(outputs))
            key = next((given[k] for k in ("buffer_name", "user_input_name", "parameter_name") if k in given), None)
            name = key if key is not None else f"output_{sum(o.name.startswith('output_') for o in outputs)}"
            argument = given["arg"]
            value = self._argument(argument) if kind == "user_output" else Ref(argument["name"])
            outputs.append(Output(str(name), value))
        graph = AtenGraph(self.archive.label, [i for i in inputs if i is not None], calls, outputs)
        return with_kept_outputs(graph, kept)

    # -- inputs --------------------------------------------------------------------------------------

    def _info(self, meta: Any, where: str) -> TensorInfo:
        if meta["dtype"] not in _DTYPES:
            raise UnsupportedError(f"tensors of the type {meta['dtype']} are not supported", where=where)
        info = TensorInfo(self._shape(meta), _DTYPES[meta["dtype"]])
        checked_nbytes(info.shape, info.dtype, self.limit, where)
        return info

    def _shape(self, meta: Any) -> tuple[int, ...]:
        extents = map(_extent, meta["sizes"])
        return tuple(self.sizes.number(e) if isinstance(e, str) else e for e in extents)

    def _input(self, spec: Any) -> Input | None:
        ((kind, given),) = spec.items()
        argument = given["arg"]
        if kind == "user_input":
            if "as_tensor" not in argument:
                if "as_none" in argument or any(k in argument for k in _PLAIN):
                    return None
                raise UnsupportedError(f"an input is {next(iter(argument))}, no tensor", where=self.archive.label)
            name = argument["as_tensor"]["name"]
            info = self._info(self.types[name], f"{self.archive.label}: {name}")
            return Input(name, info.shape, info.dtype)
        name = argument["name"]
        folders = {"parameter": ("parameter_name",), "buffer": ("buffer_name",), "tensor_constant": (
            "tensor_constant_name",)}  # fmt: skip
        if kind not in folders:
            raise UnsupportedError(f"inputs of the kind {kind} are not supported", where=self.archive.label)
        key = str(given[folders[kind][0]])
        info = self._info(self.types[name], f"{self.archive.label}: {key}")
        return Input(name, info.shape, info.dtype, key, self._weight(key, info))

    def _weight(self, key: str, info: TensorInfo) -> np.ndarray[Any, Any]:
        """The elements of a weight, where they lie in the file."""
        where = f"{self.archive.label}: {key}"
        for folder in ("weights", "constants"):
            config = f"data/{folder}/{self.name}_{folder}_config.json"
            entry = self._configs(config).get(key) if config in self.archive else None
            if entry is None:
                continue
            if entry["use_pickle"]:
                raise UnsupportedError("is pickled", where=where, hint="only plain tensors are read")
            meta = entry["tensor_meta"]
            if self._info(meta, where) != info:
                raise InputError(f"is not {info}, as the graph says", where=where)
            data = self.archive.bytes(f"data/{folder}/{entry['path_name']}")
            elements = data[: len(data) // itemsize(info.dtype) * itemsize(info.dtype)].view(numpy_dtype(info.dtype))
            first = int(meta["storage_offset"]["as_int"])
            strides = [int(s["as_int"]) for s in meta["strides"]]
            if not prod(info.shape):
                return np.zeros(info.shape, numpy_dtype(info.dtype))
            last = first + sum((e - 1) * s for e, s in zip(info.shape, strides, strict=True))
            if first < 0 or min(strides, default=0) < 0 or last >= len(elements):
                raise InputError("does not fit its data", where=where, hint="is the file whole?")
            bytes_ = [s * elements.itemsize for s in strides]
            return np.lib.stride_tricks.as_strided(elements[first:], info.shape, bytes_, writeable=False)
        raise InputError("has no data", where=where, hint="is the file whole?")

    def _configs(self, name: str) -> Mapping[str, Any]:
        if not hasattr(self, "_read"):
            self._read: dict[str, Any] = {}
        if name not in self._read:
            self._read[name] = self._json(name)["config"]
        return self._read[name]

    # -- calls ---------------------------------------------------------------------------------------

    def _calls(self, node: Any) -> list[AtenCall]:
        """A node as a call, and what takes its results where it has several."""
        target = str(node["target"]).removeprefix("torch.ops.")
        outputs = node["outputs"]
        if outputs and all(next(iter(o)) in _SIZES for o in outputs):
            return []  # what it computes is told where it is used
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        refusal = ""
        for given in node["inputs"]:
            try:
                value = self._argument(given["arg"])
            except SizesError as e:
                value, refusal = None, e.what
            if given.get("kind", 1) == 1:
                args.append(value)
            else:
                kwargs[str(given["name"])] = value
        place = self._place(node.get("metadata", {}))
        names = self._results(outputs)
        own = node.get("name") or (names[0] if names else target)
        if len(outputs) == 1 and "as_tensor" in outputs[0] and node.get("is_hop_single_tensor_return") is not False:
            name = str(names[0])
            return [AtenCall(name, target, tuple(args), kwargs, place, self._type(name), refusal)]
        call = AtenCall(str(own), target, tuple(args), kwargs, place, refusal=refusal)
        parts = [
            AtenCall(name, "getitem", (Ref(call.name), k), {}, place, self._type(name))
            for k, name in enumerate(names)
            if name
        ]
        return [call, *parts]

    def _results(self, outputs: Any) -> list[str | None]:
        """The names of the results; None for those that are not used."""
        found: list[str | None] = []
        for output in outputs:
            ((kind, given),) = output.items()
            if kind == "as_tensors":
                found += [str(g["name"]) for g in given]
            elif kind in ("as_tensor", "as_optional_tensor"):
                found.append(given.get("name"))
            else:
                found.append(None)
        return found

    def _type(self, name: str) -> TensorInfo | None:
        meta = self.types.get(name)
        if meta is None or meta["dtype"] not in _DTYPES:
            return None
        try:
            return TensorInfo(self._shape(meta), _DTYPES[meta["dtype"]])
        except UnsupportedError:  # it depends on values, or is computed in a way that is refused where it is used
            return None

    def _argument(self, given: Any) -> Any:
        ((kind, value),) = given.items()
        if kind == "as_none":
            return None
        if kind == "as_tensor":
            return Ref(str(value["name"]))
        if kind == "as_tensors":
            return [Ref(str(v["name"])) for v in value]
        if kind == "as_optional_tensors":
            return [self._argument(v) for v in value]
        if kind in ("as_float", "as_floats"):  # infinities are words
            return float(value) if kind == "as_float" else list(map(float, value))
        if kind in _PLAIN:
            return value
        if kind == "as_sym_int":
            return self._size(value)
        if kind == "as_sym_ints":
            return [self._size(v) for v in value]
        if kind in _SIZES:
            if "as_name" in value:
                raise SizesError("an argument is computed of sizes, and is no whole number", where=self.archive.label)
            return next(iter(value.values()))
        if kind == "as_scalar_type":
            if value not in _DTYPES:
                raise UnsupportedError(f"the type {value} is not supported", where=self.archive.label)
            return DType(_DTYPES[value])
        if kind == "as_graph":
            return self._body(value["graph"])
        if kind in _OTHERS:
            return Other(f"{kind} {value}")
        raise UnsupportedError(f"arguments of the kind {kind} are not supported", where=self.archive.label)

    def _size(self, given: Any) -> int:
        """The number of a size that is an argument."""
        extent = _extent(self.computed[given["as_name"]] if "as_name" in given else given)
        return self.sizes.number(extent) if isinstance(extent, str) else extent

    def _body(self, given: Any) -> AtenGraph:
        """A graph in the graph."""
        outer, self.types = self.types, given["tensor_values"]
        computed, self.computed = self.computed, {**self.computed, **given.get("sym_int_values", {})}
        try:
            inputs = [self._input({"user_input": {"arg": i}}) for i in given["inputs"]]
            calls = [c for n in given["nodes"] for c in self._calls(n)]
            outputs = [Output(str(k), self._argument(o)) for k, o in enumerate(given["outputs"])]
        finally:
            self.types, self.computed = outer, computed
        return AtenGraph(self.archive.label, [i for i in inputs if i is not None], calls, outputs)

    def _place(self, metadata: Any) -> SourcePlace:
        stack = str(metadata.get("nn_module_stack", "")).split(";")[-1].split(",")
        module = stack[1] if len(stack) > 1 else ""
        return place_in(module, str(metadata.get("stack_trace", "")))


def _extent(given: Any) -> int | str:
    """A size as the file has it: a number, or an expression."""
    return int(given["as_int"]) if "as_int" in given else str(given["as_expr"]["expr_str"])
