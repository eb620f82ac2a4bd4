"""Growth of opt-tool's cost with the number of ops, and the chain of 50,000 ONNX nodes.

    python bench/scaling.py [--small 2000] [--large 20000] [--nodes 50000]

Prints microseconds per op at both sizes for parse, verify, print, simplify, fold and fuse. The goals: a
ratio of at most 1.5, and the chain compiled in 60 s and 6 GB.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))

TYPE = "tensor<4x16xf32>"
OPS = ("tanh", "nn.relu", "sigmoid", "negative", "exp")


def chain(count: int) -> str:
    """A Relay function of `count` ops: some that simplify, some that fold, residual adds."""
    lines = [f"func.func @main(%v0: {TYPE}) -> {TYPE} {{"]
    value, residual, made, n = "%v0", "%v0", 0, 1
    while made < count:
        if n % 10 == 0:
            lines.append(f"  %v{n} = relay.add {value}, {residual} : {TYPE}")
            residual = f"%v{n}"
        elif n % 10 == 5:  # a constant that folds
            lines.append(f"  %c{n} = relay.constant dense<2.0> : {TYPE}")
            lines.append(f"  %d{n} = relay.exp %c{n} : {TYPE}")
            lines.append(f"  %v{n} = relay.multiply {value}, %d{n} : {TYPE}")
            made += 2
        elif n % 10 in (2, 3):  # a pair that simplifies
            lines.append(f"  %v{n} = relay.transpose {value} {{axes = [1, 0]}} : ({TYPE}) -> tensor<16x4xf32>")
            lines.append(f"  %w{n} = relay.transpose %v{n} {{axes = [1, 0]}} : (tensor<16x4xf32>) -> {TYPE}")
            made += 1
            value = f"%w{n}"
            made, n = made + 1, n + 1
            continue
        else:
            lines.append(f"  %v{n} = relay.{OPS[n % 5]} {value} : {TYPE}")
        value = f"%v{n}"
        made, n = made + 1, n + 1
    return "\n".join([*lines, f"  return {value} : {TYPE}", "}"]) + "\n"


def costs(count: int) -> dict[str, float]:
    """Microseconds per op of each step, the best of three."""
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import parse_text
    from lamina.ir.pipeline import parse_pipeline, run_pipeline
    from lamina.ir.printing import print_op
    from lamina.ir.verification import verify_module

    text = chain(count)
    best: dict[str, float] = {}

    def timed(name: str, call: Any) -> Any:
        gc.collect()
        gc.disable()
        start = perf_counter()
        result = call()
        best[name] = min(best.get(name, 1e9), (perf_counter() - start) / count * 1e6)
        gc.enable()
        return result

    passes = {
        "simplify": "relay-simplify-expr",
        "fold": "relay-fold-constant",
        "fuse": "relay-fuse-ops",
    }
    for _ in range(3):
        ctx = LaminaContext()
        module = timed("parse", lambda ctx=ctx: parse_text(ctx, text, "chain.mlir"))
        timed("verify", lambda module=module: verify_module(module))
        timed("print", lambda module=module, ctx=ctx: print_op(module, ctx))
        for name, pipeline in passes.items():
            timed(name, partial(run_pipeline, module, ctx, parse_pipeline(pipeline)))
    return best


def compile_chain(nodes: int) -> tuple[float, float]:
    """Seconds and gigabytes of compiling a chain of ONNX nodes, this process and its largest worker together."""
    import models

    import lamina

    data = models.chain_model(nodes).SerializeToString()
    start = perf_counter()
    exe = lamina.compile(data, threads=1, cache=False)
    seconds = perf_counter() - start
    exe.benchmark(repeats=1)
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return seconds, sum(resource.getrusage(k).ru_maxrss for k in kinds) * 1024 / 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=2000)
    parser.add_argument("--large", type=int, default=20000)
    parser.add_argument("--nodes", type=int, default=50000)
    parser.add_argument("--chain", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.chain:
        print("{:.1f} s, {:.2f} GB".format(*compile_chain(args.nodes)))
        return 0
    small, large = costs(args.small), costs(args.large)
    print(f"{'us per op':<10}{args.small:>10}{args.large:>10}{'ratio':>8}")
    for name, cost in small.items():
        print(f"{name:<10}{cost:>10.1f}{large[name]:>10.1f}{large[name] / cost:>8.2f}", flush=True)
    if args.nodes:
        words = [sys.executable, __file__, "--chain", "--nodes", str(args.nodes)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        print(f"a chain of {args.nodes} nodes: {done.stdout.strip() or f'failed ({done.returncode})'}")
        return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
