"""A profile of the compiler itself: where the time of a compilation goes, by stage and by pass.

    python bench/compile_time.py [MODEL...] [--threads 2] [--passes 8] [--calls 10] [--json FILE]

For each model a process compiles it without any cache: seconds on the clock and processor seconds of the main thread,
for each pass, for what lies between passes (modules that are loaded, above all), before the first and after the last:
the rows add up to the time from the start of Python to a program that runs. Passes below te are those of a copy of the
process, which says nothing of the processor's time; the weights are packed meanwhile. Beside them processor seconds of
the whole process and of all others, and the peak of memory. A second process takes the program from the cache and
a third a saved one, both timed from before the import of the package. With `--calls` another counts calls of Python
functions, which a busy machine does not change, and shows the dearest ones.

Python's own bytecode is kept in a folder of the run and made before anything is timed, as it is for an installed
package, also where the environment says PYTHONDONTWRITEBYTECODE: to compile our modules takes another second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STAGES = {
    "start Python": ("start-python",),
    "load the package": ("load-package",),
    "between passes": ("between",),
    "import": ("import",),
    "graph": ("relay-", "cpu-"),
    "te": ("relay-to-te", "cpu-schedule"),
    "te to tir": ("te-to-tir",),
    "tir": ("tir-",),
    "tir to llvm": ("tir-to-llvm",),
    "text": ("emit-llvm",),
    "weights": ("pack-weights",),
    "wait for LLVM": ("llvm-codegen",),
    "link": ("link",),
}
"""The stages by what the names of their steps begin with; the longest beginning that fits counts."""


def stage_of(step: str) -> str:
    """The stage that a step belongs to."""
    fitting = [(len(start), stage) for stage, starts in STAGES.items() for start in starts if step.startswith(start)]
    return max(fitting)[1] if fitting else "other"


def cold(path: str, threads: int, started: float) -> dict[str, Any]:
    """The steps of a compilation in this process, which has imported nothing yet; Python was started at `started`."""
    clock, cpu = started, 0.0
    steps: list[list[Any]] = []

    def add(name: str, seconds: float, own: float, note: str = "") -> None:
        steps.append([name, seconds, own, note])

    def until_now(name: str) -> None:
        nonlocal clock, cpu
        now, used = perf_counter(), thread_time()
        add(name, now - clock, used - cpu)
        clock, cpu = now, used

    def progress(name: str, seconds: float, note: str) -> None:
        nonlocal clock, cpu
        now, used = perf_counter(), thread_time()
        gap = now - clock - seconds
        # Steps of other processes are reported when all of them are over, that of texts after the one that it is part
        # of: the time before the first of them was theirs.
        for before in reversed(steps):
            if gap >= 0:
                break
            if before[0].startswith("between"):
                taken = min(before[1], -gap)
                before[1], gap = before[1] - taken, gap + taken
        # The processor's time is that of the step as far as the clock allows it, the rest of the gap before it.
        own = min(used - cpu, seconds)
        add(f"between {name}", max(gap, 0.0), used - cpu - own)
        add(name, seconds, own, note)
        clock, cpu = now, used

    until_now("start-python")
    import lamina

    compile_ = lamina.compile
    until_now("load-package")
    exe = compile_(path, threads=threads, cache=False, progress=progress)
    until_now("link")
    wall, main_cpu = perf_counter() - started, thread_time()
    times = os.times()
    exe.save(path + ".lamina")
    # A pass that runs twice is one row.
    rows: dict[str, list[float]] = {}
    for name, seconds, own, _ in steps:
        row = rows.setdefault(name, [0.0, 0.0, 0])
        row[0], row[1], row[2] = row[0] + seconds, row[1] + own, row[2] + 1
    return {
        "wall": wall,
        "main_cpu": main_cpu,
        "process_cpu": process_time(),
        "workers_cpu": times.children_user + times.children_system,
        "peak_mb": peak_mb(),
        "notes": {name: note for name, _, _, note in steps if note},
        "steps": {name: {"wall": w, "cpu": c, "times": n} for name, (w, c, n) in rows.items()},
    }


def again(path: str, threads: int) -> dict[str, Any]:
    """The time to a program that is in the cache, or a saved one."""
    begin = perf_counter()
    import lamina

    if path.endswith(".lamina"):
        lamina.Executable.load(path)
    else:
        exe = lamina.compile(path, threads=threads)
        if not exe.cached:
            return {}
    return {"wall": perf_counter() - begin, "cpu": process_time(), "peak_mb": peak_mb()}


def calls(path: str, threads: int, top: int) -> dict[str, Any]:
    """The number of Python calls of a compilation, and the functions with the most time of their own."""
    import cProfile
    import pstats

    import lamina

    profile = cProfile.Profile()
    profile.runcall(lamina.compile, path, threads=threads, cache=False)
    found: Any = pstats.Stats(profile)
    dearest = sorted(found.stats.items(), key=lambda item: -item[1][2])[:top]
    rows = [
        {"function": f"{Path(file).name}:{line} {name}", "calls": row[1], "own_s": row[2], "all_s": row[3]}
        for (file, line, name), row in dearest
    ]
    return {"calls": found.total_calls, "dearest": rows}


def peak_mb() -> float:
    from lamina.measure.timing import peak_memory

    return peak_memory() / 1e6


def _fresh(kind: str, path: str, threads: int, cache: str, top: int = 0) -> dict[str, Any]:
    """A figure that needs a process of its own."""
    # The clock of a process is that of its children: it counts from the start of the machine.
    words = [sys.executable, __file__, "--figure", kind, path, str(threads), str(top), str(perf_counter())]
    environment = {**os.environ, "LAMINA_CACHE_DIR": cache, "LAMINA_CACHE": "", "PYTHONDONTWRITEBYTECODE": ""}
    environment["PYTHONPYCACHEPREFIX"] = str(Path(cache).parent / "bytecode")
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def profile_of(name: str, threads: int, top: int) -> dict[str, Any]:
    """Everything about one model."""
    with tempfile.TemporaryDirectory() as folder:
        path, cache = _written(name, folder), str(Path(folder) / "cache")
        _fresh("again", path, threads, cache)  # stores it, and leaves bytecode
        found: dict[str, Any] = {"model": name, "threads": threads, "cold": _fresh("cold", path, threads, cache)}
        found["cached"] = _fresh("again", path, threads, cache)
        found["saved"] = _fresh("again", path + ".lamina", threads, cache)
        if top:
            found["python"] = _fresh("calls", path, threads, cache, top)
    return found


def _written(name: str, folder: str) -> str:
    """The path of a model: as given, or one of the light models written into a folder."""
    if name.endswith(".onnx"):
        return str(Path(name).resolve())
    sys.path.insert(0, str(ROOT / "test"))
    import models

    path = Path(folder) / f"{name}.onnx"
    proto = models.encoder_block() if name == "encoder_block" else models.light_model(name)
    path.write_bytes(proto.SerializeToString())
    return str(path)


def show(found: dict[str, Any], passes: int) -> None:
    """The profile of one model as a table."""
    whole = found["cold"]
    print(
        f"{found['model']}: {whole['wall']:.2f} s cold, {found['cached']['wall']:.2f} s cached, "
        f"{found['saved']['wall']:.2f} s saved; processor {whole['process_cpu']:.2f} s here, "
        f"{whole['workers_cpu']:.2f} s in others; peak without them {whole['peak_mb']:.0f} MB, "
        f"cached {found['cached']['peak_mb']:.0f} MB"
    )
    stages: dict[str, list[float]] = {stage: [0.0, 0.0] for stage in STAGES}
    for name, row in whole["steps"].items():
        stage = stages.setdefault(stage_of(name), [0.0, 0.0])
        stage[0], stage[1] = stage[0] + row["wall"], stage[1] + row["cpu"]
    print(f"  {'stage':<28}{'s':>8}{'cpu s':>8}")
    for name, (wall, cpu) in stages.items():
        print(f"  {name:<28}{wall:>8.3f}{cpu:>8.3f}")
    print(f"  {'all':<28}{whole['wall']:>8.3f}{whole['main_cpu']:>8.3f}")
    dearest = sorted(whole["steps"].items(), key=lambda item: -item[1]["cpu"])[:passes]
    if dearest:
        print(f"  {'pass':<28}{'s':>8}{'cpu s':>8}")
    for name, row in dearest:
        print(f"  {name:<28}{row['wall']:>8.3f}{row['cpu']:>8.3f}  {whole['notes'].get(name, '')}")
    if "python" in found:
        print(f"  {found['python']['calls'] / 1e6:.2f} million calls")
        for row in found["python"]["dearest"]:
            print(f"  {row['own_s']:>8.3f} s in {row['calls']:>8} calls of {row['function']}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["resnet50"], help="light models, encoder_block, or .onnx files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--passes", type=int, default=8, help="how many passes to show")
    parser.add_argument("--calls", type=int, default=0, metavar="N", help="count calls, show the N dearest functions")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--figure", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.figure:
        kind, path, threads, top, started = args.figure
        given: list[Any] = [path, int(threads), *{"calls": [int(top)], "cold": [float(started)]}.get(kind, [])]
        print(json.dumps({"cold": cold, "again": again, "calls": calls}[kind](*given)))
        return 0
    rows: list[dict[str, Any]] = []
    for name in args.models:
        rows.append(profile_of(name, args.threads, args.calls))
        show(rows[-1], args.passes)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
