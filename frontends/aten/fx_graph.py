"""Graphs of torch.fx and exported programs, read as torch holds them: torch itself is never imported here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, Protocol

from lamina.dialects.dtypes import DTYPES
from lamina.dialects.infos import TensorInfo
from lamina.errors import UnsupportedError
from lamina.frontends.aten.functional import with_kept_outputs
from lamina.frontends.aten.graph import AtenCall, AtenGraph, DType, Input, Other, Output, Ref, SourcePlace, place_in


class ExportedProgram(Protocol):
    """A program of torch.export, as far as it is looked at."""

    @property
    def graph_signature(self) -> Any:
        """The kinds of its inputs and outputs."""
        ...

    @property
    def graph_module(self) -> Any:
        """Its graph."""
        ...

    @property
    def state_dict(self) -> Any:
        """Its parameters and buffers."""
        ...

    @property
    def constants(self) -> Any:
        """Its other tensors."""
        ...


def dtype_name(dtype: Any, where: str) -> str:
    """Lamina's name of a torch.dtype. Raises UnsupportedError for one that it lacks."""
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise UnsupportedError(f"tensors of {name} are not supported", where=where, hint="convert them first")
    return name


def array_of(tensor: Any) -> Any:
    """The elements of a dense CPU tensor, without a copy where they lie in order."""
    import ml_dtypes

    given = tensor.detach().cpu()
    if str(given.dtype) == "torch.bfloat16":
        whole = given.view(given.new_empty(0).short().dtype)
        return whole.numpy().view(ml_dtypes.bfloat16)
    return given.numpy()


def argument(value: Any, where: str, bodies: Mapping[str, AtenGraph] | None = None) -> Any:
    """An argument of a node as data; `bodies` are the graphs that nodes stand for."""
    kind = type(value).__name__
    if kind == "Node":
        return (bodies or {}).get(value.name) or Ref(value.name)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [argument(v, where, bodies) for v in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, slice):
        raise UnsupportedError("slices as arguments are not supported", where=where)
    if kind == "dtype":
        return DType(dtype_name(value, where))
    if kind in ("SymInt", "SymFloat", "SymBool"):
        return {"SymInt": int, "SymFloat": float, "SymBool": bool}[kind](value)
    return Other(str(value))


def place_of(node: Any) -> SourcePlace:
    """The user's module and line that a node comes from."""
    modules: dict[Any, Any] = node.meta.get("nn_module_stack") or {}
    path = ""
    for key, entry in modules.items():
        path = str(entry[0]) if isinstance(entry, (tuple, list)) else str(key)  # pyright: ignore[reportUnknownArgumentType]
    path = path.removeprefix("L['self'].").removeprefix("L['self']")
    return place_in(path, node.meta.get("stack_trace") or "")


def target_of(node: Any) -> str:
    """The operator of a node: `aten.add.Tensor`; a function of Python by its name."""
    target = node.target
    if type(target).__name__ == "OpOverload":
        return str(target)
    name = getattr(target, "__name__", str(target))
    if getattr(target, "namespace", "") == "higher_order":
        return f"higher_order.{name}"
    return "getitem" if name == "getitem" else f"python.{name}"


def call_of(node: Any, label: str, bodies: Mapping[str, AtenGraph]) -> AtenCall:
    """A node as a call; `bodies` as in `argument`."""
    where = f"{label}: {node.name}"
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    refusal = ""
    try:
        args = tuple(argument(a, where, bodies) for a in node.args)
        kwargs = {k: argument(v, where, bodies) for k, v in node.kwargs.items()}
    except UnsupportedError as e:
        refusal = e.what
    first = node.args[0] if node.args else None
    if "as_strided" in str(node.target) and not _lies_in_order(getattr(first, "meta", {}).get("val")):
        refusal = "the places in memory of a tensor that does not lie in order are not supported"
    if any(map(_is_elsewhere, _leaves(node.meta.get("val")))):
        refusal = "tensors of other devices are not supported"
    return AtenCall(node.name, target_of(node), args, kwargs, place_of(node), _info(node.meta.get("val")), refusal)


def _leaves(value: Any) -> list[Any]:
    return [leaf for v in value for leaf in _leaves(v)] if isinstance(value, (list, tuple)) else [value]  # pyright: ignore[reportUnknownVariableType]


def _is_elsewhere(value: Any) -> bool:
    """Whether a tensor is of another device than the CPU."""
    return getattr(getattr(value, "device", None), "type", "cpu") != "cpu"


def _lies_in_order(value: Any) -> bool:
    """Whether the elements of a tensor stand one behind the other; of one that is not known they may not."""
    return value is not None and bool(value.is_contiguous())


