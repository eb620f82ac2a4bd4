"""Models against onnxruntime and OpenVINO: run time by turns, compile time cold and cached, peak memory.

    python bench/models.py [MODEL...] [--threads 1 2] [--seconds 6] [--json FILE] [--results]
    python bench/models.py [MODEL...] --against COMMIT [--threads 1 2] [--seconds 20] [--pairs 5] [--json FILE]

The models are onnx's nine light ones, those of `zoo.py` and of `quantised.py`, with random weights and inputs. Each has
a process of its own. `peak MB` is the most that a compilation holds at once, its copies and workers included; pages
that they share count once (`process_memory.py`). The ratio is the best peer's median over ours: above 1 we are faster.
OpenVINO takes part where it is installed (`pip install -r bench/requirements.txt`) and reads the model.

`--results` writes `bench/results/PROCESSOR/DATE.json`, from which `python -m tools.results` makes the README's tables.

With `--against` two builds of Lamina run by turns instead, this checkout and a commit: `ratio` is the commit's time
over ours with its 95 % interval, for each model and as the geometric mean of all. `against.py` says how.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from model_set import drawn_inputs, model_names, model_proto, processor_name

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))


def measure(name: str, threads: int, seconds: float, opt_level: int, clock: str) -> dict[str, Any]:
    """Everything about one model, in this process."""
    import models
    from one_build import CLOCKS
    from peers import PEERS, Array, Run, by_turns, installed_peers
    from process_memory import peak_of

    import lamina
    from lamina.measure.timing import largest_difference, peak_memory

    found: dict[str, Any] = {"model": name, "threads": threads, "opt_level": opt_level, "clock": clock}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.onnx"
        proto = model_proto(name)
        path.write_bytes(proto.SerializeToString())
        found["weights_mb"] = path.stat().st_size / 1e6
        # Behind a softmax over random logits all outputs are nearly 0 or 1: what goes into it is compared.
        logits, opened = models.before_softmax(proto), path
        if logits != proto.graph.output[0].name:
            opened = Path(folder) / "opened.onnx"
            opened.write_bytes(models.with_extra_outputs(proto, [logits]).SerializeToString())
        del proto
        # Also makes Python's bytecode, as there is of an installed package, before a compilation is timed.
        peak, own = peak_of([sys.executable, __file__, "--figure", "peak", str(path), str(threads), str(opt_level)])
        found["compile_peak_mb"] = max(peak / 1e6, float(own))
        before = peak_memory()
        start = perf_counter()
        exe = lamina.compile(path, threads=threads, opt_level=opt_level)
        found["cold_s"] = perf_counter() - start
        # Of this process alone, and what of it was there before.
        found["peak_mb"] = peak_memory() / 1e6
        found["peak_before_mb"] = before / 1e6
        found["cached_s"] = float(_in_process("cached", str(path), str(threads), str(opt_level)))
        inputs = drawn_inputs(exe.inputs)
        peers: dict[str, Run] = {}
        found["refused"] = {}
        for peer in installed_peers():
            try:
                peers[peer] = PEERS[peer](str(path), threads)
            except Exception as error:  # whatever it raises for what it cannot run
                found["refused"][peer] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

        def lamina_run(given: Mapping[str, Array]) -> Sequence[Array]:
            return list(exe.run(given).values())

        times = by_turns({"lamina": lamina_run, **peers}, inputs, seconds, CLOCKS[clock])
        for engine, figures in times.items():
            found[engine] = {"median": figures.median, "p10": figures.p10, "p90": figures.p90, "n": len(figures.times)}
        found["peer"] = min(peers, key=lambda peer: times[peer].median)
        found["ratio"] = times[found["peer"]].median / times["lamina"].median
        names = list(peers)
        peers.clear()
        ours = lamina.compile(opened, threads=threads, opt_level=opt_level).run(inputs)
        position = list(ours).index(logits)
        found["difference"] = {
            peer: largest_difference(ours[logits], PEERS[peer](str(opened), threads)(inputs)[position])
            for peer in names
        }
    return found


def _in_process(*words: str) -> str:
    """A figure that needs a fresh process."""
    done = subprocess.run([sys.executable, __file__, "--figure", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def figure(kind: str, path: str, threads: str, opt_level: str) -> float:
    """`cached`: seconds to a ready program from the cache; `peak`: megabytes of a compilation without it, of this
    process alone."""
    start = perf_counter()
    import lamina

    exe = lamina.compile(path, threads=int(threads), opt_level=int(opt_level), cache=kind == "cached")
    if kind == "cached":
        assert exe.cached
        return perf_counter() - start
    from lamina.measure.timing import peak_memory

    return peak_memory() / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, help="for one model (default: 6, with --against 20)")
    parser.add_argument("--opt-level", type=int, default=3)
    parser.add_argument(
        "--clock",
        choices=("wall", "thread", "process"),
        default="wall",
        help="thread: for one thread on a busy machine",
    )
    parser.add_argument("--against", metavar="COMMIT", help="compare this checkout with a commit, by turns")
    parser.add_argument("--pairs", type=int, default=5, help="of processes for a model, with --against (default: 5)")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--results", action="store_true", help="write them into bench/results")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--figure", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.seconds = args.seconds or (20.0 if args.against else 6.0)
    if args.figure:
        print(figure(*args.figure))
        return 0
    if args.one:
        print(json.dumps(measure(args.one, args.threads[0], args.seconds, args.opt_level, args.clock)))
        return 0
    known = model_names()
    unknown = [m for m in args.models if m not in known]
    if unknown:
        parser.error(f"no model {unknown[0]!r}; there are {', '.join(known)}")
    names = args.models or known
    if args.against:
        if args.pairs < 2:
            parser.error("--pairs is at least 2: one says nothing of its spread")
        return against(names, args, parser)
    rows = [row for threads in args.threads for row in table(names, threads, args)]
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    if args.results:
        print(write_results(rows))
    return 0 if len(rows) == len(names) * len(args.threads) else 1


def table(names: list[str], threads: int, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure and print; the rows of the models that ran."""
    from peers import installed_peers

    engines = ["lamina", *installed_peers()]
    if len(engines) < 3:
        print("openvino is not installed: pip install -r bench/requirements.txt")
    head = ["model", *(f"{engine} ms" for engine in engines), "ratio", "cold s", "cached s", "peak MB", "MB", "diff"]
    form = "{:<16}" + "{:>24}" * len(engines) + "{:>7}{:>8}{:>9}{:>9}{:>6}{:>9}"
    print(f"{threads} thread{'s' * (threads > 1)}")
    print(form.format(*head), flush=True)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            words = [sys.executable, __file__, "--one", name, "--threads", str(threads), "--clock", args.clock]
            words += ["--seconds", str(args.seconds), "--opt-level", str(args.opt_level)]
            environment = {**os.environ, "LAMINA_CACHE_DIR": f"{cache}/{name}"}
            environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{cache}/bytecode"}
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False, env=environment)
            if done.returncode:
                print(f"{name:<16}failed", flush=True)
                continue
            row = json.loads(done.stdout.splitlines()[-1])
            rows.append(row)
            print(
                form.format(
                    name,
                    *(_times(row[e]) if e in row else "refused" for e in engines),
                    f"{row['ratio']:.3f}",
                    f"{row['cold_s']:.1f}",
                    f"{row['cached_s']:.2f}",
                    f"{row['compile_peak_mb']:.0f}",
                    f"{row['weights_mb']:.0f}",
                    f"{max(row['difference'].values()):.0e}",
                ),
                flush=True,
            )
    if len(rows) > 1:
        mean = float(np.exp(np.mean([np.log(row["ratio"]) for row in rows])))
        print(f"geometric mean of the ratios: {mean:.3f} ({len(rows)} models)", flush=True)
    return rows


