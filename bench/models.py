"""The nine light models against onnxruntime: run time by turns, compile time cold and cached, peak memory.

    python bench/models.py [MODEL...] [--threads 1] [--seconds 5] [--json FILE]

Each model has a process of its own, so that the peak memory is its own. Weights and inputs are random.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))


def measure(name: str, threads: int, seconds: float, opt_level: int) -> dict[str, Any]:
    """Everything about one model, in this process."""
    import models

    import lamina
    from lamina.measure import compare, largest_difference, onnxruntime_session, random_inputs

    found: dict[str, Any] = {"model": name, "threads": threads, "opt_level": opt_level}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.onnx"
        proto = models.encoder_block() if name == "encoder_block" else models.light_model(name)
        path.write_bytes(proto.SerializeToString())
        weights = path.stat().st_size
        found["weights_mb"] = weights / 1e6
        logits = models.before_softmax(proto)
        opened = models.with_extra_outputs(proto, [logits]).SerializeToString()
        del proto
        before = _peak()
        start = perf_counter()
        exe = lamina.compile(path, threads=threads, opt_level=opt_level)
        found["cold_s"] = perf_counter() - start
        # The peak of this process, less what it took to make the model, and of the largest compile worker.
        found["peak_mb"] = _peak() / 1e6
        found["peak_before_mb"] = before / 1e6
        found["cached_s"] = float(_in_process("cached", str(path), str(threads), str(opt_level)))
        found["compile_peak_mb"] = float(_in_process("peak", str(path), str(threads), str(opt_level)))
        inputs = random_inputs(exe.inputs)
        result = compare(exe.run, onnxruntime_session(str(path), threads), inputs, seconds=seconds, warmup=3)
        for side, figures in (("lamina", result.ours), ("onnxruntime", result.theirs)):
            found[side] = {"median": figures.median, "p10": figures.p10, "p90": figures.p90, "n": len(figures.times)}
        found["ratio"] = result.ratio
        expected = onnxruntime_session(opened, threads).run([logits], inputs)[0]
        ours = lamina.compile(opened, threads=threads, opt_level=opt_level).run(inputs)[logits]
        found["difference"] = largest_difference(ours, expected)
    return found


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if sys.platform != "darwin" else 1)


def _in_process(*words: str) -> str:
    """A figure that needs a fresh process."""
    done = subprocess.run([sys.executable, __file__, "--figure", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def figure(kind: str, path: str, threads: str, opt_level: str) -> float:
    """`cached`: seconds to a ready program from the cache; `peak`: megabytes of a compilation without it."""
    import lamina

    start = perf_counter()
    exe = lamina.compile(path, threads=int(threads), opt_level=int(opt_level), cache=kind == "cached")
    if kind == "cached":
        assert exe.cached
        return perf_counter() - start
    return _peak() / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--opt-level", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--figure", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.figure:
        print(figure(*args.figure))
        return 0
    if args.one:
        print(json.dumps(measure(args.one, args.threads, args.seconds, args.opt_level)))
        return 0
    import models

    unknown = [m for m in args.models if m not in models.LIGHT_MODELS]
    if unknown:
        parser.error(f"no model {unknown[0]!r}; there are {', '.join(models.LIGHT_MODELS)}")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "LAMINA_CACHE_DIR": cache}
        head = ("model", "lamina ms", "onnxruntime ms", "ratio", "cold s", "cached s", "peak MB", "weights MB", "diff")
        print("{:<15}{:>26}{:>26}{:>8}{:>8}{:>10}{:>9}{:>12}{:>9}".format(*head), flush=True)
        for name in args.models or models.LIGHT_MODELS:
            words = [sys.executable, __file__, "--one", name, "--threads", str(args.threads)]
            words += ["--seconds", str(args.seconds), "--opt-level", str(args.opt_level)]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False, env=environment)
            if done.returncode:
                print(f"{name:<15}failed", flush=True)
                continue
            row = json.loads(done.stdout.splitlines()[-1])
            rows.append(row)
            times = [
                "{median:.2f} [{p10:.2f} .. {p90:.2f}]".format(**_in_ms(row[s])) for s in ("lamina", "onnxruntime")
            ]
            print(
                f"{name:<15}{times[0]:>26}{times[1]:>26}{row['ratio']:>8.3f}{row['cold_s']:>8.1f}{row['cached_s']:>10.2f}"
                f"{row['compile_peak_mb']:>9.0f}{row['weights_mb']:>12.0f}{row['difference']:>9.0e}",
                flush=True,
            )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if len(rows) == len(args.models or models.LIGHT_MODELS) else 1


def _in_ms(figures: dict[str, float]) -> dict[str, float]:
    return {k: v * 1e3 for k, v in figures.items()}


if __name__ == "__main__":
    sys.exit(main())
