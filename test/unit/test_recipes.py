"""What README and CONTRIBUTING tell people to do works: the recipes to the letter, in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("lamina", "dialects", "passes", "frontends", "backends", "test", "pyproject.toml")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(name: str) -> list[tuple[str, str]]:
    """The fenced blocks of a file: (language, text)."""
    return [(m[1], m[2]) for m in BLOCK.finditer((ROOT / name).read_text("utf-8"))]


@pytest.mark.slow
def test_the_recipes_of_contributing_work(tmp_path: Path) -> None:
    copy = tmp_path / "lamina"
    copy.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache", "Output")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PYTHONPATH": str(copy), "PATH": path}
    environment.pop("PYTEST_ADDOPTS", None)
    files = commands = 0
    for language, text in blocks("CONTRIBUTING.md"):
        if language == "sh":
            for line in text.splitlines():
                words = ["bash", "-c", line]
                done = subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
                commands += 1
            continue
        match = re.match(r"(?:#|//) (file|append): (\S+)\n", text)
        assert match is not None, f"a block that says no file: {text[:60]}"
        target, content = copy / match[2], text[match.end() :]
        if match[1] == "append":
            assert target.exists()
            target.write_text(target.read_text("utf-8") + "\n" + content, "utf-8")
        else:
            assert not target.exists(), f"{match[2]} exists already"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, "utf-8")
        files += 1
    assert files >= 4 and commands >= 5


def test_recipes_are_short() -> None:
    for language, text in blocks("CONTRIBUTING.md"):
        code = re.sub(r'""".*?"""', "", text, flags=re.S) if language == "python" else text
        lines = [
            row for row in code.splitlines() if row.strip() and not row.startswith(("#", "//", "from ", "import "))
        ]
        assert len(lines) <= 10, f"{len(lines)} lines:\n{text}"


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.M))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_commands_and_files_that_are_named_exist(name: str) -> None:
    from lamina import cli

    text = (ROOT / name).read_text("utf-8")
    for target in re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, re.M):
        assert target in make_targets(), f"make {target}"
    for command in re.findall(r"^(?: {4}|\$ )lamina ([a-z]+)", text, re.M):
        assert command in cli.COMMANDS, f"lamina {command}"
    for path in re.findall(
        r"`((?:docs|examples|bench|test|lamina|dialects|passes|backends|frontends)/[\w./-]+)`", text
    ):
        assert (ROOT / path).exists() or "recipe" in path, path


def test_opt_tool_commands_of_the_readme() -> None:
    """Options of opt-tool that the README shows are options of opt-tool."""
    from lamina.tool import options

    known = {o for action in options.build()._actions for o in action.option_strings}  # type: ignore[reportPrivateUsage]
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"^(?: {4}|\$ )opt-tool(.*)$", text, re.M)
    assert shown
    for row in shown:
        for option in re.findall(r"(?<=\s)(--?[a-z][a-z-]*)", re.sub(r'"[^"]*"', "", row)):
            assert option in known, option
