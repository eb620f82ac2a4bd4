"""The contents of `lamina-runtime`: the files of Lamina that run programs, and the run-time's code for each system.

The files are those of the compiler, under another name: what `lamina.runtime.load` imports when it is imported, with
`lamina.` in imports rewritten to `lamina_runtime.`. What a function imports is not there when it belongs to the
compiler; `test/unit/test_runtime_wheel.py` lists these.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parents[2]
NAME = "lamina_runtime"
FRONT = "lamina.runtime.load"
_IMPORT = re.compile(r"^(\s*(?:from|import) )lamina(?=[. ])", re.MULTILINE)
_GUARD = re.compile(r'(?<=__name__ != ")lamina(?=\.)|(?<=import )lamina(?=\.\w+, not)')
_OPENING = '''"""Programs that Lamina has compiled, ready to run: `load("net.so")`, `load("net.lamina")`."""

from {name}.errors import LaminaError
from {front} import ExportedNet, SavedNet, load

__version__ = "{version}"
__all__ = ["ExportedNet", "LaminaError", "SavedNet", "__version__", "load"]
'''


def version() -> str:
    """The version of Lamina."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "lamina/__init__.py").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def light_modules() -> list[str]:
    """The modules of Lamina that a process has when it has imported the front, but for `lamina` itself."""
    show = f"import sys, {FRONT}; print(*(m for m in sys.modules if m.startswith('lamina.')))"
    said = subprocess.run([sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(said.stdout.split())


def rewritten(text: str) -> str:
    """The text of a file for the package of the other name."""
    return _GUARD.sub(NAME, _IMPORT.sub(rf"\g<1>{NAME}", text))


def contents() -> dict[str, bytes]:
    """The files of the package, by their paths in it."""
    from lamina.backends.cpu.runtime.layout import EXPORTS, IMPORTS, IMPORTS_OF_POOL, PARTS
    from lamina.backends.cpu.runtime.modules import runtime_object, systems
    from lamina.backends.link.elf_object import read_object
    from lamina.backends.link.shared_object import link
    from lamina.store.program_cache import object_cache

    cache = object_cache()
    front = FRONT.replace("lamina", NAME, 1)
    found = {"__init__.py": _OPENING.format(name=NAME, front=front, version=version()).encode(), "py.typed": b""}
    for module in light_modules():
        path = ROOT / module.replace(".", "/")
        inside = module.partition(".")[2].replace(".", "/")
        inside, path = (
            (f"{inside}/__init__.py", path / "__init__.py")
            if path.is_dir()
            else (f"{inside}.py", path.with_suffix(".py"))
        )
        found[inside] = rewritten(path.read_text("utf-8")).encode()
    for system in (s for s in systems() if s.startswith("linux_")):
        parts = [read_object(runtime_object(part, cache, system), part) for part in PARTS["pool"]]
        pool = link(parts, EXPORTS["pool"], "pool.so", IMPORTS | IMPORTS_OF_POOL)
        found[f"runtime/prebuilt/{system}/pool.so"] = pool.code
        found[f"runtime/prebuilt/{system}/float_support.o"] = runtime_object("float_support", cache, system)
    return found


class RuntimeVersion(MetadataHookInterface):
    """The version, which is that of the compiler."""

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["version"] = version()


class RuntimeFiles(BuildHookInterface[Any]):
    """The files, written into a folder of their own and taken from there."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        for inside, data in contents().items():
            path = Path(self._folder.name, inside)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        build_data["force_include"][self._folder.name] = NAME

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()
