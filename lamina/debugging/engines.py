"""Programs that compute an ONNX model and are none of ours: onnxruntime, and ONNX's reference evaluator.

Each answers for the outputs that follow from nothing it is known to compute otherwise: `without_nodes` leaves out the
rest of the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import UnsupportedError
from lamina.frontends.onnx.contributed import MICROSOFT

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

    from lamina.debugging.ways import Program


def names_read(node: NodeProto) -> list[str]:
    """The tensors that a node reads, also within its graphs."""
    found = [name for name in node.input if name]
    for graph in graphs_of(node):
        made = {n for inner in graph.node for n in inner.output} | {t.name for t in (*graph.input,)}
        made |= {t.name for t in graph.initializer}
        found += [n for inner in graph.node for n in names_read(inner) if n not in made]
        found += [o.name for o in graph.output if o.name and o.name not in made]
    return found


def graphs_of(node: NodeProto) -> list[GraphProto]:
    """The graphs in the attributes of a node."""
    return [graph for a in node.attribute for graph in ([a.g] if a.HasField("g") else [*a.graphs])]


def without_nodes(source: bytes, unwanted: Callable[[NodeProto], bool], where: str) -> ModelProto:
    """The model in a file without some nodes and what follows from them.

    Raises UnsupportedError, naming the first of these nodes, where no output is left.
    """
    import onnx

    def has(node: NodeProto) -> bool:
        return unwanted(node) or any(has(inner) for graph in graphs_of(node) for inner in graph.node)

    model = onnx.ModelProto.FromString(source)
    lost: dict[str, str] = {}
    kept: list[NodeProto] = []
    for node in model.graph.node:
        why = node.op_type if has(node) else next((lost[n] for n in names_read(node) if n in lost), "")
        if why:
            lost |= dict.fromkeys(node.output, why)
        else:
            kept.append(node)
    outputs = [o for o in model.graph.output if o.name not in lost]
    if not outputs:
        raise UnsupportedError(f"{next(iter(lost.values()))} is not computed exactly", where=where)
    del model.graph.node[:], model.graph.output[:]
    model.graph.node.extend(kept)
    model.graph.output.extend(outputs)
    return model


SATURATING = frozenset(
    "MatMulInteger QLinearMatMul ConvInteger QLinearConv MatMulIntegerToFloat DynamicQuantizeMatMul QGemm".split()
    + "QAttention DynamicQuantizeLSTM".split()
)
"""Operators in which onnxruntime adds two products of bytes in 16 bits, where the processor has no VNNI."""


MEAN_OF_SQUARES = frozenset(
    "MeanVarianceNormalization GroupNormalization InstanceNormalization LayerNormalization".split()
    + "SkipLayerNormalization EmbedLayerNormalization QEmbedLayerNormalization".split()
)
"""Operators whose variance both programs compute as the mean of squares less the square of the mean, which cancel where
the values of a group are close together."""


STEPS = frozenset(
    "QuantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QLinearAdd QLinearMul QLinearSigmoid QLinearSoftmax"
    " QLinearLeakyRelu QLinearAveragePool QLinearGlobalAveragePool QLinearReduceMean QLinearConcat QLinearWhere QGemm"
    " QAttention DynamicQuantizeMatMul DynamicQuantizeLSTM".split()
)
"""Operators that round to steps of integers."""


CHOICES = frozenset("ArgMax ArgMin Hardmax TopK".split())
"""Operators that choose one of many values that may be alike: programs' functions are not at their ends in the same
places, and not all grow all the way."""


def follows_from(source: bytes, names: Collection[str]) -> set[str]:
    """The outputs of the model in a file that follow from nodes of some operators."""
    import onnx

    outputs = {o.name for o in onnx.ModelProto.FromString(source).graph.output}
    try:
        left = without_nodes(source, lambda node: node.op_type in names, "")
    except UnsupportedError:
        return outputs
    return outputs - {o.name for o in left.graph.output}


@cache
def sums_saturate() -> bool:
    """Whether sums of products of bytes saturate in onnxruntime on this processor."""
    from lamina.backends.cpu import machines

    here = machines.processor()
    return here.triple.startswith("x86_64") and not {"+avx512vnni", "+avxvnni"} & set(here.features.split(","))


def onnxruntime_differs(node: NodeProto) -> bool:
    """Whether onnxruntime computes a node otherwise than the standard says. Found by comparing it with ONNX's texts."""
    from onnx import TensorProto, helper, numpy_helper

    said = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    match node.op_type:
        case "LSTM":  # does not clip the cell on its way to the output
            return "clip" in said
        case "DynamicQuantizeLSTM":  # rounds the input and the states to bytes before each product
            return True
        case "LabelEncoder":  # of equal keys it takes the first, the standard the last
            keys = [v for name, v in said.items() if name.startswith("keys_")]
            lists = [numpy_helper.to_array(k).tolist() if isinstance(k, TensorProto) else k for k in keys]
            return any(len({*k}) < len(k) for k in lists)
        case "TreeEnsemble":  # takes the numbers of the softmax and of the logistic function for one another
            return said.get("post_transform", 0) in (1, 2)
        case "TreeEnsembleRegressor":
            # Gives no base value to a target that no tree votes for, and does not transform a single target.
            if said.get("n_targets", 1) > 1:
                return any(name.startswith("base_values") for name in said)
            return said.get("post_transform") in (b"SOFTMAX", b"LOGISTIC")
        case _:
            return False


