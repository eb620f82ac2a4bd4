"""What README and CONTRIBUTING tell people to do works: the recipes to the letter, in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .host_features import needs
from .warm_commands import warm_commands

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("lamina", "dialects", "passes", "frontends", "backends", "test", "tools", "pyproject.toml")
TOUCHED = {
    "Add an op": {"dialects/relay/elementwise/cube.py", "dialects/relay/op_index.py"},
    "Add a rule": {
        "passes/relay/simplify/simplify_expr.py",
        "test/passes/relay/simplify_expr/powers_are_positive.mlir",
    },
    "Add a pass": {"passes/relay/simplify/drop_copies.py"},
    "Add a pass of a target": {
        "backends/cpu/passes/fold_negations.py",
        "backends/cpu/pipeline.py",
        "test/backends/cpu/fold_negations/two_are_none.mlir",
    },
    "Add a pattern table": {
        "backends/byoc/np_unit/patterns.py",
        "test/backends/byoc/np_unit/absolute_value_of_a_sum.mlir",
    },
    "Add an external backend": {
        "backends/byoc/np_unit/codegen.py",
        "test/backends/byoc/np_unit/the_unit_computes_it.mlir",
    },
    "Add a frontend": {"frontends/steps/format.py", "test/frontends/steps/a_line_is_a_call.mlir"},
    "Add an operator of PyTorch's": {"frontends/aten/convert_activations.py", "test/frontends/aten/cubed_relu.mlir"},
    "Add an operator of another format": {"frontends/caffe/convert_elements.py", "test/frontends/caffe/cube.mlir"},
    "Add a test": {"test/passes/relay/drop_copies/a_copy_goes.mlir"},
}
"""What a recipe changes, by its heading: one file and its test. The index of ops is generated, like their tests."""
LEAST = {
    "docs/schedules.md": {"files": 4, "commands": 8, "outputs": 6},
    "docs/own-dialect.md": {"files": 9, "commands": 9, "outputs": 6},
    "docs/tour/1-a-model.md": {"files": 2, "commands": 7, "outputs": 5},
    "docs/tour/2-four-levels.md": {"files": 1, "commands": 8, "outputs": 5},
    "docs/tour/4-an-op.md": {"files": 2, "commands": 4, "outputs": 3},
    "docs/tour/5-a-pass.md": {"files": 3, "commands": 4, "outputs": 4},
    "docs/tour/6-a-primitive.md": {"files": 2, "commands": 5, "outputs": 4},
    "docs/tour/7-a-backend.md": {"files": 2, "commands": 3, "outputs": 3},
}
"""The pages that are followed from an empty folder, with how many blocks of each kind they have at least."""
PAGES = (
    "docs/guide.md",
    "docs/architecture.md",
    "docs/deploy.md",
    "docs/tour/README.md",
    "docs/tour/3-the-walk.md",
    "docs/targets.md",
    "docs/glossary.md",
)
"""The pages that are not followed: what they name exists."""
PASSING = {"__pycache__", ".pytest_cache", ".hypothesis", "build", "Output", ".lit_test_times.txt"}
"""What commands leave behind."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a text: (language, text)."""
    return [(m[1], m[2]) for m in BLOCK.finditer(text)]


def recipes(name: str) -> dict[str, str]:
    """The parts of a file by their headings."""
    parts = re.split(r"^## (.+)$", (ROOT / name).read_text("utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def follow(name: str, document: str, folder: Path, environment: dict[str, str]) -> dict[str, int]:
    """Do in a folder what the fenced blocks of a document say; how many blocks of each kind there were.

    A block `sh` is run line by line, a block `text` is what the last command has printed (see `shows`), any other says
    in its first line which file it is, or to which file it is appended.
    """
    done = {"files": 0, "commands": 0, "outputs": 0}
    printed = ""
    for language, text in blocks(document):
        if language == "sh":
            for line in text.splitlines():
                words = ["bash", "-c", line]
                ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
                printed = ran.stdout + ran.stderr
                # A command that a document shows to fail starts with `!`, which bash turns into success.
                assert ran.returncode == 0, f"{line}\n{printed[-6000:]}"
                done["commands"] += 1
            continue
        if language == "text":
            assert shows(printed, text), f"{name} shows\n{text}\nthe command has printed\n{printed}"
            done["outputs"] += 1
            continue
        match = re.match(r"(?:#|//) (file|append): (\S+)\n", text)
        assert match is not None, f"a block that says no file: {text[:60]}"
        target, content = folder / match[2], text[match.end() :]
        if match[1] == "append":
            assert target.exists()
            target.write_text(target.read_text("utf-8").rstrip() + "\n\n" + content, "utf-8")
        else:
            assert not target.exists(), f"{match[2]} exists already"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, "utf-8")
        done["files"] += 1
    return done


def shows(printed: str, shown: str) -> bool:
    """Whether an output is what a document shows of it, where `...` stands for anything, also for whole lines."""
    pattern = ""
    for row in shown.splitlines():
        if row.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in row.rstrip().split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, printed if printed.endswith("\n") else printed + "\n") is not None


def written(folder: Path) -> dict[str, bytes]:
    """The files of a checkout and what is in them, without what commands leave behind."""
    found: dict[str, bytes] = {}
    for path, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in PASSING]
        for file in files:
            if file not in PASSING:
                at = Path(path, file)
                found[at.relative_to(folder).as_posix()] = at.read_bytes()
    return found


