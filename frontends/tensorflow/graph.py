"""A GraphDef as a network: what the outputs need, in order, the functions that nodes call as networks of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean, shown
from lamina.frontends.imported import Port
from lamina.frontends.network import Network, NetworkNode
from lamina.frontends.protobuf import Message
from lamina.frontends.tensorflow.nodes import FUNCTION_OUTPUTS, FunctionName, NodeDef, place_of, source_of
from lamina.frontends.tensorflow.tensors import DTYPES, type_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

NODE, LIBRARY = 1, 2
"""GraphDef."""
SIGNATURE, NODE_DEF, RET = 1, 3, 4
"""FunctionDef: its OpDef, its nodes, which value each output is."""
INPUT_ARG, OUTPUT_ARG = 2, 3
"""OpDef; of an ArgDef the name is 1, the type 3."""
MOST_NODES = 1 << 17
"""Values of nodes, those of functions counted for each call."""
DEEPEST = 50
"""Calls in calls."""
PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
EFFECTS = (
    "NoOp", "Assert", "Print", "PrintV2", "Const", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault",
    "SaveV2", "RestoreV2", "MergeV2Checkpoints", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp",
    "ShardedFilename", "VarIsInitializedOp", *VARIABLES, "Assign",
)  # fmt: skip
"""Operators that are no output of a graph, though nobody takes what they give."""
CONTROL_FLOW = ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "RefSwitch", "RefMerge", "RefEnter",
                "RefExit", "RefNextIteration")  # fmt: skip
"""Control flow of TensorFlow 1, whose graphs are cyclic."""
_REFUSED = {
    **dict.fromkeys(CONTROL_FLOW, "control flow of TensorFlow 1: freeze the model with control flow v2, or without it"),
    **dict.fromkeys(PLACEHOLDERS, "an input that the signature does not name"),
    **dict.fromkeys(VARIABLES, "the variable has no value in the file: freeze the graph, or give the SavedModel"),
}


class GraphDef:
    """A graph as a file has it: its nodes by name, its functions, the values of its variables by their nodes' names."""

    def __init__(self, graph: Message, label: str) -> None:
        self.label = label
        self.nodes = _named((NodeDef.of(n, k) for k, n in enumerate(graph.messages(NODE))), label)
        self.functions: dict[str, Message] = {}
        for function in graph.message(LIBRARY).messages(1):
            self.functions.setdefault(function.message(SIGNATURE).text(1), function)
        self.variables: Mapping[str, NDArray[Any]] = {}
        self._networks: dict[str, tuple[Network, int]] = {}
        """The networks of functions, and their nodes with those of what they call."""
        self._calls: list[str] = []

    # -- the whole graph -------------------------------------------------------------------------------

    def outputs(self) -> list[str]:
        """The values that nobody takes, in the order of their nodes."""
        taken = {source_of(i) for node in self.nodes.values() for i in node.inputs}
        found: list[str] = []
        for name, node in self.nodes.items():
            if name not in taken and node.op not in EFFECTS:
                found += [name] + [f"{name}:{k}" for k in range(1, _results(node))]
        return found

    def network(
        self, results: Mapping[str, str], inputs: Mapping[str, str] | None = None,
        shapes: Mapping[str, Any] | None = None,
    ) -> Network:  # fmt: skip
        """The network of values by the names that the user knows. `inputs` are placeholders by such names, by default
        those that the results need by their own. `shapes` gives those whose rank is open, and asks for placeholders
        that have a default; None where it does not matter. Raises InputError, UnsupportedError.
        """
        names = {source_of(reference): name for name, reference in (inputs or {}).items()}
        asked = [n for n, node in self.nodes.items() if node.op == "PlaceholderWithDefault" and n in (shapes or {})]
        ends = {n for n, node in self.nodes.items() if node.op in PLACEHOLDERS} | {*names, *asked}
        order = self._ordered(self.nodes, list(results.values()), ends | set(self.variables), self.label)
        if inputs is None:
            names = {n: n for n in self.nodes if n in ends and n in order}
        ports = [self._port(names[n], self.nodes, n, shapes) for n in names]
        return self._made(self.nodes, order, names, ports, results, self.label)[0]

    def _port(self, name: str, nodes: Mapping[str, NodeDef], source: str, shapes: Mapping[str, Any] | None) -> Port:
        node = nodes.get(source)
        if node is None:
            raise InputError(f"the input {shown(name)} is no node", where=self.label, hint="is the file whole?")
        dtype = str(node.attributes.get("dtype", ""))
        if dtype not in DTYPES.values():
            what = f"the input {shown(name)} has the type {dtype or '?'}, which is not supported"
            raise UnsupportedError(what, where=self.label, hint="cut the graph behind it, and freeze it")
        shape = node.attributes.get("shape")
        if shape is None:
            given: Any = (shapes or {}).get(name, ())
            if shapes is not None and (name not in shapes or isinstance(given, int)):
                hint = f"give it: --shape {name}=..."
                raise UnsupportedError(f"the rank of the input {shown(name)} is open", where=self.label, hint=hint)
            shape = (-1,) * len(given)
        return Port(name, tuple(shape), dtype)

    # -- functions -----------------------------------------------------------------------------------

    def function(self, name: str) -> tuple[Network, int]:
        """The network of a function, and how many nodes it has with those that it calls. Raises InputError."""
        found = self._networks.get(name)
        if found is None:
            if name in self._calls or len(self._calls) >= DEEPEST:
                how = "calls itself" if name in self._calls else "is called too deep"
                raise InputError(f"the function {shown(name)} {how}", where=self.label, hint="correct the model")
            if name not in self.functions:
                raise InputError(f"there is no function {shown(name)}", where=self.label, hint="is the file whole?")
            self._calls.append(name)
            found = self._networks[name] = self._function(name, self.functions[name])
            self._calls.pop()
        return found

    def _function(self, name: str, function: Message) -> tuple[Network, int]:
        where = f"{self.label}: {shown(name)}"
        signature = function.message(SIGNATURE)
        arguments = {arg.text(1): arg.number(3) for arg in signature.messages(INPUT_ARG)}
        nodes = _named((NodeDef.of(n, k, True) for k, n in enumerate(function.messages(NODE_DEF))), where)
        returned = {entry.text(1): entry.text(2) for entry in function.messages(RET)}
        results = {arg.text(1): returned.get(arg.text(1), "") for arg in signature.messages(OUTPUT_ARG)}
        if bad := next((n for n, value in results.items() if not value), None):
            raise InputError(f"the result {shown(bad)} is not given", where=where)
        order = self._ordered(nodes, list(results.values()), set(arguments), where)
        ports = [Port(n, (), type_name(t)) for n, t in arguments.items()]
        return self._made(nodes, order, {n: n for n in arguments}, ports, results, where)

    # -- nodes ---------------------------------------------------------------------------------------

    def _ordered(
        self, nodes: Mapping[str, NodeDef], results: Sequence[str], ends: set[str], where: str
    ) -> dict[str, bool]:
        """The names of the nodes that results need, each behind those that it takes; `ends` take nothing."""
        order: dict[str, bool] = {}
        """True of what is placed, False of what is being followed."""
        for result in results:
            stack: list[tuple[str, Iterator[str]]] = []
            follow = source_of(result) if source_of(result) not in order else None
            while follow is not None or stack:
                if follow is not None:
                    node = nodes.get(follow)
                    if node is None and follow not in ends:
                        known = did_you_mean(follow, list(nodes)[:500])
                        raise InputError(f"there is no node {shown(follow)}", where=where, hint=known)
                    takes = () if follow in ends or node is None or node.op in CONTROL_FLOW else node.inputs
                    order[follow] = False
                    stack.append((follow, iter(takes)))
                    follow = None
                name, rest = stack[-1]
                for reference in rest:
                    source = source_of(reference)
                    if source not in order:
                        follow = source
                        break
                    if not order[source]:
                        raise InputError(f"the node {shown(source)} takes what it gives", where=where)
                else:
                    # Placed now: behind all that it takes.
                    del order[name]
                    order[name] = True
                    stack.pop()
        return order

    def _made(
        self, nodes: Mapping[str, NodeDef], order: Mapping[str, bool], names: Mapping[str, str], ports: Sequence[Port],
        results: Mapping[str, str], where: str,
    ) -> tuple[Network, int]:  # fmt: skip
        """The network of nodes in their order; `names` are those of the inputs, by the names of the nodes."""
        taken = set(names.values())

        def value(reference: str) -> str:
            """The name of a value."""
            source = source_of(reference)
            node = nodes.get(source)
            place = place_of(reference, node.op if node is not None else "")
            if not 0 <= place <= (0 if source in names else MOST_NODES):
                raise InputError(f"{shown(reference)} is no value", where=where, hint="is the file whole?")
            if source in names:
                return names[source]
            return f"{source}:{place}" if place or source in taken else source

        most: dict[str, int] = {}
        for reference in [*results.values(), *(i for n in order if n in nodes for i in nodes[n].inputs)]:
            source = source_of(reference)
            if source in nodes:
                most[source] = max(most.get(source, 0), place_of(reference, nodes[source].op))
        made: list[NetworkNode] = []
        weights: dict[str, NDArray[Any]] = {}
        size = 0
        for name in order:
            if name in names:
                continue
            node = nodes[name]
            if node.op in VARIABLES and name in self.variables and not node.inside:
                weights[value(name)] = self.variables[name]
                continue
            attributes = dict(node.attributes)
            for key, given in attributes.items():
                if isinstance(given, FunctionName):
                    attributes[key], calls = self.function(given.name)
                    size += calls
            outputs = tuple(value(f"{name}:{k}" if k else name) for k in range(most.get(name, 0) + 1))
            refusal = _REFUSED.get(node.op, "")
            inputs = () if refusal else tuple(map(value, node.inputs))
            made.append(NetworkNode(node.op, name, inputs, outputs, attributes, node.index, refusal))
            size += len(outputs)
            if size > MOST_NODES:
                raise InputError(f"has more than {MOST_NODES} nodes", where=where, hint="split the model")
        values = {name: value(reference) for name, reference in results.items()}
        return Network.named(self.label, ports, made, values, weights), size