def against(names: list[str], args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Compare with a commit and print; the exit status."""
    from against import BuildError, files_of

    rows: list[dict[str, Any]] = []
    try:
        with files_of(args.against) as old:
            for threads in args.threads:
                rows += against_table(names, {"old": old, "new": ROOT}, threads, args)
    except BuildError as error:
        parser.error(f"--against: {error}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if len(rows) == len(names) * len(args.threads) else 1


def against_table(
    names: list[str], builds: dict[str, Path], threads: int, args: argparse.Namespace
) -> list[dict[str, Any]]:
    """Measure two builds and print; the rows of the models that both ran."""
    from against import BuildError, Opening, compared, mean_ratio, ratio_of

    import lamina

    form = "{:<16}{:>10}{:>10}{:>26}{:>8}{:>9}"
    print(f"{threads} thread{'s' * (threads > 1)}: {args.against} (old) and this checkout (new), {args.pairs} pairs")
    print(form.format("model", "old ms", "new ms", "ratio old/new", "rounds", "diff"))
    rows: list[dict[str, Any]] = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            model, inputs = Path(folder) / f"{name}.onnx", Path(folder) / "inputs.npz"
            model.write_bytes(model_proto(name).SerializeToString())
            arrays = drawn_inputs(lamina.load(model).inputs)
            np.savez(inputs, *arrays.values())
            opening = Opening(str(model), str(inputs), list(arrays), threads, args.opt_level, args.clock)
            try:
                found = compared(builds, opening, Path(folder) / "builds", args.seconds, args.pairs)
            except BuildError as error:
                print(f"{name:<16}failed: {error}", flush=True)
                continue
        ratio = ratio_of(found["logs"])
        rows.append({"model": name, "threads": threads, "against": args.against, **ratio._asdict(), **found})
        times = (f"{found[build] * 1e3:.2f}" for build in ("old", "new"))
        print(form.format(name, *times, str(ratio), found["rounds"], f"{found['difference']:.0e}"), flush=True)
    if len(rows) > 1:
        mean = mean_ratio([row["logs"] for row in rows])
        print(f"geometric mean of the ratios: {mean} ({len(rows)} models)", flush=True)
    return rows


def _times(figures: dict[str, float]) -> str:
    return "{median:.2f} [{p10:.2f} .. {p90:.2f}]".format(**{k: v * 1e3 for k, v in figures.items()})


def write_results(rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows of the tables into the file of this processor and day: its path."""
    from peers import installed_peers

    from lamina.backends.cpu.jit import host_target

    cpu = host_target(1).cpu.data
    versions = {name: metadata.version(name) for name in ("lamina", "llvmlite", *installed_peers())}
    said = {"cpu": cpu, "processor": processor_name(), "date": date.today().isoformat(), "versions": versions}
    path = ROOT / "bench" / "results" / cpu / f"{said['date']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ",\n".join(json.dumps(row) for row in rows)
    path.write_text(json.dumps(said, indent=1)[:-2] + f',\n "rows": [\n{text}\n]}}\n', "utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
