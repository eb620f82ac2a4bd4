"""Exported modules of WebAssembly against onnxruntime-web in the same node, one thread each, by turns.

    npm install --prefix FOLDER onnxruntime-web
    python bench/wasm.py FOLDER [MODEL ...] [--rounds N] [--seconds S] [--json FILE]

A round is some runs of the one, then some of the other, and a ratio is the median of theirs over ours: above 1 we are
faster. On a machine with other work processor time is the steadier one; what engines do on other threads counts in it.
Outputs must agree within 1e-4 of the largest (exit status 1 otherwise).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from math import exp, log
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from model_set import drawn_inputs, model_proto, processor_name

import lamina
from lamina.runtime.exported import read_net

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("squeezenet", "shufflenet", "mobilenet_v2", "resnet50")
TOLERANCE = 1e-4


def measured(name: str, peer: Path, folder: Path, rounds: int, seconds: float) -> dict[str, Any]:
    """One model's row."""
    proto = model_proto(name)
    module, model = folder / "net.wasm", folder / "net.onnx"
    model.write_bytes(proto.SerializeToString())
    start = perf_counter()
    lamina.export(model, module, cache=False)
    made = perf_counter() - start
    net = read_net(module)
    files: list[str] = []
    for n, array in enumerate(drawn_inputs(net.inputs).values()):
        files.append(str(folder / f"{n}.raw"))
        np.ascontiguousarray(array).tofile(files[-1])
    script, runner = ROOT / "bench" / "wasm.mjs", ROOT / "examples" / "deploy" / "wasm" / "run_net.mjs"
    words = ["node", str(script), str(peer), str(runner), str(module), str(model), str(rounds), str(seconds), *files]
    said = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    ratios, busy = (
        [theirs / ours for ours, theirs in zip(said[what]["lamina"], said[what]["ort"], strict=True)]
        for what in ("times", "busy")
    )
    return {
        "model": name,
        "onnxruntime-web": said["version"],
        "same": said["difference"] <= TOLERANCE * max(said["largest"], 1),
        "difference": said["difference"],
        "lamina_ms": statistics.median(said["times"]["lamina"]),
        "ort_ms": statistics.median(said["times"]["ort"]),
        "ratio": _mean(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "busy_ratio": _mean(busy),
        "busy_least": min(busy),
        "busy_most": max(busy),
        "export_s": made,
        "code_kb": net.code_bytes / 1e3,
        "weights_mb": net.weight_bytes / 1e6,
    }


def _mean(ratios: list[float]) -> float:
    return exp(statistics.fmean(map(log, ratios)))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", type=Path, metavar="FOLDER", help="where onnxruntime-web is installed")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"by default {', '.join(MODELS)}")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="turns of each side (default: 7)")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="of a turn, about (default: 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{processor_name()}, one thread")
    for name in args.models or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            row = measured(name, args.peer.resolve(), Path(folder), args.rounds, args.seconds)
        rows.append(row)
        print(
            f"{name:<16}{row['ratio']:5.2f}x ({row['least']:.2f} to {row['most']:.2f})  of processor time "
            f"{row['busy_ratio']:.2f}x ({row['busy_least']:.2f} to {row['busy_most']:.2f})  "
            f"ours {row['lamina_ms']:.1f} ms  theirs {row['ort_ms']:.1f} ms  "
            f"{'' if row['same'] else 'DIFFERS '}by {row['difference']:.1e}  code {row['code_kb']:.0f} kB",
            flush=True,
        )
        if args.json is not None:
            args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["same"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