def _results(node: NodeDef) -> int:
    """The number of values that a node gives, where that is known: else one."""
    if node.op in FUNCTION_OUTPUTS and not node.op.startswith("FusedBatchNorm"):
        return len(FUNCTION_OUTPUTS[node.op])
    count = {"Split": "num_split", "SplitV": "num_split", "Unpack": "num"}.get(node.op)
    given = node.attributes.get(count, 1) if count else len(node.attributes.get("Tout") or "1")
    return given if isinstance(given, int) and 0 < given < MOST_NODES else 1


def _named(nodes: Iterator[NodeDef], where: str) -> dict[str, NodeDef]:
    found: dict[str, NodeDef] = {}
    for node in nodes:
        if found.setdefault(node.name, node) is not node:
            raise InputError(f"two nodes have the name {shown(node.name)}", where=where)
        if ":" in node.name:
            raise InputError(f"{shown(node.name)} is no name of a node", where=where)
    return found


def chosen(graph: GraphDef, outputs: Sequence[str] | None) -> dict[str, str]:
    """The outputs that are asked for, or those of a graph. Raises UsageError for those that are not there."""
    found = list(outputs) if outputs else graph.outputs()
    if not found:
        raise InputError("the graph has no outputs", where=graph.label, hint="name them: outputs")
    for name in found:
        if source_of(name) not in graph.nodes:
            hint = did_you_mean(source_of(name), list(graph.nodes)[:500])
            raise UsageError(f"there is no node {shown(name)}", where=graph.label, hint=hint)
    return {name.removesuffix(":0"): name for name in found}
