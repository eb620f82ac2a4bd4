"""Exported libraries against the program in this process: outputs, time by turns, sizes, load time and memory.

    python bench/deploy.py [MODEL ...] [--threads N] [--rounds N] [--json FILE]

Each model is exported and run by `examples/deploy/c/run_net.c`, which `cc` compiles. Outputs must be equal to the bit
(exit status 1 otherwise). A round is some runs of the C program, then as many here; a ratio is C's median over ours.
Memory is the most that the C program had resident, beyond its weights, the arena, and its inputs and outputs.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
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

from model_set import drawn_inputs, model_names, model_proto, processor_name

import lamina

ROOT = Path(__file__).resolve().parents[1]
LIKELY_SECONDS = 0.5
"""A round's runs take about so long on each side."""
FEWEST_RUNS = 11
"""In a round: the first ones of a new process map the weights, and are not to be its median."""


def program(folder: Path) -> Path:
    """The C program, compiled."""
    made = folder / "run_net"
    header, source = ROOT / "lamina" / "runtime" / "include", ROOT / "examples" / "deploy" / "c" / "run_net.c"
    words = ["cc", "-O2", "-std=c11", "-D_GNU_SOURCE", "-I", str(header), str(source), "-o", str(made), "-ldl"]
    subprocess.run(words, check=True)
    return made


def run_c(words: list[str]) -> tuple[float, int]:
    """The median microseconds that the program prints, and the most bytes that it had resident."""
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    return float(said[1]), int(said[2]) * 1024


def written(exe: Any, path: Path, saved: Path) -> float:
    """Seconds that exporting takes beyond saving."""
    start = perf_counter()
    exe.export(path, "net")
    middle = perf_counter()
    exe.save(saved)
    return middle - start - (perf_counter() - middle)


def measured(name: str, folder: Path, c: Path, threads: int, rounds: int) -> dict[str, Any]:
    """One model's row."""
    exe = lamina.compile(model_proto(name), threads=threads)
    path, saved = folder / "net.so", folder / "net.lamina"
    written(exe, path, saved)  # from the second time on the run-time is compiled
    beyond = min(written(exe, path, saved) for _ in range(3))
    inputs = drawn_inputs(exe.inputs)
    expected = exe.run(inputs)
    files = [folder / f"{n}.raw" for n in range(len(exe.inputs) + len(exe.outputs))]
    for file, port in zip(files, exe.inputs, strict=False):
        np.ascontiguousarray(inputs[port.name]).tofile(file)
    words = [str(c), str(path), "net", str(threads)]
    once = statistics.median(_times(exe, inputs, 3))
    count = max(FEWEST_RUNS, min(2000, int(LIKELY_SECONDS / once)))
    ratios: list[float] = []
    resident = 0
    for _ in range(rounds):
        theirs, resident = run_c([*words, str(count), *map(str, files)])
        ours = statistics.median(_times(exe, inputs, count))
        ratios.append(theirs / 1e6 / ours)
    found = [np.fromfile(f, np.uint8) for f in files[len(exe.inputs) :]]
    same = all(f.tobytes() == np.ascontiguousarray(e).tobytes() for f, e in zip(found, expected.values(), strict=True))
    start = perf_counter()
    ctypes.CDLL(str(path))
    loaded = perf_counter() - start
    size, memory = path.stat().st_size, exe.memory
    ports = sum(f.stat().st_size for f in files)
    return {
        "model": name,
        "same": same,
        "ratio": exp(statistics.fmean(map(log, ratios))),
        "least": min(ratios),
        "most": max(ratios),
        "export_ms_beyond_save": 1e3 * beyond,
        "load_ms": 1e3 * loaded,
        "code_kb": (size - memory.weights) / 1e3,
        "file_by_weights": size / max(memory.weights, 1),
        "resident_mb_beyond": (resident - memory.weights - memory.arena - ports) / 1e6,
    }


def _times(exe: Any, inputs: Any, count: int) -> list[float]:
    times: list[float] = []
    for _ in range(count):
        start = perf_counter()
        exe.run(inputs)
        times.append(perf_counter() - start)
    return times


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="by default all of bench/models.py")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each side (default: 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{processor_name()}, threads={args.threads}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        c = program(folder)
        os.environ["PATH"] = ""  # from here on there is no compiler and no linker
        for model in args.models or model_names():
            row = measured(model, folder, c, args.threads, args.rounds)
            rows.append(row)
            print(
                f"{model:18}{'same' if row['same'] else 'WRONG':>6}  C / here {row['ratio']:.3f} "
                f"[{row['least']:.3f}, {row['most']:.3f}]  export {row['export_ms_beyond_save']:+.0f} ms beyond save  "
                f"load {row['load_ms']:.2f} ms  code {row['code_kb']:.0f} KB  "
                f"file {row['file_by_weights']:.4f} of weights  memory {row['resident_mb_beyond']:+.1f} MB",
                flush=True,
            )
    mean = exp(statistics.fmean(log(r["ratio"]) for r in rows))
    print(f"{len(rows)} models: geometric mean {mean:.3f}, most {max(r['ratio'] for r in rows):.3f}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(r["same"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
