"""What tests of oneDNN share: whether it is here, and graphs of which a part is given to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import relay as r
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.listener import Listener
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import array_dense
from lamina.dialects.rules.terms import inserting
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline
from lamina.passes.relay.partition.external_backends import find_backend, is_declaration

Array = np.ndarray[Any, np.dtype[Any]]
PARTITION = (
    "relay-merge-composite{patterns=dnnl},relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,"
    "relay-partition-graph,relay-external-codegen{targets=dnnl}"
)


def missing_dnnl() -> str:
    backend = find_backend("dnnl")
    return backend.unavailable() if backend is not None else "there is no such backend"


needs_dnnl = pytest.mark.skipif(bool(missing_dnnl()), reason=missing_dnnl() or "here")


def constant(value: Any, dtype: str = "float32") -> SSAValue:
    """A constant where ops are being inserted, before them."""
    return ConstantOp.make(array_dense(np.asarray(value, dtype))).result


def graph(types: Sequence[tuple[tuple[int, ...], str]], make: Callable[..., SSAValue | Sequence[SSAValue]]) -> ModuleOp:
    """`@main` with the ops that a function makes of its arguments."""
    taken = [tensor_type(shape, dtype) for shape, dtype in types]
    block = Block(arg_types=taken)
    with inserting(Builder(InsertPoint.at_end(block))):
        made = make(*block.args)
    results = [made] if isinstance(made, SSAValue) else list(made)
    for op in [v.owner for o in block.walk() for v in o.operands if isinstance(v.owner, ConstantOp)]:
        if op.parent is None:
            block.insert_op_before(op, block.first_op)  # type: ignore[arg-type]
    block.add_op(func.ReturnOp(*results))
    module = ModuleOp([func.FuncOp("main", (taken, [v.type for v in results]), Region(block))])
    module.verify()
    return module


def offloaded(module: ModuleOp) -> tuple[ModuleOp, str]:
    """A copy with its parts compiled by oneDNN, and the report."""
    reports: list[str] = []

    class Placed(Listener):
        def placed(self, report: Callable[[], str]) -> None:
            reports.append(report())

    copy, ctx = module.clone(), LaminaContext(listener=Placed())
    for p in parse_pipeline(PARTITION):
        p.apply(ctx, copy)
    copy.verify()
    return copy, "\n".join(reports)


def check(module: ModuleOp, wanted: str, arrays: Sequence[Array], tolerance: float = 2e-5) -> None:
    """The same numbers by oneDNN and by the references of the ops, and `wanted` in the report."""
    partitioned, report = offloaded(module)
    assert wanted in report, report
    assert any(map(is_declaration, partitioned.body.block.ops)), report
    given = run_relay(main_function(partitioned), arrays)
    for a, b in zip(given, run_relay(main_function(module), arrays), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        if b.dtype.kind in "iu":
            np.testing.assert_array_equal(a, b, wanted)
        else:
            scale = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, err_msg=wanted)


def random_arrays(types: Sequence[tuple[tuple[int, ...], str]], seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [
        rng.standard_normal(shape).astype(dtype)
        if dtype.startswith("float")
        else rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape, dtype)
        for shape, dtype in types
    ]


def requantised(anchor: Any, biased: bool, act: bool, added: bool, zero: bool, per_channel: bool, **attrs: Any) -> Any:
    """What importers of quantised models leave of a convolution or dense layer."""

    def make(x: SSAValue, *rest: SSAValue) -> SSAValue:
        rng = np.random.default_rng(7)
        weight = rng.integers(-128, 128, (6, 4, 3, 3) if "padding" in attrs else (6, 9))
        along = (6, 1, 1) if "padding" in attrs else (6,)
        zero_point, scale = constant(0, "int32"), constant(0.5)
        value = r.cast(
            anchor(x, constant(weight, "int8"), zero_point, zero_point, scale, scale, **attrs), dtype="float32"
        )
        if biased:
            value = r.add(value, constant(rng.integers(-3000, 3000, along)))
        value = r.multiply(value, constant(rng.uniform(1e-3, 3e-3, along if per_channel else ())))
        value = r.clip(value, a_min=-60.0, a_max=96.0)
        if act:
            value = r.multiply(value, constant(0.75))
        if added:
            value = r.add(value, r.multiply(constant(0.21), r.cast(rest[0], dtype="float32")))
        if zero:
            value = r.add(value, constant(3.0))
        return r.cast(value, dtype="int8")

    return make
