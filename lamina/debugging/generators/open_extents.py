"""Graphs with extents that are names: they are drawn with numbers in their place that nothing else has, and opened.

Where the number stands among the extents of an input, its name takes its place. A weight that has it becomes an input,
and a shape that has it or a multiple of it is computed of the shape of an input, as exporters write that. What then
holds for the number alone is left out. Which numbers stand for names is a decision of the seed, as everything is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from lamina.debugging.engines import names_read
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, counted
from lamina.debugging.outcome import one_line
from lamina.dialects.index.symbol_range import MOST
from lamina.errors import InternalError, LaminaError

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel

STAND_INS = {Sizes.TINY: (5, 7), Sizes.ODD: (37, 41), Sizes.REAL: (11, 13)}
"""Extents that stand for names while a graph is drawn: primes that no other draw gives for an extent."""
NAMES = ("n", "m")
SHAPES = {"Reshape": 1, "Expand": 1, "ConstantOfShape": 0, "Slice": 2, "Resize": 3, "CenterCropPad": 1, "Range": 1}
"""The operand of an operator that has extents for elements."""
PLACES = {"Gather": 1, "GatherElements": 1, "GatherND": 1, "Scatter": 1, "ScatterElements": 1, "ScatterND": 1,
          "TopK": 1, "Compress": 1, "ReverseSequence": 1}  # fmt: skip
"""The operand of an operator that has places along an extent for elements: there are as many as the largest says."""
COUNTING = ("TopK", "ReverseSequence")
"""Those of them of which it is a number of places, from 1 on."""
UNLIKE = {"MeanVarianceNormalization": 4, "QLinearSoftmax": 2}
"""Sizes below which onnxruntime differs from an operator's definition: it has NaN for the deviation of values that are
alike, and its table of exponentials gives zero for one class."""
NOWHERE = 1 << 30
"""The operand of other operators."""
GREATEST = (40, 40, 40, 64, 100)
"""Greatest sizes."""
LARGE = {Sizes.TINY: (512, 1000), Sizes.ODD: (200, 512), Sizes.REAL: (64, 128)}
"""The same from time to time, so that loops and vectors are met as they are in models."""
OFTEN_LARGE = 0.15
"""The probability of a greatest size of these."""
MOST_ELEMENTS = 5_000_000
"""Of all values at the greatest size, as `ONE_BY_ONE` counts them: the oracles compute them in double precision, and
now and then with roundings."""
ONE_BY_ONE = {
    "relay.image.grid_sample": 100,
    "relay.vision.roi_align": 100,
    "relay.vision.roi_pool": 100,
    "relay.scatter_elements": 10,
    "relay.scatter_nd": 10,
    "relay.qnn.quantize": 4,
    "relay.qnn.requantize": 4,
}
"""Ops of which an element counts as so many: their oracles go from one to the next in Python, 40 us for a sample of a
grid, or are asked again and again where their roundings decide a result."""
STEPS = (1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8)
"""Numbers that all sizes of a name are multiples of."""
ANYTHING = 0.1
"""The probability of a program for any size that it takes."""
LEAVE_OUT = 0.9
"""The probability that nodes refused for ranges are left out, rather than the program refused for them."""


@dataclass(frozen=True)
class Run:
    """A size for each name, and inputs of these sizes."""

    sizes: Mapping[str, int]
    inputs: dict[str, Any]


@dataclass
class OpenGraph:
    """A model with names among the extents of its inputs."""

    model: onnx.ModelProto
    inputs: dict[str, Any]
    """Of the extents that stand for names."""
    free: set[str]
    """Inputs whose values may be any."""
    ends: set[str]
    """Values that may be results."""
    ranges: dict[str, range] = field(default_factory=dict[str, range])
    """The sizes that each name may have."""
    anything: bool = False
    """Whether the program is for any size that it takes: some of those in the ranges may be refused when it runs."""

    left_out: list[str] = field(default_factory=list[str])
    """The reasons why nodes were left out that are refused for ranges."""

    def names(self) -> list[str]:
        """The names among the extents of the inputs."""
        dims = [d.dim_param for i in self.model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param]
        return list(dict.fromkeys(dims))

    def operators(self) -> Counter[str]:
        """The number of nodes of each operator."""
        return counted(self.model.graph.node)

    def imported(self, sizes: Mapping[str, int | str]) -> ImportedModel:
        """The graph as the importer takes it, without the virtual machine. Raises LaminaError."""
        from lamina.frontends.onnx import load_onnx

        return load_onnx(self.model, {name: sizes[name] for name in self.names()}, machine=False)

    def shapes(self) -> dict[str, str]:
        """The ranges as `lamina.compile` takes them."""
        if self.anything:
            return {name: f"1..{MOST}" for name in self.ranges}
        return {n: f"{r[0]}..{r[-1]}{f':{r.step}' * (r.step > 1)}" for n, r in self.ranges.items()}

    def at(self, sizes: Mapping[str, int], draw: Draw) -> dict[str, Any]:
        """Inputs of these sizes: of each extent elements of those that were drawn."""
        found: dict[str, Any] = {}
        smallest = min(sizes.values())
        # They may be places along an extent that has become smaller.
        places = {node.input[n]: node.op_type for node in self.model.graph.node for n in _places(node)}
        for info in self.model.graph.input:
            if info.name not in self.inputs:
                continue  # a weight, in the first versions
            array = self.inputs[info.name]
            for axis, dim in enumerate(info.type.tensor_type.shape.dim):
                if dim.dim_param:
                    chosen = draw.numpy.integers(0, array.shape[axis], sizes[dim.dim_param])
                    array = np.take(array, chosen, axis)
            if info.name in places and array.dtype.kind in "iu":
                least = 1 if places[info.name] in COUNTING else -smallest if array.dtype.kind == "i" else 0
                array = array.clip(least, max(smallest - 1, least)).astype(array.dtype)
            found[info.name] = array
        return found

    def elements(self, sizes: Mapping[str, int]) -> int:
        """The elements of all values of the graph at these sizes, each as the work that it is for an oracle."""
        results = [r for op in self.imported(sizes).module.walk() for r in op.results]
        types: list[tuple[str, Any]] = [(r.owner.name, r.type) for r in results]
        return sum(ONE_BY_ONE.get(name, 1) * prod(t.get_shape()) for name, t in types if hasattr(t, "get_shape"))

    def _input_elements(self, sizes: Mapping[str, int]) -> int:
        """Of the inputs of these sizes."""
        shapes = [i.type.tensor_type.shape.dim for i in self.model.graph.input]
        return sum(prod(sizes[d.dim_param] if d.dim_param else d.dim_value for d in dims) for dims in shapes)

    def runs(self, draw: Draw) -> list[Run]:
        """Runs at five sizes that differ: of each name the least, the greatest, a prime, a power of two, any.

        Raises CannotDraw where ops need so large extents that all have too many elements.
        """
        columns = [draw.shuffled(_of_every_kind(sizes, draw)) for sizes in self.ranges.values()]
        rows = [*zip(*columns, strict=True)]
        rows += [tuple(map(draw.choice, self.ranges.values())) for _ in rows]
        found = [dict(zip(self.ranges, row, strict=True)) for row in dict.fromkeys(rows)]
        # Several extents of one input may all be large.
        every = [sizes for sizes in found if self._input_elements(sizes) <= MOST_ELEMENTS][: len(columns[0])]
        if not every:
            raise CannotDraw("the inputs are large at all sizes")
        return [Run(sizes, self.at(sizes, draw)) for sizes in every]


def _of_every_kind(sizes: range, draw: Draw) -> list[int]:
    """The least, the greatest, a prime, a power of two, any."""
    primes = [n for n in sizes if n > 1 and all(n % k for k in range(2, int(n**0.5) + 1))] or sizes
    powers = [n for n in sizes if n & (n - 1) == 0] or sizes
    return [sizes[0], sizes[-1], draw.choice(primes), draw.choice(powers), draw.choice(sizes)]


def opened(graph: OnnxGraph, model: onnx.ModelProto, draw: Draw) -> OpenGraph:
    """The model of a graph with names for what stands for them. Raises CannotDraw where no input has one."""
    names = {extent: name for name, extent in draw.named.items()}
    ends = {t.name for t in graph.tensors if graph.may_end(t)}
    found = OpenGraph(model, dict(graph.inputs), graph.free, ends)
    for n, node in enumerate(model.graph.node):
        node.name = node.name or f"u{n}"
    _compute_shapes(found, names)
    _weights_to_inputs(found, names)
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if info.name in found.inputs and dim.dim_value in names:
                dim.dim_param = names[dim.dim_value]
    most = draw.choice(LARGE[draw.sizes] if draw.chance(OFTEN_LARGE) else GREATEST)
    _leave_out(found, {name: extent + 2 for name, extent in draw.named.items()}, most)
    _give_ranges(found, most, draw)
    found.anything = draw.chance(ANYTHING)
    if draw.chance(LEAVE_OUT):
        _leave_out_refused(found)
    return found


def _compute_shapes(graph: OpenGraph, names: Mapping[int, str]) -> None:
    """Let nodes compute the shapes that have extents with names, each of the first input that has the name."""
    proto = graph.model.graph
    arrays = {t.name: t for t in proto.initializer}
    nodes: list[onnx.NodeProto] = []
    places = {d.dim_value: (i.name, n) for i in reversed(proto.input) if i.name in graph.inputs
              for n, d in enumerate(i.type.tensor_type.shape.dim) if d.dim_value in names}  # fmt: skip
    for node in proto.node:
        place = SHAPES.get(node.op_type, NOWHERE) if not node.domain else NOWHERE
        tensor = arrays.get(node.input[place]) if place < len(node.input) else None
        array = numpy_helper.to_array(tensor) if tensor is not None else None
        if array is not None and array.dtype == np.int64 and array.ndim < 2 and array.size:
            made = list(_shape_nodes(array, places, f"{node.name}.shape"))
            if made:
                nodes += made
                node.input[place] = made[-1].output[0]
        nodes.append(node)
    del proto.node[:]
    proto.node.extend(nodes)


def _shape_nodes(array: Any, places: Mapping[int, tuple[str, int]], name: str) -> Iterator[onnx.NodeProto]:
    """Nodes that compute an array of extents, the last one all of it; none where it has none with a name."""
    known = [next((p for p in places if e > 0 and e % p == 0), 0) for e in array.reshape(-1)]
    if not any(known):
        return

    def constant(values: Sequence[int], suffix: str) -> onnx.NodeProto:
        value = numpy_helper.from_array(np.asarray(values, np.int64))
        return helper.make_node("Constant", [], [f"{name}.{suffix}"], name=f"{name}.{suffix}", value=value)

    parts: list[str] = []
    for n, (extent, stand_in) in enumerate(zip(array.reshape(-1).tolist(), known, strict=True)):
        if not stand_in:
            yield (node := constant([extent], f"c{n}"))
            parts.append(node.output[0])
            continue
        source, axis = places[stand_in]
        yield helper.make_node("Shape", [source], [f"{name}.s{n}"], name=f"{name}.s{n}")
        yield constant([axis], f"a{n}")
        yield helper.make_node("Gather", [f"{name}.s{n}", f"{name}.a{n}"], [f"{name}.e{n}"], name=f"{name}.e{n}")
        parts.append(f"{name}.e{n}")
        if extent != stand_in:
            yield constant([extent // stand_in], f"k{n}")
            yield helper.make_node("Mul", [parts[-1], f"{name}.k{n}"], [f"{name}.m{n}"], name=f"{name}.m{n}")
            parts[-1] = f"{name}.m{n}"
    if array.ndim:
        yield helper.make_node("Concat", parts, [name], name=name, axis=0)
    else:
        yield constant([0], "z")
        yield helper.make_node("ReduceSum", parts, [name], name=name, keepdims=0)


def _weights_to_inputs(graph: OpenGraph, names: Mapping[int, str]) -> None:
    """Make inputs of the weights that have an extent with a name."""
    proto = graph.model.graph
    declared = {i.name for i in proto.input}
    read = {n for node in proto.node for n in names_read(node)}
    kept: list[onnx.TensorProto] = []
    for tensor in proto.initializer:
        if tensor.name in read and not names.keys().isdisjoint(tensor.dims):
            graph.inputs[tensor.name] = numpy_helper.to_array(tensor)
            if tensor.name not in declared:
                proto.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        elif tensor.name in read:
            kept.append(tensor)
    del proto.initializer[:]
    proto.initializer.extend(kept)


# -- what holds for any size ---------------------------------------------------------------------------------------


def _leave_out(graph: OpenGraph, middle: Mapping[str, int], most: int) -> None:
    """Leave out the nodes that the importer takes for the extents that stand for names alone.

    Raises CannotDraw where no name is left.
    """
    _without(graph, None)
    for sizes in (middle, dict.fromkeys(middle, most)):
        while (found := _misfit(graph, sizes)) is not None:
            _without(graph, found[0])


def _leave_out_refused(graph: OpenGraph) -> None:
    """Leave out the nodes that the importer refuses for ranges, so that the others are run, and note why.

    Raises CannotDraw where no name is left.
    """
    while True:
        try:
            found = _misfit(graph, graph.shapes())
        except CannotDraw:
            raise
        except Exception:
            return  # a fault, which the case is to show
        if found is None:
            return
        more = re.search(r"needs (\w+) >= (\d+), the values are", found[1])
        known = graph.ranges[more[1]] if more else range(1)
        if more and len(_multiples(int(more[2]), known[-1], known.step)) > 1:
            # As the message asks for.
            graph.ranges[more[1]] = _multiples(int(more[2]), known[-1], known.step)
            continue
        graph.left_out.append(found[1])
        _without(graph, found[0])
        names = graph.names()
        graph.ranges = {name: r for name, r in graph.ranges.items() if name in names}


def _give_ranges(graph: OpenGraph, most: int, draw: Draw) -> None:
    """Give each name its range, which begins where small sizes fit, or behind that."""
    names = graph.names()
    unlike = [UNLIKE.get(node.op_type, 1) for node in graph.model.graph.node]
    least = max(_most_places(graph), draw.choice((1, 1, 1, 1, 2, 2, 3, 4)), *unlike)
    while least < most and _misfit(graph, dict.fromkeys(names, least)) is not None:
        least += 1
    while most > least + 1 and graph.elements(dict.fromkeys(names, most)) > MOST_ELEMENTS:
        most = max(most // 2, least + 1)
    most = max(most, least + 1)
    smallest = dict.fromkeys(names, least)
    if most == least + 1 and _misfit(graph, smallest) is None and graph.elements(smallest) > MOST_ELEMENTS:
        raise CannotDraw("the values are large at all sizes")
    steps = [n for n in STEPS if -(-least // n) * n + n <= most]
    graph.ranges = {name: _multiples(least, most, draw.choice(steps)) for name in names}


def _multiples(least: int, most: int, step: int) -> range:
    """The multiples of a number from one number to another, both ends included."""
    return range(-(-least // step) * step, most + 1, step)


def _misfit(graph: OpenGraph, sizes: Mapping[str, int | str]) -> tuple[str, str] | None:
    """The name of the node that does not fit for these sizes, and why; None where all do."""
    try:
        graph.imported(sizes)
    except InternalError:
        raise
    except LaminaError as e:
        found = re.search(r'node "([^"]*)"', str(e))
        if found is None:
            raise CannotDraw(str(e)) from None
        return found[1], one_line(str(e))
    return None


def _places(node: onnx.NodeProto) -> Iterator[int]:
    """The operand of a node that has places, or a number of them, for elements."""
    place = PLACES.get(node.op_type, NOWHERE)
    if not node.domain and place < len(node.input):
        yield place


def _most_places(graph: OpenGraph) -> int:
    """So many places the constants of the graph speak of, at most."""
    arrays = {t.name: t for t in graph.model.graph.initializer}
    names = [node.input[n] for node in graph.model.graph.node for n in _places(node)]
    found = [numpy_helper.to_array(arrays[n]) for n in names if n in arrays]
    return max((max(int(a.max()) + 1, -int(a.min())) for a in found if a.size and a.dtype.kind in "iu"), default=0)


def _is(node: onnx.NodeProto, name: str) -> bool:
    """Whether a name is that of a node, or of one in its body."""
    return name in (node.name, *node.output) or "/" in name and name.startswith(f"{node.name}.")


def _without(graph: OpenGraph, name: str | None) -> None:
    """Leave out a node and what follows from it; what these have read is a result then. Then what nothing reads."""
    proto = graph.model.graph
    lost: set[str] = set()
    kept: list[onnx.NodeProto] = []
    ends = [o.name for o in proto.output]
    for node in proto.node:
        if name is not None and _is(node, name) or not lost.isdisjoint(names_read(node)):
            lost.update(node.output)
            ends += names_read(node)
        else:
            kept.append(node)
    if name is not None and len(kept) == len(proto.node):
        raise CannotDraw(f"no node is called {name}")
    made = {n for node in kept for n in node.output if n}
    ends = [n for n in dict.fromkeys(ends) if n in made and n in graph.ends]
    wanted = set(ends)
    for n in range(len(kept) - 1, -1, -1):
        if wanted.isdisjoint(kept[n].output):
            del kept[n]
        else:
            wanted.update(names_read(kept[n]))
    del proto.node[:], proto.output[:]
    proto.node.extend(kept)
    proto.output.extend(onnx.ValueInfoProto(name=n) for n in ends)
    for stored in (proto.initializer, proto.input):
        left = [s for s in stored if s.name in wanted]
        del stored[:]
        stored.extend(left)  # type: ignore[arg-type]
    graph.inputs = {n: a for n, a in graph.inputs.items() if n in wanted}
    if not graph.names():
        raise CannotDraw("no extent with a name is left")
