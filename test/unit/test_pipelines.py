"""Pipelines: those of the CPU stay as they are written down, and a target adds passes without a line elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest

from lamina.cli.command import run
from lamina.driver.pipelines import EXTERNAL, FUNCTIONS_AWAY, Pipeline, Step, steps_of, with_added
from lamina.errors import UsageError
from lamina.ir.pipeline import parse_pipeline, print_pipeline
from lamina.passes.added_pass import AddedPass
from lamina.transform import OPT_LEVELS

ROOT = Path(__file__).resolve().parents[2]
ROWS = (Path(__file__).parent / "cpu_pipelines.txt").read_text("utf-8").splitlines()
WRITTEN = dict(zip(ROWS[::2], ROWS[1::2], strict=True))
"""The pipeline by level and external backends."""


def printed(*words: str) -> str:
    out = StringIO()
    assert run(["compile", "--print-pipeline", *words], out, StringIO()) == 0
    return out.getvalue()


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("case", WRITTEN)
def test_pipelines_of_the_cpu_are_those_written_down(case: str, sanitize: bool) -> None:
    level, _, backends = case.partition(" ")
    words = ["--opt-level", level, "--target", f"{backends}, cpu" if backends else "cpu"]
    wanted = WRITTEN[case]
    if sanitize:
        words.append("--sanitize")
        wanted = wanted.replace(",tir-form-teams,", ",tir-sanitize,tir-form-teams,")
    assert printed(*words) == f"{wanted}\n"


def test_external_backends_are_named_in_their_order() -> None:
    both = printed("--target", "dnnl, openblas, cpu").strip()
    assert both == WRITTEN["3 openblas"].replace("=openblas", "=dnnl,openblas")


def test_all_levels_are_written_down() -> None:
    assert list(WRITTEN) == [f"{n}{more}" for n in OPT_LEVELS for more in ("", " openblas")]


def test_a_pipeline_runs_the_passes_that_it_prints() -> None:
    pipeline = Pipeline(3, sanitize=True)
    passes = [p for level in ("te", "tir", "llvm") for p in pipeline.passes(level)]
    assert print_pipeline(passes) == str(pipeline)
    assert passes == parse_pipeline(str(pipeline))
    assert pipeline.names() == [p.name for p in passes]


def test_every_pass_says_why_it_stands_there() -> None:
    for step in (s for part in (FUNCTIONS_AWAY, *steps_of("cpu")) for s in part):
        assert len(step.why) > 5, step.text
    assert {name for name, _ in EXTERNAL}.isdisjoint(steps_of("cpu").names()[5:])


# -- places --------------------------------------------------------------------------------------------------------

LIST = [Step(n, "") for n in ("a", "b", "c", "b")]


def placed(*added: tuple[str, str]) -> str:
    parts: Sequence[Sequence[Step]] = [LIST[:2], LIST[2:]]
    found = with_added(parts, [AddedPass(text, place, "") for text, place in added])
    return " | ".join(" ".join(s.text for s in part) for part in found)


def test_passes_of_one_place_keep_their_order() -> None:
    assert placed() == "a b | c b"
    assert placed(("x", "after a"), ("y", "before c"), ("z", "after a"), ("w", "before c")) == "a x z b | y w c b"


def test_passes_stand_beside_others_that_are_added_and_keep_their_options() -> None:
    assert placed(("y", "before x"), ("x{n=1}", "after c"), ("z", "after x")) == "a b | c y x{n=1} z b"


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ([("x", "after d")], "x is to stand after d, which is none of the passes"),
        ([("x", "before b")], "x is to stand before b, which stands 2 times"),
        ([("x", "behind a")], "x: a place is `after PASS` or `before PASS`, not 'behind a'"),
        ([("x", "after")], "not 'after'"),
        ([("x", "after y"), ("y", "before x")], "x is to stand after y, and that one after or before it"),
    ],
)
def test_places_that_there_are_not(added: list[tuple[str, str]], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        placed(*added)
    assert words in str(raised.value)


@pytest.mark.parametrize("kind", ["warp", "llvm", "../cpu"])
def test_kinds_without_passes(kind: str) -> None:
    with pytest.raises(UsageError, match=f"no backend compiles models for targets of the kind '{kind}'"):
        steps_of(kind)


# -- a second backend ----------------------------------------------------------------------------------------------

TWIN = {
    "__init__.py": "",
    "pipeline.py": """