def _info(value: Any) -> Any:
    """The types of the results that stand for a node while torch traces."""
    if isinstance(value, (list, tuple)):
        return [_info(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    name = str(getattr(value, "dtype", "")).removeprefix("torch.")
    if name not in DTYPES or not all(type(e) is int for e in value.shape):
        return None
    return TensorInfo(tuple(value.shape), name)


def input_of(name: str, value: Any, label: str, key: str = "", array: Any = None) -> Input:
    """An input from a tensor, or from what stands for one while torch traces."""
    where = f"{label}: {key or name}"
    if not hasattr(value, "shape"):
        raise UnsupportedError(f"an input is {type(value).__name__}, no tensor", where=where)
    if _is_elsewhere(value):
        raise UnsupportedError(f"tensors of {value.device} are not supported", where=where, hint="move them to the CPU")
    if "sparse" in str(getattr(value, "layout", "")):
        raise UnsupportedError("sparse tensors are not supported", where=where)
    return Input(name, tuple(int(e) for e in value.shape), dtype_name(value.dtype, where), key, array)


def graph_of(
    nodes: Sequence[Any], label: str, known: Mapping[str, Input], names: Callable[[int], str],
    get: Callable[[str], Any],
    partial: bool = False,
) -> AtenGraph:  # fmt: skip
    """A graph from the nodes of a torch.fx.Graph.

    `known` are the inputs that stand for weights, by the names of their placeholders, `names` are those of the outputs;
    `get` gives attributes of the module, which are constants. With `partial` inputs that no program takes are left out:
    what uses them cannot be imported.
    """
    inputs: list[Input] = []
    calls: list[AtenCall] = []
    outputs: list[Output] = []
    bodies: dict[str, AtenGraph] = {}
    for node in nodes:
        where = f"{label}: {node.name}"
        if node.op in ("placeholder", "get_attr"):
            try:
                if node.op == "get_attr" and hasattr(body := get(node.target), "graph"):
                    bodies[node.name] = graph_of(list(body.graph.nodes), label, {}, str, attributes_of(body))
                else:
                    inputs.append(known.get(node.name) or _input(node, label, get))
            except UnsupportedError:
                if not partial:
                    raise
        elif node.op == "call_function":
            calls.append(call_of(node, label, bodies))
        elif node.op == "output":
            given = node.args[0]
            values = given if isinstance(given, (list, tuple)) else (given,)  # pyright: ignore[reportUnknownVariableType]
            outputs = [Output(names(k), argument(v, where)) for k, v in enumerate(values)]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        else:
            raise UnsupportedError(f"nodes of the kind {node.op} are not supported", where=where)
    return AtenGraph(label, inputs, calls, outputs)


def attributes_of(module: Any) -> Callable[[str], Any]:
    """Attributes of a module by their paths."""

    def get(target: str) -> Any:
        found = module
        for part in target.split("."):
            found = getattr(found, part)
        return found

    return get


def _input(node: Any, label: str, get: Callable[[str], Any]) -> Input:
    """The input that a node takes from outside of the graph."""
    if node.op == "placeholder":
        return input_of(node.name, node.meta["val"], label)
    tensor = get(node.target)
    return input_of(node.name, tensor, label, str(node.target), array_of(tensor))


def has_open_extents(program: ExportedProgram) -> bool:
    """Whether an input has an extent that is no number."""
    values = [n.meta.get("val") for n in program.graph_module.graph.nodes if n.op == "placeholder"]
    return any(type(extent) is not int for value in values for extent in getattr(value, "shape", ()))


def saved_program(program: ExportedProgram) -> bytes:
    """The file of a program, as torch, which has made it, writes it."""
    made = BytesIO()
    sys.modules["torch"].export.save(program, made)
    return made.getvalue()


def exported_graph(program: ExportedProgram, label: str = "model") -> AtenGraph:
    """The graph of a torch.export.ExportedProgram. Its weights are constants, those that it changes are state."""
    signature = program.graph_signature
    known: dict[str, Input] = {}
    for spec in signature.input_specs:
        kind = spec.kind.name
        if kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            tensor = program.state_dict.get(spec.target)
            if tensor is None:
                tensor = program.constants[spec.target]
            known[spec.arg.name] = input_of(spec.arg.name, tensor, label, spec.target, array_of(tensor))
        elif kind != "USER_INPUT" or type(spec.arg).__name__ != "TensorArgument":
            if type(spec.arg).__name__ == "ConstantArgument":
                continue
            raise UnsupportedError(f"inputs of the kind {kind} are not supported", where=f"{label}: {spec.arg.name}")
    names: list[str] = []
    users = 0
    kept: set[int] = set()
    for k, spec in enumerate(signature.output_specs):
        if spec.kind.name == "USER_OUTPUT":
            names.append(f"output_{users}")
            users += 1
        else:
            names.append(str(spec.target))
            if spec.kind.name in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
                kept.add(k)
    module = program.graph_module
    graph = graph_of(list(module.graph.nodes), label, known, lambda k: names[k], attributes_of(module))
    return with_kept_outputs(graph, kept)
