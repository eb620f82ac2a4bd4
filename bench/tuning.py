"""Models tuned for some minutes each; what was found by turns with the default, in a process of its own.

    python bench/tuning.py [MODEL...] [--minutes 5] [--target x86-64-v3] [--threads 1] [--tuner model]
                           [--records FOLDER] [--json FILE]

`tuned / default` is the time of a run with the records over that without, the median of 61 pairs with its 95 %
interval; below 1 the search has gained. `a minute` are candidates that were built, run and checked, refused ones not
counted. The records stay in the folder: with `--minutes 0` they are compared again.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MODELS = (
    *("resnet50", "squeezenet", "densenet121", "inception_v2", "shufflenet"),
    *("mobilenet_v2", "efficientnet_b0", "bert_base", "vit_b16", "unet"),
)
ROUNDS = 61


def tune(name: str, path: str, records: str, minutes: float, target: str, threads: int, tuner: str) -> None:
    """Search, and add to the records."""
    from model_set import drawn_inputs

    import lamina
    from lamina.tuning.kernel_search import Budget
    from lamina.tuning.model_search import tune_model

    model = lamina.load(path)
    found = tune_model(
        model, records, Budget(60 * minutes), target, threads, inputs=drawn_inputs(model.inputs), tuner=tuner
    )
    print(f"{name}\n{found}", file=sys.stderr, flush=True)


def compare(path: str, records: str, target: str, threads: int) -> dict[str, Any]:
    """The model with the records by turns with the default."""
    from model_set import drawn_inputs

    import lamina
    from lamina.measure.timing import largest_difference
    from lamina.tuning.model_search import by_turns

    plain = lamina.compile(path, target, threads=threads)
    tuned = lamina.compile(path, target, threads=threads, records=records)
    inputs = drawn_inputs(plain.inputs)
    pairs = zip(plain.run(inputs).values(), tuned.run(inputs).values(), strict=True)
    difference = max(largest_difference(a, b) for a, b in pairs)
    ratio, seconds = by_turns(plain, tuned, inputs, ROUNDS)
    return {"ratio": ratio, "seconds": seconds, "difference": difference}


def row(name: str, args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Tune one model, then compare, each in a process of its own."""
    from model_set import model_proto

    from lamina.dialects.schedule.records import best_records, read_records

    records = folder / f"{name}.jsonl"
    with tempfile.TemporaryDirectory() as models:
        path = Path(models) / f"{name}.onnx"
        path.write_bytes(model_proto(name).SerializeToString())
        words = [str(path), str(records), args.target, str(args.threads)]
        if args.minutes > 0:
            step = ["--step", "tune", name, *words, str(args.minutes), args.tuner]
            subprocess.run([sys.executable, __file__, *step], check=True)
        done = subprocess.run(
            [sys.executable, __file__, "--step", "compare", *words], check=True, capture_output=True, text=True
        )
    found, _ = read_records(records)
    refused = sum(r.error.startswith("refusal") for r in found)
    rest = [r for r in found if r.error and not r.error.startswith("refusal")]
    return {
        "model": name,
        **json.loads(done.stdout),
        "candidates": len(found) - refused,
        "refused": refused,
        "failed": sorted({r.error.partition(":")[0] for r in rest}),
        "gains": len(best_records(found)),
        "minutes": args.minutes,
    }


def main() -> int:
    """Print a row as soon as a model is done, and the geometric mean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tuner", default="model")
    parser.add_argument("--records", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--step", choices=("tune", "compare"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step == "tune":
        name, path, records, target, threads, minutes, tuner = args.models
        tune(name, path, records, float(minutes), target, int(threads), tuner)
        return 0
    if args.step == "compare":
        path, records, target, threads = args.models
        print(json.dumps(compare(path, records, target, int(threads))))
        return 0
    from model_set import processor_name

    folder = args.records or Path(tempfile.mkdtemp(prefix="lamina-records-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(
        f"{processor_name()}, target {args.target}, {args.threads} thread(s), tuner {args.tuner}; records in {folder}"
    )
    print(f"{'model':<20} {'tuned / default':<24} gains  a minute  refused  largest difference", flush=True)
    rows: list[dict[str, Any]] = []
    for name in args.models or MODELS:
        found = row(name, args, folder)
        rows.append(found)
        median, low, high = found["ratio"]
        pace = f"{found['candidates'] / found['minutes']:.0f}" if found["minutes"] else "-"
        said = f"{median:.3f} [{low:.3f}..{high:.3f}]"
        share = found["refused"] / max(found["candidates"] + found["refused"], 1)
        print(
            f"{name:<20} {said:<24} {found['gains']:>5}  {pace:>8}  {share:>7.0%}  {found['difference']:.1e} "
            f"{' '.join(found['failed'])}",
            flush=True,
        )
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1), "utf-8")
    mean = math.exp(sum(math.log(r["ratio"][0]) for r in rows) / len(rows))
    print(f"geometric mean of tuned / default {mean:.4f}, the default's time over it {1 / mean:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
