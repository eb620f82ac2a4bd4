"""Every Relay op against its own facets, on its samples: a new op file is tested without a line here."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache, lru_cache
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.math import Math
from xdsl.dialects.test import Test, TestOp
from xdsl.ir import Dialect
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import is_float, numpy_dtype, tensor_type
from lamina.dialects.index.index_map import IndexMap
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import OpPattern, RelayOp, attrs_of
from lamina.dialects.relay.meaning import draw, np_results, result_infos, te_func
from lamina.dialects.relay.op_index import OPS
from lamina.dialects.rules.op_protocol import Sample
from lamina.dialects.te import TE
from lamina.dialects.te.ops import ComputeOp, FuncOp, ReadOp
from lamina.dialects.tir import TIR
from lamina.interpreters.te_interpreter import run_te_func
from lamina.ir.declared_checks import verify_op
from lamina.ir.parsing import SourceParser
from lamina.ir.verification import verify_module
from tools import op_index

pytestmark = pytest.mark.slow

Arrays = list[np.ndarray[Any, Any]]

FACETS = (
    *("infer_type", "np_ref", "te_compute", "te_element", "decompose", "samples", "infer_layout", "relay_grad"),
    *("legalize", "precision", "schedule", "make", "defaults"),
)
TVM_PATTERN = {
    "EW": OpPattern.ELEMWISE,
    "BC": OpPattern.BROADCAST,
    "INJ": OpPattern.INJECTIVE,
    "RED": OpPattern.COMM_REDUCE,
    "OEF": OpPattern.OUT_ELEMWISE_FUSABLE,
    "OPQ": OpPattern.OPAQUE,
}
STRICTER = {"relay.einsum": "it reduces, although TVM calls it injective"}
"""Ops that may be fused with less than in TVM."""


def _declares_facets(name: str) -> bool:
    file, class_name = OPS[name]
    source = (op_index.RELAY / f"{file.replace('.', '/')}.py").read_text()
    return f"class {class_name}(IRDLOperation" not in source


NAMES = [name for name in OPS if _declares_facets(name)]
every_op = pytest.mark.parametrize("name", NAMES, scope="module")
"""All tests of one op, then those of the next: what they share is made once (`te_samples`)."""


def load(name: str) -> type[RelayOp]:
    op_type: Any = find_op(name)
    if not issubclass(op_type, RelayOp) or not hasattr(op_type, "samples"):
        pytest.skip("the op has no facets: control flow, or a leaf")
    return op_type


def samples_of(op_type: Any) -> list[Sample]:
    return op_type.samples()


def valid_samples(op_type: type[RelayOp]) -> list[tuple[int, Sample]]:
    return [(n, s) for n, s in enumerate(samples_of(op_type)) if s.error is None]


@lru_cache(1)
def te_samples(op_type: type[RelayOp]) -> list[tuple[int, Sample, FuncOp]]:
    """The valid samples and what they mean. Nobody may change the functions."""
    return [(n, s, te_func(op_type, s.operands, s.attrs)) for n, s in valid_samples(op_type)]


@lru_cache(1)
def np_samples(op_type: type[RelayOp]) -> list[tuple[Arrays, Arrays]]:
    """Operands drawn for the valid samples, and the results of the oracle."""
    drawn = [(s, arrays_of(op_type.name, n, s)) for n, s in valid_samples(op_type)]
    return [(arrays, list(np_results(op_type, arrays, s.attrs))) for s, arrays in drawn]


@cache
def patterns() -> dict[str, str]:
    lines = (Path(__file__).parent / "tvm_op_patterns.txt").read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def arrays_of(name: str, number: int, s: Sample) -> Arrays:
    random = np.random.default_rng([number, *name.encode()])
    ranges = s.ranges or (None,) * len(s.operands)
    return [draw(o, r, s.finite, random) for o, r in zip(s.operands, ranges, strict=True)]


def instance(op_type: type[RelayOp], s: Sample) -> tuple[TestOp, RelayOp]:
    source = TestOp(result_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
    return source, op_type.make(*source.results, **s.attrs)


def assert_close(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], rtol: float, what: str) -> None:
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype} for {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape} for {expected.shape}"
    if not is_float(str(expected.dtype)):
        np.testing.assert_array_equal(actual, expected, what)
        return
    rtol = {"float64": rtol * 1e-7, "float16": max(rtol, 2e-3), "bfloat16": max(rtol, 2e-2)}.get(
        str(expected.dtype), rtol
    )
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite], what)
    scale = np.max(np.abs(expected[finite]), initial=0.0)
    np.testing.assert_allclose(actual[finite], expected[finite], rtol=rtol, atol=rtol * scale, err_msg=what)


def test_index_is_fresh() -> None:
    assert op_index.TARGET.read_text() == op_index.index_text(), "run `python -m tools.op_index`"


@every_op
def test_declares_the_facets(name: str) -> None:
    op_type = load(name)
    assert hasattr(op_type, "np_ref"), "np_ref is missing"
    assert hasattr(op_type, "te_compute") or hasattr(op_type, "decompose"), "te_compute or decompose is missing"
    definition = op_type.get_irdl_definition()
    fields = {*definition.properties, *(n for n, _ in definition.operands), *(n for n, _ in definition.results)}
    assert not fields & set(FACETS), "a field bears a facet's name"
    assert inspect.getdoc(op_type) != inspect.getdoc(RelayOp), "the docstring is missing"


@every_op
def test_samples_cover(name: str) -> None:
    samples = samples_of(load(name))
    assert len(samples) >= 8
    assert [s for s in samples if s.error], "no invalid sample"
    op_type, valid = load(name), [s for s in samples if s.error is None]
    for attribute, default in op_type.defaults().items():
        given = [s.attrs for s in valid if attribute in s.attrs]
        built = [instance(op_type, s)[1].properties[attribute] for s in valid if s.attrs in given]
        assert [b for b in built if b != default], f"no sample sets {attribute} off its default"


@every_op
def test_inferred_type_is_that_of_np_ref(name: str) -> None:
    op_type = load(name)
    for (n, s), (_, results) in zip(valid_samples(op_type), np_samples(op_type), strict=True):
        expected = [(r.shape, str(r.dtype)) for r in results]
        inferred = [(tuple(i.shape), i.dtype) for i in result_infos(op_type, s.operands, s.attrs)]
        assert inferred == expected, f"sample {n}: {s}"


@every_op
def test_np_ref_has_the_inferred_type_in_every_precision(name: str) -> None:
    op_type = load(name)
    for (n, s), dtype in product(valid_samples(op_type), ("float16", "bfloat16", "float64")):
        operands = tuple(TensorInfo(o.shape, dtype) if o.dtype == "float32" else o for o in s.operands)
        named = {k: dtype for k, v in s.attrs.items() if k in ("dtype", "out_dtype") and v == "float32"}
        other = replace(s, operands=operands, attrs=s.attrs | named)
        try:
            inferred = result_infos(op_type, operands, other.attrs)
        except TypeMismatch:
            continue  # not a type that the op takes
        with np.errstate(all="ignore"):
            results = np_results(op_type, arrays_of(name, n, other), other.attrs)
        assert [str(r.dtype) for r in results] == [i.dtype for i in inferred], f"sample {n}: {other}"


@every_op
def test_te_compute_verifies_and_has_the_inferred_type(name: str) -> None:
    op_type = load(name)
    for n, s, func in te_samples(op_type):
        verify_module(func)
        inferred = [tensor_type(tuple(i.shape), i.dtype) for i in result_infos(op_type, s.operands, s.attrs)]
        assert list(func.function_type.outputs) == inferred, f"sample {n}: {s}"


@every_op
def test_te_compute_gives_np_ref(name: str) -> None:
    op_type = load(name)
    for (n, s, func), (arrays, expected) in zip(te_samples(op_type), np_samples(op_type), strict=True):
        actual = run_te_func(func, arrays)
        for r, (a, e) in enumerate(zip(actual, expected, strict=True)):
            assert_close(a, e.astype(numpy_dtype(str(e.dtype))), s.rtol, f"{name}, sample {n}, result {r}: {s}")


@cache
def te_context() -> Context:
    context = Context()
    for dialect in (Builtin, Test, TE, TIR, Arith, Math):
        context.load_dialect(dialect)
    return context


@every_op
def test_te_text_round_trips(name: str) -> None:
    op_type = load(name)
    _, _, func = te_samples(op_type)[0]
    module = ModuleOp([func.clone()])
    text = str(module)
    again = SourceParser(te_context(), text, "te.mlir").parse_module()
    verify_module(again)
    assert str(again) == text


@every_op
@pytest.mark.parametrize("generic", [False, True])
def test_text_round_trips(name: str, generic: bool) -> None:
    op_type = load(name)
    context = Context()
    for dialect in (Builtin, Test, Dialect("relay", [op_type], [])):
        context.load_dialect(dialect)

    def text_of(module: ModuleOp) -> str:
        stream = StringIO()
        Printer(stream, print_generic_format=generic).print_op(module)
        return stream.getvalue()

    for n, s in valid_samples(op_type):
        source, op = instance(op_type, s)
        verify_op(op)
        text = text_of(ModuleOp([source, op]))
        module = SourceParser(context, text, "relay.mlir").parse_module()
        verify_module(module)
        assert text_of(module) == text, f"sample {n}"
        parsed = module.body.block.last_op
        assert isinstance(parsed, op_type) and attrs_of(parsed) == attrs_of(op), f"sample {n}"


@every_op
def test_invalid_instances_are_refused_with_their_message(name: str) -> None:
    op_type = load(name)
    for s in samples_of(op_type):
        if s.error is not None:
            with pytest.raises(VerifyException) as raised:
                instance(op_type, s)[1].verify()
            assert s.error in str(raised.value), f"{s}: {raised.value}"
            assert name in str(raised.value), "the message names the op"


@every_op
def test_fusion_kind_is_tvms(name: str) -> None:
    op_type = load(name)
    pattern = patterns().get(name.removeprefix("relay."))
    if pattern is None:
        pytest.skip("TVM has no such op")
    if name in STRICTER:
        assert op_type.FUSION_KIND > TVM_PATTERN[pattern]
        return
    # Ops without a pattern are rewritten away before fusion; what is left of them must not fuse.
    assert op_type.FUSION_KIND == TVM_PATTERN.get(pattern, OpPattern.OPAQUE)


@every_op
def test_fusion_kind_is_not_more_permissive_than_the_index_maps(name: str) -> None:
    op_type = load(name)
    if name.startswith("relay.qnn.") and hasattr(op_type, "decompose"):
        pytest.skip("relay-qnn-canonicalize rewrites it before fusion; TVM's pattern leaves out its scales")
    for n, s, func in te_samples(op_type):
        needed = max(map(kind_of, computes(func)), default=OpPattern.ELEMWISE)
        assert op_type.FUSION_KIND >= needed, f"sample {n} is {needed.name}: {s}"


def computes(func: FuncOp) -> list[ComputeOp]:
    return [op for op in func.body.block.ops if isinstance(op, ComputeOp)]


def kind_of(compute: ComputeOp) -> OpPattern:
    """The least fusion kind that describes how a compute reads its operands."""
    if compute.combiner is not None:
        return OpPattern.COMM_REDUCE
    dims = list(compute.body.block.args)
    kinds = [OpPattern.ELEMWISE]
    for op in compute.body.block.ops:
        if isinstance(op, ReadOp):
            # Positions of the loops that the index operands are; an index read from memory is none.
            places = [dims.index(v) if v in dims else None for v in op.indices]  # type: ignore[arg-type]
            kinds.append(read_kind(op.map.data, places, compute.spatial, op.tensor.type.get_shape()))  # type: ignore[attr-defined]
    return max(kinds)


def read_kind(
    map_: IndexMap, places: list[int | None], shape: tuple[int, ...], read_shape: tuple[int, ...]
) -> OpPattern:
    """ELEMWISE reads the same place (or a scalar), BROADCAST at most one loop in each index, in order."""
    if not map_.results:
        return OpPattern.ELEMWISE
    own_place: list[Any] = [
        f.const == 0 and [(places[d], c) for d, c in f.terms.items() if isinstance(d, int)] for f in map_.results
    ]
    same = [
        place == [(axis, 1)] or extent == 1
        for axis, (place, extent) in enumerate(zip(own_place, read_shape, strict=True))
    ]
    if None not in places and read_shape == shape and all(same):
        return OpPattern.ELEMWISE
    used: list[int] = []
    for form in map_.results:
        loops: list[int | None] = [places[d] for d in form.dims() if isinstance(d, int)]
        if len(loops) > 1 or None in loops:
            return OpPattern.INJECTIVE
        used += [p for p in loops if p is not None]
    return OpPattern.BROADCAST if used == sorted(set(used)) else OpPattern.INJECTIVE