from lamina.backends.cpu.jit import host_spec
from lamina.backends.cpu.pipeline import PASSES as CPU
from lamina.passes.added_pass import AddedPass

PASSES = (
    AddedPass("twin-keep-signs", "before relay-fuse-ops", "signs are kept before a kernel is what it is"),
    *(p for p in CPU if p.text in ("cpu-pack-weights", "cpu-schedule")),
    AddedPass("twin-count-kernels", "after cpu-schedule", "all kernels have a schedule"),
)


def target(threads):
    return host_spec(threads)._replace(kind="twin")
""",
    "passes/__init__.py": "",
    "passes/keep_signs.py": """
from dataclasses import dataclass

from lamina.dialects import relay as r
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class KeepSigns(ModulePass):
    name = "twin-keep-signs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for made in [o for o in op.walk() if o.name == "relay.abs"]:
            made.results[0].replace_all_uses_with(made.operands[0])
            made.detach()
            made.erase()
""",
    "passes/count_kernels.py": """
from dataclasses import dataclass

from lamina.dialects.listener import listener_of
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class CountKernels(ModulePass):
    name = "twin-count-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        count = sum(o.name == "te.func" for o in op.ops)
        listener_of(ctx).message("remark", f"{count} kernels", op)
""",
}
NET = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.abs %x : tensor<4xf32>
  %1 = relay.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
SCRIPT = """
import sys
import numpy as np
import lamina

x = np.array([-1, 2, -3, 4], np.float32)
twin, cpu = (lamina.compile(sys.argv[1], target, threads=1, cache=False) for target in ("twin", "cpu"))
print(twin(x).tolist(), cpu(x).tolist())
print(twin.target)
print(twin.pipeline)
print(cpu.pipeline)
"""


def test_a_folder_is_a_target_with_passes_of_its_own(tmp_path: Path) -> None:
    """The tree of the package is linked into a new one, with one more folder below `backends/`."""
    package = tmp_path / "lamina"
    backends = package / "backends"
    backends.mkdir(parents=True)
    for source, copy in ((ROOT / "lamina", package), (ROOT / "backends", backends)):
        for path in source.iterdir():
            if path.name not in ("backends", "__pycache__"):
                (copy / path.name).symlink_to(path.resolve())
    for name, text in TWIN.items():
        path = backends / "twin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    net = tmp_path / "net.mlir"
    net.write_text(NET, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def ran(*words: str, status: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    numbers, target, twin, cpu = ran("-c", SCRIPT, str(net)).splitlines()
    assert numbers == "[-2.0, 4.0, -6.0, 8.0] [0.0, 4.0, 0.0, 8.0]"
    assert target.endswith(', kind = "twin">')
    assert cpu == WRITTEN["3"]
    ours = [p for p in twin.split(",") if p.startswith(("cpu-", "twin-"))]
    assert ours == ["cpu-pack-weights", "twin-keep-signs", "cpu-schedule", "twin-count-kernels"]
    assert [p for p in twin.split(",") if p not in ours] == [p for p in cpu.split(",") if not p.startswith("cpu-")]
    main = "from lamina.opt_tool import main; main()"
    assert "remark: 1 kernels" in ran("-c", main, str(net), "-p", "relay-fuse-ops,relay-to-te,twin-count-kernels")
    main = "import sys; from lamina.cli import main; sys.exit(main())"
    assert ran("-c", main, "compile", "--print-pipeline", "--target", "twin") == f"{twin}\n"