_LACKS = (
    re.compile(r"Could not find an implementation for (?P<op>\w+)\(\d+\) node with name '(?P<name>.*?)'"),
    re.compile(r"(?P<domain>[\w.]+):(?P<op>\w+)\(-?\d+\) is not a registered function/op"),
)
"""Words by which onnxruntime names the first operator that it lacks: of these types, or at all."""


def by_onnxruntime(program: Program) -> dict[str, Any]:
    """The results of onnxruntime, not optimised, as far as it has them and they are exact.

    Raises UnsupportedError where it does not take the model, or has no such result.
    """
    try:
        import onnxruntime  # type: ignore[import-untyped]
    except ImportError as e:
        raise UnsupportedError("onnxruntime is not installed", where="onnxruntime") from e
    ort: Any = onnxruntime
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    inexact = SATURATING if sums_saturate() else frozenset[str]()
    missing: list[dict[str, str]] = []

    def is_left_out(node: NodeProto) -> bool:
        facts = {"op": node.op_type, "name": node.name, "domain": node.domain or "ai.onnx"}
        if node.op_type in inexact or onnxruntime_differs(node):
            return True
        return any(facts.items() >= lacking.items() for lacking in missing)

    while True:
        model = without_nodes(program.source, is_left_out, "onnxruntime").SerializeToString()
        try:
            session: Any = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            names: list[str] = [o.name for o in session.get_outputs()]
            results = dict(zip(names, session.run(None, dict(program.inputs)), strict=True))
            return _without_overflows(results, program.source)
        except Exception as e:  # its errors have no common base but this
            lacking = next((found.groupdict() for says in _LACKS if (found := says.search(str(e)))), None)
            if lacking is None or lacking in missing:
                raise UnsupportedError(" ".join(str(e).split())[:200], where="onnxruntime") from e
            missing.append(lacking)


def _without_overflows(results: dict[str, Any], source: bytes) -> dict[str, Any]:
    """The results but for those of powers of integers that hold the least number of their type.

    onnxruntime computes them in double precision, and to convert what is too large gives that number on x86.
    """
    arrays: dict[str, Any] = {n: v for n, v in results.items() if isinstance(v, np.ndarray)}
    least = [n for n, v in arrays.items() if v.dtype.kind == "i" and v.size and v.min() == np.iinfo(v.dtype).min]
    doubtful = follows_from(source, {"Pow"}) if least else set[str]()
    return {n: v for n, v in results.items() if n not in least or n not in doubtful}