def surroundings(**more: str) -> dict[str, str]:
    """The environment of commands: the tools of this Python come first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **more}
    environment.pop("PYTEST_ADDOPTS", None)
    return environment


@pytest.mark.slow
def test_the_recipes_of_contributing_work(tmp_path: Path) -> None:
    copy = tmp_path / "lamina"
    copy.mkdir()
    # Byte code goes along, or each command would compile again; what another process is just writing does not.
    ignored = shutil.ignore_patterns("*.pyc.*", ".pytest_cache", "Output")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy / name)
    environment = surroundings(PYTHONPATH=str(copy))
    before, touched = written(copy), dict[str, set[str]]()
    for heading, text in recipes("CONTRIBUTING.md").items():
        follow("CONTRIBUTING.md", text, copy, environment)
        after = written(copy)
        touched[heading] = {path for path in before | after if before.get(path) != after.get(path)}
        before = after
    assert {heading: touched[heading] for heading in TOUCHED} == TOUCHED


@pytest.fixture(scope="module")
def warm() -> Iterator[str]:
    """A folder with `opt-tool` and `lamina` that start in no time. README and the recipes start the real ones."""
    with warm_commands(surroundings(PYTHONPATH=str(ROOT))) as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAST)
def test_what_a_page_shows_is_so(name: str, tmp_path: Path, warm: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    needs(*re.findall(r"--target (x86-64[\w-]*)", text))  # it may run what it compiles
    environment = surroundings(PYTHONPATH=str(ROOT), LAMINA_CACHE_DIR=str(tmp_path / "cache"))
    environment["PATH"] = os.pathsep.join([warm, environment["PATH"]])
    done = follow(name, text, tmp_path, environment)
    assert all(done[kind] >= least for kind, least in LEAST[name].items()), done


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "echo 'builtin.module {}' | opt-tool -p cse --print-ir-after-all > out; cat out",
        "opt-tool nosuch.mlir",
        "LAMINA_HOST=nosuch lamina compile nosuch.mlir",
    ],
)
def test_a_warm_command_does_what_the_real_one_does(line: str, tmp_path: Path, warm: str) -> None:
    """The streams, the environment, the folder and the status are those of the command."""
    real = surroundings(PYTHONPATH=str(ROOT))
    ends: list[tuple[int, str, str]] = []
    for path in (real["PATH"], os.pathsep.join([warm, real["PATH"]])):
        given = {**real, "PATH": path}
        end = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=given, capture_output=True, text=True, check=False)
        ends.append((end.returncode, end.stdout, end.stderr))
    assert ends[0] == ends[1] and any(ends[0])


@pytest.mark.slow
def test_first_steps_of_the_readme_work(tmp_path: Path) -> None:
    environment = surroundings(PYTHONPATH=str(ROOT), LAMINA_CACHE_DIR=str(tmp_path / "cache"))
    done = follow("README.md", recipes("README.md")["In five minutes"], tmp_path, environment)
    assert done == {"files": 2, "commands": 6, "outputs": 1}


def test_outputs_are_compared_line_by_line() -> None:
    assert shows("a\nb 1\nc\n", "a\n...\nc\n")
    assert shows("a\nb 1\nc\n", "a\nb ...\nc\n")
    assert not shows("a\nb 1\nc\n", "a\nc\n")
    assert not shows("a\nb 1\nc\n", "...\nb\n...\n")
    assert not shows("a\nb 1\nc\n", "a\nb 1\n")


def test_recipes_are_short() -> None:
    for language, text in blocks((ROOT / "CONTRIBUTING.md").read_text("utf-8")):
        code = re.sub(r'""".*?"""', "", text, flags=re.S) if language == "python" else text
        lines = [
            row for row in code.splitlines() if row.strip() and not row.startswith(("#", "//", "from ", "import "))
        ]
        most = 17 if language == "mlir" else 12
        assert len(lines) <= most, f"{len(lines)} lines:\n{text}"


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.M))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", *PAGES, *LEAST])
def test_commands_and_files_that_are_named_exist(name: str) -> None:
    from lamina.cli import command as cli

    text = (ROOT / name).read_text("utf-8")
    for target in re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, re.M):
        assert target in make_targets(), f"make {target}"
    for command in re.findall(r"^(?: {4}|\$ )lamina ([a-z-]+)", text, re.M):
        assert command in cli.COMMANDS, f"lamina {command}"
    for path in re.findall(
        r"`((?:docs|examples|bench|test|lamina|dialects|passes|backends|frontends)/[\w./-]+)`", text
    ):
        assert (ROOT / path).exists() or "recipe" in path, path


def test_opt_tool_commands_of_the_readme() -> None:
    """Options of opt-tool that the README shows are options of opt-tool."""
    from lamina.opt_tool import options

    known = {o for action in options.build()._actions for o in action.option_strings}  # type: ignore[reportPrivateUsage]
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"^(?: {4}|\$ )opt-tool(.*)$", text, re.M)
    assert shown
    for row in shown:
        for option in re.findall(r"(?<=\s)(--?[a-z][a-z-]*)", re.sub(r'"[^"]*"', "", row)):
            assert option in known, option
