"""Cost of patterns: processor time per op of partitioning and of fusion, on residual networks of growing size.

    python bench/patterns.py [OPS ...]

Eight ops a block: two convolutions with bias, an addition, two activations, and one op that dnnl does not take. The
table of dnnl has 95 patterns; compiling them is measured apart, since it is done once.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from lamina.dialects import relay as r
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import array_dense
from lamina.dialects.rules.terms import inserting
from lamina.ir.context import LaminaContext
from lamina.passes.relay.fusion.fuse_ops import FuseOps
from lamina.passes.relay.partition.annotate_target import AnnotateTarget
from lamina.passes.relay.partition.merge_compiler_regions import MergeCompilerRegions
from lamina.passes.relay.partition.merge_composite import MergeComposite
from lamina.passes.relay.partition.partition_graph import PartitionGraph
from lamina.passes.relay.partition.pattern_tables import find_table

PER_BLOCK = 8


def network(ops: int) -> ModuleOp:
    """A residual network of about that many ops, constants not counted."""
    type_ = tensor_type((1, 4, 8, 8), "float32")
    body = Block(arg_types=[type_])
    with inserting(Builder(InsertPoint.at_end(body))):
        weight = ConstantOp.make(array_dense(np.ones((4, 4, 1, 1), np.float32)))
        bias = ConstantOp.make(array_dense(np.ones(4, np.float32)))
        body.add_ops([weight, bias])
        x: Any = body.args[0]
        for _ in range(ops // PER_BLOCK):
            y = r.nn.relu(r.nn.bias_add(r.nn.conv2d(x, weight.result), bias.result))
            z = r.nn.bias_add(r.nn.conv2d(y, weight.result), bias.result)
            x = r.erf(r.nn.relu(r.add(z, x)))
    body.add_op(func.ReturnOp(x))
    return ModuleOp([func.FuncOp("main", ([type_], [type_]), Region(body))])


def seconds(action: Callable[[], Any]) -> float:
    gc.collect()
    gc.disable()
    start = process_time()
    action()
    taken = process_time() - start
    gc.enable()
    return taken


def measure(ops: int) -> dict[str, float]:
    """Seconds of each pass on a network; fusion gets one of its own."""
    ctx = LaminaContext()
    module = network(ops)
    found: dict[str, float] = {}
    for p in (
        MergeComposite(patterns=("dnnl",)),
        AnnotateTarget(targets=("dnnl",)),
        MergeCompilerRegions(),
        PartitionGraph(),
    ):
        found[p.name.removeprefix("relay-")] = seconds(lambda p=p: p.apply(ctx, module))
    fused = network(ops)
    found["fuse-ops"] = seconds(lambda: FuseOps().apply(ctx, fused))
    return found


def main() -> None:
    sizes = [int(a) for a in sys.argv[1:]] or [1_000, 10_000, 50_000]
    table = find_table("dnnl")
    compiling = seconds(lambda: [e.compiled for e in table.entries])
    print(f"dnnl: {len(table.entries)} patterns, compiled in {compiling * 1e3:.0f} ms")
    for ops in sizes:
        times = measure(ops)
        print(
            f"{ops:7} ops  " + "  ".join(f"{name} {t:.2f} s ({t / ops * 1e6:.0f} us/op)" for name, t in times.items())
        )


if __name__ == "__main__":
    main()
