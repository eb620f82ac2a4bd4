"""Laws of time, as a ratchet: each figure stays below what is stored in time_laws.json, with its tolerance.

    python bench/time_laws.py [NAME...] [--store]

Each is processor time, the best of several runs, or a ratio of such; `--store` keeps figures that are better than the
stored ones, and those of new laws. Exit status 1: one is broken. A `limit` holds whatever is stored.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "test" / "unit")]
STORED = Path(__file__).with_suffix(".json")
TOLERANCE = 1.5
"""The most that a figure may be, as a multiple of the stored one, where the file says nothing else."""


def best(measure: Callable[[], float], runs: int = 3) -> float:
    return min(measure() for _ in range(runs))


def spent(call: Callable[[], object]) -> float:
    """Seconds of the processor."""
    start = process_time()
    call()
    return process_time() - start


def of_command(*words: str) -> float:
    """Seconds of the processor that a process takes."""
    code = (
        f"import resource, subprocess; subprocess.run({words!r}, capture_output=True, check=True); "
        "u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def import_of_lamina() -> float:
    """Milliseconds more than Python alone."""
    return 1e3 * (best(lambda: of_command(sys.executable, "-c", "import lamina"), 5) - _python())


def _python() -> float:
    return best(lambda: of_command(sys.executable, "-c", "pass"), 5)


def start_of_opt_tool() -> float:
    """The start of opt-tool by that of xdsl-opt, each on a text of three ops."""
    from test_structure import THEIR_OPS, THREE_OPS

    with TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours.mlir", Path(folder) / "theirs.mlir"
        ours.write_text(THREE_OPS)
        theirs.write_text(THEIR_OPS)
        mine = (sys.executable, "-m", "lamina.opt_tool", str(ours))
        xdsl = (sys.executable, "-c", "from xdsl.tools.xdsl_opt import main; main()", str(theirs))
        return best(lambda: of_command(*mine), 8) / best(lambda: of_command(*xdsl), 8)


def _text_of(count: int) -> str:
    rows = "\n".join(f"  %v{i + 1} = arith.addi %v{i}, %v{i} : i32" for i in range(count))
    return f"func.func @f(%v0: i32) -> i32 {{\n{rows}\n  return %v{count} : i32\n}}\n"


def text_ratio() -> float:
    """The time per op of reading, verifying and printing 10,000 ops by that of 1,000, the worst of the three."""
    from lamina.ir.context import LaminaContext
    from lamina.ir.dominance import find_violation
    from lamina.ir.parsing import parse_text
    from lamina.ir.printing import print_op
    from lamina.ir.verification import verify_module

    def per_op(count: int) -> list[float]:
        text, ctx = _text_of(count), LaminaContext()
        module = parse_text(ctx, text, "chain.mlir")
        assert find_violation(module) is None
        steps: list[Callable[[], object]] = [
            lambda: parse_text(ctx, text, "chain.mlir"),
            lambda: verify_module(module),
            lambda: print_op(module, ctx),
        ]
        return [best(lambda step=step: spent(step), 4) / count for step in steps]

    return max(large / small for small, large in zip(per_op(1_000), per_op(10_000), strict=True))


def gradient_ratio() -> float:
    """The time per op of the gradient of 4,000 ops by that of 500."""
    from gradient_programs import chain

    from lamina.ir.context import LaminaContext
    from lamina.passes.relay.functional.first_order_gradient import FirstOrderGradient

    def per_op(count: int) -> float:
        module = chain(count)
        return spent(lambda: FirstOrderGradient().apply(LaminaContext(), module)) / count

    per_op(500)
    return best(lambda: per_op(4_000)) / best(lambda: per_op(500))


def import_ratio() -> float:
    """The time per node of importing a chain of 50,000 ONNX nodes by that of 5,000."""
    import models

    from lamina.frontends.onnx import load_onnx

    def per_node(count: int) -> float:
        model = models.chain_model(count)
        return spent(lambda: load_onnx(model)) / count

    per_node(100)
    return per_node(50_000) / best(lambda: per_node(5_000))


def call_in_a_process() -> float:
    """Milliseconds by the clock of a call in a copy of a server."""
    from lamina.debugging.isolate import Server

    folder = str(ROOT / "test" / "unit")
    with Server(["isolated_functions"], memory=4 << 30, environment={"PYTHONPATH": f"{folder}:{ROOT}"}) as server:

        def call() -> float:
            start = perf_counter()
            server.call("isolated_functions:double", {"x": [1]})
            return 1e3 * (perf_counter() - start)

        return best(call, 20)


def _contract_by_hand(module: Any) -> None:
    """The work of tir-fuse-multiply-add's equation, done by a walk over the ops."""
    from xdsl.dialects import arith, math
    from xdsl.dialects.builtin import f32

    from lamina.dialects.fast_ir import all_ops
    from lamina.passes.base import inherit_location

    for add in [o for o in all_ops(module) if type(o) is arith.AddfOp and o.result.type == f32]:
        for product, other in ((add.rhs, add.lhs), (add.lhs, add.rhs)):
            multiply, block = product.owner, add.parent
            if type(multiply) is not arith.MulfOp or not product.has_one_use():
                continue
            if block is None or multiply.parent is not block:
                continue
            flags = {"fastmath": arith.FastMathFlagsAttr("none")}
            operands = [multiply.lhs, multiply.rhs, other]
            fma = math.FmaOp.create(operands=operands, result_types=[f32], properties=flags)
            inherit_location(fma, add)
            block.insert_op_before(fma, add)
            fma.result.name_hint = add.result.name_hint
            add.result.replace_all_uses_with(fma.result)
            for dead in (add, multiply):
                dead.detach()
                dead.erase()
            break