REFERENCE_DIFFERS = {
    "GlobalMaxPool": (1, 99),  # in two axes whatever the image has
    "LRN": (1, 99),  # sums over one channel less where the size is larger than the number of channels allows
    "AveragePool": (1, 6),  # with zeros of the padding
    "BatchNormalization": (1, 13),  # in training mode
    "Loop": (1, 99),  # joins along the first axis what it has scanned
    # As if the axis were that of later versions: these join the axes from it on.
    "PRelu": (1, 6),  # with one slope a channel
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 99)),  # without lengths, limits and coupled gates
    "RoiAlign": (1, 15),  # half a pixel off, as later versions are by default
    **dict.fromkeys(("QLinearConv", "QLinearMatMul"), (1, 99)),  # add the zero point before they round: ties
    "OptionalGetElement": (1, 99),  # with an axis more
    "TreeEnsemble": (1, 99),  # the least and the greatest of no votes
    "TreeEnsembleRegressor": (1, 99),  # sums in the type of the rows, which may be integers
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), (1, 12)),
    # These line up the last axes, whatever `axis` says.
    **dict.fromkeys("Add And Div Equal Greater Less Mul Or Pow Sub Xor".split(), (1, 6)),
}
"""Operators that ONNX's reference evaluator computes otherwise than the standard says, in these operator sets. Found
by comparing it with onnxruntime, with which the ops' oracles agree."""


def reference_differs(node: NodeProto, opset: int) -> bool:
    """Whether ONNX's reference evaluator computes a node otherwise than the standard says."""
    first, last = REFERENCE_DIFFERS.get(node.op_type, (1, 0))
    if first <= opset <= last or node.domain == MICROSOFT:
        return True
    numbers = {a.name: a.i for a in node.attribute}
    lists = {a.name: [*a.ints] for a in node.attribute}
    chosen = {a.s for a in node.attribute}
    if numbers.get("ceil_mode"):  # the last windows push all others to the left
        return True
    if max(lists.get("strides", [1])) > 1 and any(way.startswith(b"SAME") for way in chosen):
        return True  # of a window that is wider than what SAME with strides leaves it has fewer results, or none
    match node.op_type:
        case "MaxPool":  # its places are not those in the whole tensor; it takes pads axis by axis
            return len(node.output) > 1 or len({*lists.get("pads", ())}) > 1
        case "GridSample":  # clamps places before it looks for neighbours
            return {b"cubic", b"border"} <= chosen
        case "Resize":  # to one element
            return b"pytorch_half_pixel" in chosen and b"linear" not in chosen
        case "Unique":
            return "axis" in numbers and not numbers.get("sorted", 1)
        case "ConvTranspose":
            return numbers.get("group", 1) > 1
        case _:
            return False


def by_onnx_reference(program: Program) -> dict[str, Any]:
    """The results of ONNX's reference evaluator, as far as they are the standard's.

    Raises UnsupportedError where it does not take the model, or has no such result.
    """
    import onnx
    from onnx.reference import ReferenceEvaluator

    opset = next(o.version for o in onnx.ModelProto.FromString(program.source).opset_import if o.domain == "")
    model = without_nodes(program.source, lambda node: reference_differs(node, opset), "onnx.reference")
    names = [o.name for o in model.graph.output]
    try:
        with np.errstate(all="ignore"):
            found: list[Any] = ReferenceEvaluator(model).run(None, dict(program.inputs))  # type: ignore[assignment]
    except Exception as e:  # whatever numpy raises there
        raise UnsupportedError(" ".join(str(e).split())[:200], where="onnx.reference") from e
    dtypes = {p.name: p.dtype for p in program.model.outputs}
    # Some of its functions compute in double precision whatever they are given.
    return {n: np.asarray(v).astype(dtypes[n]) if n in dtypes and v is not None else v
            for n, v in zip(names, found, strict=True)}  # fmt: skip
