"""Every Relay op runs five ways with equal results: by its oracle, and as te, naive tir, scheduled tir and llvm.

The schedules are those of a pinned target, whatever this machine is; only the last step compiles for it. Every pass
must leave a module that verifies, which is looked at for the smallest sample of each op.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass

from lamina.backends.cpu.jit import host_target
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.elementwise.arithmetic import AddOp, MultiplyOp
from lamina.dialects.relay.reduce.reductions import MaxOp
from lamina.dialects.rules.op_protocol import Sample
from lamina.dialects.target import TARGET
from lamina.driver.execute import run_module
from lamina.driver.pipelines import LLVM_PIPELINE, TIR_PIPELINE
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline
from lamina.ir.printing import module_text
from lamina.ir.verification import verify_module
from lamina.runtime.llvm_module import load_module

sys.path.insert(0, str(Path(__file__).parent))
from test_facets import NAMES, arrays_of, assert_close, load, valid_samples  # noqa: E402
from turns import each_second  # noqa: E402

pytestmark = pytest.mark.slow

Arrays = list[np.ndarray[Any, Any]]

TIR_PASSES = ",".join(TIR_PIPELINE[1:-1])
PLAN_MEMORY = TIR_PIPELINE[-1]
TO_LLVM = ",".join(LLVM_PIPELINE)


def module_of(op_type: type[RelayOp], s: Sample) -> ModuleOp:
    """`@main` with one op."""
    block = Block(arg_types=[tensor_type(tuple(o.shape), o.dtype) for o in s.operands])
    for n, argument in enumerate(block.args):
        argument.name_hint = f"x{n}"
    op = op_type.make(*block.args, **s.attrs)
    block.add_ops([op, ReturnOp(*op.results)])
    main = FuncOp("main", FunctionType.from_lists(list(block.arg_types), list(op.result_types)), Region(block))
    module = ModuleOp([main])
    module.attributes[TARGET] = host_target(1)
    return module


@cache
def passes_of(pipeline: str) -> list[ModulePass]:
    return parse_pipeline(pipeline)


def apply(ctx: LaminaContext, module: ModuleOp, pipeline: str, texts: str = "") -> None:
    """Run passes. With `texts`, the name of a file, each leaves what verifies, and what the last one leaves is read
    again and prints the same; without, the last one leaves what verifies."""
    passes = passes_of(pipeline)
    for p in passes:
        p.apply(ctx, module)
        if texts or p is passes[-1]:
            try:
                verify_module(module)
            except Exception as e:
                raise AssertionError(f"after {p.name}: {e}") from e
    if texts:
        text = module_text(module)
        assert module_text(parse_text(ctx, text, texts)) == text, f"{texts} after {pipeline}"


def ways(module: ModuleOp, arrays: Arrays, fuse: int = 0, texts: str = "") -> dict[str, Arrays]:
    """The results of `@main`, by the way they were computed. With `texts` that of each level is read again."""
    ctx = LaminaContext()
    found: dict[str, Arrays] = {}

    def run(way: str, module: ModuleOp) -> None:
        found[way] = list(run_module(module, ctx, "main", arrays).values())

    run("relay", module)
    apply(ctx, module, f"relay-fuse-ops{{fuse-opt-level={fuse}}},relay-to-te")
    run("te", module)
    naive = module.clone()  # pyright: ignore[reportUnknownMemberType]
    apply(ctx, naive, "te-to-tir")
    run("naive tir", naive)
    apply(ctx, module, "cpu-schedule", texts)
    apply(ctx, module, "te-to-tir", texts)
    run("scheduled tir", module)
    apply(ctx, module, TIR_PASSES)
    run("vectorized tir", module)
    apply(ctx, module, PLAN_MEMORY, texts)
    apply(ctx, module, TO_LLVM, texts)
    program = load_module(module, ctx.params, workers=1)
    inputs = {p.name: a for p, a in zip(program.info.inputs, arrays, strict=True)}
    found["llvm"] = list(program.run(inputs).values())
    return found


def followed(op_type: type[RelayOp], s: Sample) -> ModuleOp | None:
    """`@main` with one op of floats, and y * y + y over it, the largest element along each first axis.

    None where the op gives no tensors of float32 or int32 of at least one dimension.
    """
    module = module_of(op_type, s)
    main = module.body.block.first_op
    assert isinstance(main, FuncOp)
    block = main.body.block
    returns = block.last_op
    assert isinstance(returns, ReturnOp)
    results: list[SSAValue] = []
    for y in returns.operands:
        info = tensor_info(y.type)
        if not info.shape or 0 in info.shape or info.dtype not in ("float32", "int32"):
            return None
        square = MultiplyOp.make(y, y)
        total = AddOp.make(square.results[0], y)
        largest = MaxOp.make(total.results[0], axis=[0])
        block.insert_ops_before([square, total, largest], returns)
        results.append(largest.results[0])
    returns.operands = results
    main.properties["function_type"] = FunctionType.from_lists(list(block.arg_types), [v.type for v in results])
    return module


def check(name: str, number: int, s: Sample, texts: str = "") -> None:
    compare(name, number, s, ways(module_of(load(name), s), arrays_of(name, number, s), texts=texts))


def compare(name: str, number: int, s: Sample, found: dict[str, Arrays]) -> None:
    expected = found.pop("relay")
    for way, results in found.items():
        for r, (a, e) in enumerate(zip(results, expected, strict=True)):
            assert_close(a, e, s.rtol, f"{name} as {way}, sample {number}, result {r}: {s}")


def size(s: Sample) -> int:
    return sum(int(np.prod(o.shape)) for o in s.operands)


def smallest(name: str) -> tuple[int, Sample]:
    return min(valid_samples(load(name)), key=lambda found: size(found[1]))


@pytest.mark.parametrize("name", NAMES)
def test_smallest_sample_runs_five_ways_and_is_read_again_at_every_level(name: str) -> None:
    check(name, *smallest(name), texts=f"{name}.mlir")


@pytest.mark.slow
@pytest.mark.parametrize("name", each_second(NAMES))
def test_one_more_sample_runs_five_ways(name: str) -> None:
    """The first one, fused with what follows; where nothing can follow that in the middle as it is.

    `test_every_sample_runs_five_ways` takes them all.
    """
    samples = valid_samples(load(name))
    number, s = samples[0]
    module = followed(load(name), s)
    if module is None:
        check(name, *samples[len(samples) // 2])
    else:
        compare(name, number, replace(s, rtol=10 * s.rtol), ways(module, arrays_of(name, number, s), fuse=1))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_sample_runs_five_ways(name: str) -> None:
    for number, s in valid_samples(load(name)):
        check(name, number, s, texts=f"{name}.mlir")