def rules_ratio() -> float:
    """The time of an equation on ops of tir by that of a walk by hand that does the same."""
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import parse_text
    from lamina.passes.tir.arithmetic.fuse_multiply_add import contract

    rows = "\n".join(
        f"    %a{n} = tir.load %x[%i] : memref<64xf32>\n"
        f"    %p{n} = arith.mulf %a{n}, %c : f32\n"
        f"    %s{n} = arith.addf %a{n}, %p{n} : f32\n"
        f"    %t{n} = arith.addf %s{n}, %a{n} : f32\n"
        f"    tir.store %t{n}, %y[%i] : memref<64xf32>"
        for n in range(300)
    )
    head = "tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {\n  %c = arith.constant 2.5 : f32\n"
    module = parse_text(LaminaContext(), f'{head}  tir.for %i = 0 to 64 "y.i" {{\n{rows}\n  }}\n}}\n', "f.mlir")
    pairs = [[module.clone(), module.clone()] for _ in range(8)]
    spent(partial(contract.apply, pairs[0][0]))
    by_rules = min(spent(partial(contract.apply, m)) for m, _ in pairs[1:])
    return by_rules / min(spent(partial(_contract_by_hand, m)) for _, m in pairs[1:])


LAWS: dict[str, Callable[[], float]] = {
    "import-lamina": import_of_lamina,
    "start-opt-tool": start_of_opt_tool,
    "text-ratio": text_ratio,
    "gradient-ratio": gradient_ratio,
    "import-ratio": import_ratio,
    "rules-ratio": rules_ratio,
    "call-in-a-process": call_in_a_process,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*LAWS, []], metavar="NAME", help=", ".join(LAWS))
    parser.add_argument("--store", action="store_true", help="keep better figures, and those of new laws")
    args = parser.parse_args()
    stored: dict[str, dict[str, Any]] = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    broken = False
    for name in args.names or LAWS:
        figure = round(LAWS[name](), 2)
        row = stored.setdefault(name, {})
        best_yet = row.setdefault("figure", figure)
        limit = min(row.get("limit", float("inf")), best_yet * row.get("tolerance", TOLERANCE))
        broken |= figure > limit
        print(f"{'BROKEN' if figure > limit else 'kept':7}{name:20}{figure:10.2f}  at most {limit:.2f}", flush=True)
        row["figure"] = min(best_yet, figure)
    if args.store:
        STORED.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
