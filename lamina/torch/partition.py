"""Graphs of torch cut into parts that are compiled and operators that stay eager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lamina.errors import LaminaError, UnsupportedError
from lamina.frontends.aten.fx_graph import attributes_of, graph_of
from lamina.frontends.aten.graph import AtenGraph
from lamina.frontends.aten.importer import refused_calls
from lamina.torch.kernels import CompileOptions, compiled
from lamina.torch.library import module


@dataclass
class Eager:
    """A node that stays eager, and why."""

    name: str
    target: str
    place: str
    reason: str


@dataclass
class Parts:
    """Counts of programs and nodes, and the nodes that stay eager."""

    programs: int = 0
    nodes: int = 0
    eager: list[Eager] = field(default_factory=list[Eager])


def compile_graph(gm: Any, options: CompileOptions, parts: Parts) -> Callable[..., Any]:
    """A function that does what a graph of ATen calls does; `parts` is told what that took."""
    if _is_open(gm):
        return _ByShape(gm, options, parts)
    graph = data_of(gm)
    if graph is None or not graph.calls:
        return gm.forward
    parts.nodes += len(graph.calls)
    try:
        refused = refused_calls(graph, draws=True)
    except UnsupportedError as e:
        refused = dict.fromkeys((c.name for c in graph.calls), e.what)
    parts.eager += [Eager(c.name, c.target, str(c.place), refused[c.name]) for c in graph.calls if c.name in refused]
    if len(refused) == len(graph.calls):
        return gm.forward
    if refused or sum(i.array is None for i in graph.inputs) < sum(n.op == "placeholder" for n in gm.graph.nodes):
        return _partitioned(gm, set(refused), options, parts)
    try:
        run = compiled(graph, options)
    except UnsupportedError as e:
        parts.eager += [Eager(c.name, c.target, str(c.place), e.what) for c in graph.calls]
        return gm.forward
    parts.programs += 1
    return _rebuilt(gm, run)


def _is_open(gm: Any) -> bool:
    """Whether a graph has sizes that are known only in a call."""
    values = [n.meta.get("val") for n in gm.graph.nodes if n.op == "placeholder"]
    return any(type(e).__name__ == "SymInt" for v in values for e in (v, *getattr(v, "shape", ())))


class _ByShape:
    """A graph with open sizes: a program for each shape that it meets, the last ones kept."""

    MOST = 64

    def __init__(self, gm: Any, options: CompileOptions, parts: Parts) -> None:
        self.gm = gm
        self.options = options
        self.parts = parts
        self.programs: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        places = [k for k, a in enumerate(args) if hasattr(a, "shape")]
        key = tuple(tuple(a.shape) if hasattr(a, "shape") else a for a in args)
        run = self.programs.pop(key, None)
        if run is None:
            run = self._traced(args, places)
            if len(self.programs) >= self.MOST:
                del self.programs[next(iter(self.programs))]
        self.programs[key] = run  # the last one used stands last
        return run(*(args[k] for k in places))

    def _traced(self, args: Sequence[Any], places: Sequence[int]) -> Callable[..., Any]:
        """The program for these sizes: the numbers among the arguments are constants of it."""

        def of_tensors(*tensors: Any) -> Any:
            given = list(args)
            for k, t in zip(places, tensors, strict=True):
                given[k] = t
            return self.gm(*given)

        make_fx = module("torch.fx.experimental.proxy_tensor").make_fx
        with module("torch").no_grad():
            traced = make_fx(of_tensors, tracing_mode="real")(*(args[k].detach() for k in places))
        return compile_graph(traced, self.options, self.parts)


def data_of(gm: Any) -> AtenGraph | None:
    """A graph as data; None where it has what no program takes, as sizes that are not known."""
    # While torch traces, tensors of the module are real ones among fakes.
    modes = module("torch.utils._python_dispatch")._disable_current_modes
    try:
        with modes():
            return graph_of(list(gm.graph.nodes), "torch", {}, lambda k: f"output_{k}", attributes_of(gm), partial=True)
    except LaminaError:
        return None


def _rebuilt(gm: Any, run: Callable[..., list[Any]]) -> Callable[..., Any]:
    """The results of a program as the graph returns them: None and numbers among them, or one alone."""
    (output,) = (n for n in gm.graph.nodes if n.op == "output")
    given = output.args[0]
    if not isinstance(given, (list, tuple)):
        return lambda *args: run(*args)[0]
    kinds = [type(v).__name__ == "Node" for v in given]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if all(kinds):
        return run

    def call(*args: Any) -> list[Any]:
        results = iter(run(*args))
        return [next(results) if is_value else v for v, is_value in zip(given, kinds, strict=True)]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]

    return call


def _partitioned(gm: Any, refused: set[str], options: CompileOptions, parts: Parts) -> Callable[..., Any]:
    """The graph with what can be compiled in modules of its own."""
    support_base = module("torch.fx.passes.operator_support").OperatorSupportBase
    partitioner = module("torch.fx.passes.infra.partitioner").CapabilityBasedPartitioner

    class Support(support_base):
        """Nodes that a program takes."""

        def is_node_supported(self, submodules: Any, node: Any) -> bool:
            """Whether a node is a call that is not refused."""
            return node.op == "call_function" and node.name not in refused

    found = partitioner(gm, Support(), allows_single_node_partition=True)
    whole = found.fuse_partitions(found.propose_partitions())
    for name, part in list(whole.named_children()):
        graph = data_of(part) if name.startswith("fused_") else None
        if graph is None or not graph.calls or refused_calls(graph, draws=True):
            continue
        try:
            run = compiled(graph, options)
        except UnsupportedError as e:
            parts.eager += [Eager(c.name, c.target, str(c.place), e.what) for c in graph.calls]
            continue
        setattr(whole, name, _as_module(_rebuilt(part, _laid_out(part, run))))
        parts.programs += 1
    whole.recompile()
    return whole.forward


def _laid_out(gm: Any, run: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """The results of a program with the strides that torch told: eager nodes as `as_strided` read memory by them."""
    (output,) = (n for n in gm.graph.nodes if n.op == "output")
    given = output.args[0] if isinstance(output.args[0], (list, tuple)) else (output.args[0],)
    values = [v.meta.get("val") for v in given if type(v).__name__ == "Node"]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType,reportUnknownMemberType]
    strides: dict[int, Any] = {
        k: v.stride()
        for k, v in enumerate(values)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        if v is not None and not v.is_contiguous()
    }
    if not strides:
        return run
    empty_strided = module("torch").empty_strided

    def call(*args: Any) -> list[Any]:
        results = list(run(*args))
        for k, stride in strides.items():
            # Elements of which memory has one are all the same: it is written once.
            once = results[k][tuple(slice(0, 1) if s == 0 else slice(None) for s in stride)]
            laid = empty_strided(once.shape, stride, dtype=once.dtype).copy_(once)
            results[k] = laid.expand(results[k].shape)
        return results

    return call


def _as_module(function: Callable[..., Any]) -> Any:
    """A function as a module of torch, which a graph can call."""
    base = module("torch").nn.Module

    class Program(base):
        """A compiled part of a graph."""

        def forward(self, *args: Any) -> Any:
            """Run it."""
            found: Any = function(*args)
            return tuple(found) if isinstance(found, list) else found  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]

    return Program()
