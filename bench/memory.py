"""What programs work in: the arena beside the least that any plan needs, and what sharing and planning save.

    python bench/memory.py [MODEL...] [--json FILE]

`all` is the sum of all buffers between kernels, `least` the most bytes that are alive at one time (results in place of
dead operands counted once): no plan does with less. The goal: an arena of at most 1.15 times the least.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "bench")]

GOAL = 1.15


def planned(name: str) -> dict[str, Any]:
    """The figures of one model."""
    import models
    import zoo
    from xdsl.dialects.func import FuncOp

    import lamina
    from lamina.backends.cpu.jit import named_target
    from lamina.compiler import stage_pipelines
    from lamina.context import LaminaContext
    from lamina.dialects.target import TARGET
    from lamina.passes.tir.plan_memory import prepare, size_of
    from lamina.pipeline import parse_pipeline, run_pipeline

    proto = models.light_model(name) if name in models.LIGHT_MODELS else zoo.ZOO[name]()
    model = lamina.load(proto)
    module, weights = model.module, model.parameters()[1]
    module.attributes[TARGET] = named_target("cpu", 1)
    ctx = LaminaContext()
    ctx.params = model.params
    stages = stage_pipelines(3)
    run_pipeline(module, ctx, parse_pipeline(stages["te"] + "," + stages["tir"].removesuffix(",tir-plan-memory")))
    main = next(op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration)
    found = prepare(module, main)
    figures: dict[str, Any] = {"model": name, "weights": weights, "buffers": 0, "in_place": 0}
    if found is None:
        return {**figures, "all": 0, "least": 0, "arena": 0}
    shared = sum(owner is not alloc for alloc, owner in found.owners.items())
    total = sum(size_of(alloc.result.type) for alloc in found.owners)
    counts = {"buffers": len(found.owners), "in_place": shared}
    return {**figures, **counts, "all": total, "least": found.least, "arena": found.size}


def main() -> int:
    import models

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: onnx's nine light models")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    print(
        f"{'MB':<16}{'buffers':>8}{'in place':>9}{'all':>9}{'least':>9}{'arena':>9}{'ratio':>7}{'weights':>9}",
        flush=True,
    )
    rows: list[dict[str, Any]] = []
    for name in args.models or models.LIGHT_MODELS:
        row = planned(name)
        row["ratio"] = row["arena"] / row["least"] if row["least"] else 1.0
        rows.append(row)
        sizes = "".join(f"{row[n] / 1e6:>9.2f}" for n in ("all", "least", "arena"))
        weights = f"{row['weights'] / 1e6:>9.1f}"
        print(f"{name:<16}{row['buffers']:>8}{row['in_place']:>9}{sizes}{row['ratio']:>7.2f}{weights}", flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["ratio"] <= GOAL for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
