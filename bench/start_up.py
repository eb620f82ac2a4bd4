"""Start-up and compile times of two builds by turns: what a change costs who runs a command.

    python bench/start_up.py COMMIT [NAME...] [--rounds 9] [--json FILE]

Each command runs in a process of its own with the files of the commit (old) and of this checkout (new), one after the
other, the first turn going to one and the other; its time is the processor's, with that of its children. A round that
nobody counts comes first and writes Python's byte code. The ratio is old over new with Student's 95 % interval over the
rounds: above 1 the new build is faster.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

from against import BuildError, files_of, ratio_of
from zoo import ZOO

ROOT = Path(__file__).resolve().parents[1]
LAMINA = "import sys; from lamina.cli import main; sys.exit(main())"
OPT_TOOL = "import sys; from lamina.opt_tool import main; sys.exit(main())"
RELU = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.nn.relu %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands by their names, words that follow `python -P -c`; their files are written into a folder."""
    relu = folder / "relu.mlir"
    relu.write_text(RELU)
    model = folder / "net.onnx"
    model.write_bytes(ZOO["efficientnet_b0"]().SerializeToString())
    lowered = folder / "lowered.mlir"
    subprocess.run(
        [sys.executable, "-m", "lamina.cli", "compile", str(model), "--emit", "tir", "-o", str(lowered)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True,
    )  # fmt: skip
    return {
        "import": ["import lamina"],
        "opt-tool of a relu": [OPT_TOOL, str(relu)],
        "a relu to te": [OPT_TOOL, str(relu), "-p", "relay-fuse-ops,relay-to-te"],
        "a relu compiled": [LAMINA, "compile", str(relu), "-o", str(folder / "relu.lamina")],
        "opt-tool of efficientnet_b0's tir": [OPT_TOOL, str(lowered)],
        "efficientnet_b0 compiled": [LAMINA, "compile", str(model), "-o", str(folder / "net.lamina")],
    }


def seconds_of(words: Sequence[str], root: Path, cache: Path) -> float:
    """Seconds of the processor that a command takes with the files of a build. Raises BuildError where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(root), "LAMINA_CACHE": "off", "LAMINA_PROGRESS": "off"}
    environment |= {"PYTHONPYCACHEPREFIX": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = getrusage(RUSAGE_CHILDREN)
    ran = subprocess.run([sys.executable, "-P", "-c", *words], env=environment, capture_output=True, text=True)
    after = getrusage(RUSAGE_CHILDREN)
    if ran.returncode:
        raise BuildError(f"{' '.join(words[1:])} in {root}: {ran.stderr.strip()[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the old build")
    parser.add_argument("names", nargs="*", metavar="NAME", help="commands (default: all)")
    parser.add_argument("--rounds", type=int, default=9, help="of each command (default: 9)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the ratios")
    args = parser.parse_args()
    rows: list[dict[str, object]] = []
    with TemporaryDirectory(prefix="start-up-") as name, files_of(args.commit) as old:
        folder = Path(name)
        builds = {"old": old, "new": ROOT}
        known = commands(folder)
        if unknown := set(args.names) - set(known):
            parser.error(f"no command {sorted(unknown)[0]!r}; there are {', '.join(known)}")
        print(f"{'command':<30}{'old s':>8}{'new s':>8}{'ratio old/new':>26}", flush=True)
        for command, words in known.items():
            if args.names and command not in args.names:
                continue
            times: dict[str, list[float]] = {build: [] for build in builds}
            try:
                for turn in range(-1, args.rounds):
                    for build in sorted(builds, reverse=bool(turn % 2)):
                        taken = seconds_of(words, builds[build], folder / build)
                        if turn >= 0:
                            times[build].append(taken)
            except BuildError as error:
                print(f"{command:<30}failed: {error}", flush=True)
                continue
            ratio = ratio_of([math.log(a / b) for a, b in zip(times["old"], times["new"], strict=True)])
            middle = {build: median(t) for build, t in times.items()}
            rows.append({"command": command, "against": args.commit, **ratio._asdict(), **middle})
            print(f"{command:<30}{middle['old']:>8.2f}{middle['new']:>8.2f}{ratio!s:>26}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
