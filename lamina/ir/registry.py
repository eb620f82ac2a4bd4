"""Registry of passes: the tree is the registry.

Names come from file names, without an import: `passes/relay/fusion/fuse_ops.py` is `relay-fuse-ops`, since folders by
subject do not enter names; `passes/relay_to_te.py` is `relay-to-te`, `passes/te_to_tir/te_to_tir.py` is `te-to-tir`,
`backends/cpu/passes/winograd.py` is `cpu-winograd`. A file that does not say `name = "<that name>"` is no pass. A pass
is imported when it is used. Beside ours there are xDSL's own, those of other packages' universes, and those of files
given by `--load`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from lamina.errors import InputError, UsageError, did_you_mean
from lamina.ir.own_dialects import OUR_DIALECTS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ROOT = Path(__file__).parents[1]
LEVELS = ("relay", "te", "tir", "llvm")
STAIRS = ("*_to_*.py", "*_to_*/*_to_*.py")
OURS_AND_XDSL = ("lamina.", "xdsl.")
"""Beginnings of the values of entry points that are no other package's."""
INSPECTION = "inspection"
"""The folder of passes that change nothing, under MLIR's names, and what they have for a level."""
PassFactory = Callable[[], type[ModulePass]]


class PassFile(NamedTuple):
    """A pass of ours: where it is, and the level it belongs to (for others `stair`, `inspection`, `backend`)."""

    name: str
    module: str
    path: Path
    level: str

    def declared(self) -> bool:
        return f'name = "{self.name}"' in self.path.read_text("utf-8")

    def load(self) -> type[ModulePass]:
        """The pass class. Raises TypeError when the file does not hold exactly one of the derived name."""
        return _only_pass(self)


@cache
def _only_pass(file: PassFile) -> type[ModulePass]:
    found = pass_classes(import_module(file.module))
    if len(found) != 1 or found[0].name != file.name:
        names = ", ".join(getattr(c, "name", c.__name__) for c in found) or "none"
        raise TypeError(f"{file.path}: expected one pass named {file.name!r}, found {names}")
    return found[0]


def pass_classes(module: Any) -> list[type[ModulePass]]:
    """The pass classes that a module itself defines, in order."""
    return [
        value
        for value in cast(dict[str, Any], vars(module)).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__  # before the test of a subclass, which is dear for abstract classes
        and issubclass(value, ModulePass)
        and isinstance(getattr(value, "name", None), str)
    ]


def _candidates() -> list[PassFile]:
    found: list[PassFile] = []

    def add(paths: Iterable[Path], prefix: str, level: str) -> None:
        for path in sorted(paths, key=lambda p: p.stem):
            if not path.stem.startswith("_"):
                found.append(PassFile(prefix + path.stem.replace("_", "-"), _module(path), path, level))

    for level in LEVELS:
        add((ROOT / "passes" / level).rglob("*.py"), f"{level}-", level)
    add((p for pattern in STAIRS for p in (ROOT / "passes").glob(pattern)), "", "stair")
    add((ROOT / "passes" / INSPECTION).glob("*.py"), "", INSPECTION)
    for folder in sorted((ROOT / "backends").glob("*/passes")):
        add(folder.rglob("*.py"), f"{folder.parent.name}-", "backend")
    return found


def _module(path: Path) -> str:
    return ".".join(("lamina", *path.relative_to(ROOT).with_suffix("").parts))


def _search_path() -> Iterator[tuple[str, int]]:
    """The folders that packages are imported from, each with the time when something was last installed there."""
    for folder in sys.path:
        try:
            yield folder, os.stat(folder or os.curdir).st_mtime_ns
        except OSError:
            yield folder, 0


@cache
def _universes(path: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """The `xdsl.universe` entry points of other packages."""
    if not any(_has_universe(folder or os.curdir) for folder, _ in path):
        return ()
    from importlib.metadata import entry_points

    return tuple(e for e in entry_points(group="xdsl.universe") if not e.value.startswith(OURS_AND_XDSL))


def _has_universe(folder: str) -> bool:
    """Whether packages in a folder may have such entry points.

    Python's `entry_points` reads the metadata of all packages, for a tenth of the time in which opt-tool starts.
    """
    try:
        packages = [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return os.path.isfile(folder)  # an archive
    for name in packages:
        try:
            text = Path(folder, name, "entry_points.txt").read_text("utf-8", "replace")
        except OSError:
            continue  # it has none
        _, found, rest = text.partition("[xdsl.universe]")
        values = [line.partition("=")[2].strip() for line in rest.partition("\n[")[0].splitlines() if "=" in line]
        if found and not all(value.startswith(OURS_AND_XDSL) for value in values):
            return True
    return False


_found: dict[str, PassFile] | None = None


def our_passes() -> dict[str, PassFile]:
    """All passes of the tree by name: relay's, te's, tir's, llvm's, the stairs, those of any level, the backends'."""
    global _found
    if _found is None:
        _found = {f.name: f for f in _candidates() if f.declared()}
    return _found


_found_alone: dict[str, PassFile] = {}


def find_our_pass(name: str) -> PassFile | None:
    """One pass of the tree, without listing it; what was found once is not looked for again."""
    if _found is not None:
        return _found.get(name)
    file = _found_alone.get(name) or _look_for(name)
    if file is not None:
        _found_alone[name] = file
    return file


def _look_for(name: str) -> PassFile | None:
    stem = name.replace("-", "_")
    head, _, rest = stem.partition("_")
    tries: list[tuple[str, str, str]] = [(".", f"passes/{INSPECTION}/{stem}.py", INSPECTION)]
    if "_to_" in stem:
        tries += [(".", f"passes/{stem}.py", "stair"), (".", f"passes/{stem}/{stem}.py", "stair")]
    if rest and head in LEVELS:
        tries += [(f"passes/{head}", f"{depth}{rest}.py", head) for depth in ("", "*/")]
    elif rest:
        tries += [(f"backends/{head}/passes", f"{depth}{rest}.py", "backend") for depth in ("", "*/")]
    for folder, pattern, level in tries:
        for path in (ROOT / folder).glob(pattern):
            found = PassFile(name, _module(path), path, level)
            if found.declared():
                return found
    return None


@cache
def installed_dialects() -> dict[str, Callable[[], Dialect]]:
    """The dialects of other installed packages; what does not load is left out with a warning."""
    from warnings import warn

    registry = Registry()
    registry.load_universes()
    for problem in registry.problems:
        warn(problem, stacklevel=2)
    return registry.dialects


class Registry:
    """The passes and extra dialects known to one tool or one compilation."""

    def __init__(self) -> None:
        self.loaded: dict[str, PassFactory] = {}
        self.dialects: dict[str, Callable[[], Dialect]] = {}
        self._foreign: dict[str, PassFactory] | None = None
        self._origin: dict[str, str] = {}
        self.problems: list[str] = []

    # -- look-up ---------------------------------------------------------------------------------------------

    def find(self, name: str) -> type[ModulePass]:
        """The class of a pass. Raises UsageError, with near names, when there is none."""
        loaded = self.loaded.get(name)
        if loaded is not None:
            return loaded()
        ours = find_our_pass(name)
        if ours is not None:
            return ours.load()
        foreign = self.foreign().get(name)
        if foreign is None:
            near = did_you_mean(name, self.names())
            raise UsageError(f"unknown pass {name!r}", hint=near or "see `opt-tool --list-passes`")
        try:
            return foreign()
        except ImportError as e:
            raise UsageError(f"pass {name!r} does not load: {e}", hint="install what it needs") from e

    def names(self) -> list[str]:
        """The names of all passes: the tree's, then the loaded ones, then other packages' and xDSL's."""
        return list(dict.fromkeys([*our_passes(), *self.loaded, *self.foreign()]))

    def origin(self, name: str) -> str:
        """The origin of a pass: a level of ours, a file, or a package."""
        ours = find_our_pass(name)
        return ours.level if ours is not None else self._origin.get(name, "xdsl")

    def foreign(self) -> dict[str, PassFactory]:
        """xDSL's passes and those of the universes of other packages."""
        if self._foreign is None:
            from xdsl.transforms import get_all_passes

            self._foreign = dict(get_all_passes())
            self._foreign.update(self._universe_passes)
        return self._foreign

    _universe_passes: dict[str, PassFactory] = {}

    # -- other sources ---------------------------------------------------------------------------------------

    def load_universes(self) -> None:
        """Take in the `xdsl.universe` entry points of other packages. One that is broken is reported, not fatal."""
        self._universe_passes = {}
        for entry in _universes(tuple(_search_path())):
            try:
                universe = entry.load()
                passes, dialects = dict(universe.all_passes), dict(universe.all_dialects)
            except Exception as e:
                self.problems.append(f"universe {entry.name!r} ({entry.value}) is left out: {type(e).__name__}: {e}")
                continue
            self._universe_passes.update(passes)
            taken = _taken()
            self.dialects.update({name: factory for name, factory in dialects.items() if name not in taken})
            for name in taken.intersection(dialects):
                self.problems.append(f"dialect {name!r} of universe {entry.name!r} is left out: there is one already")
            self._origin.update(dict.fromkeys(passes, entry.name))

    def load_file(self, path: Path) -> None:
        """`--load FILE.py`: every Dialect that the module defines and every ModulePass subclass defined in it.

        Pattern tables and external backends are known as soon as they are made.
        """
        from importlib.util import module_from_spec, spec_from_file_location

        try:
            if not path.is_file():
                raise UsageError(f"no such file: {path}", hint="--load takes a Python file")
        except OSError as e:
            raise InputError(f"cannot read: {e.strerror}", where=str(path)) from None
        name = f"_lamina_load_{path.stem}_{len(sys.modules)}"
        spec = spec_from_file_location(name, path.resolve())
        if spec is None or spec.loader is None:
            raise UsageError(f"{path} is no Python file", hint="--load takes a file that ends in .py")
        module = module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as e:
            line = _line_in(e, str(path.resolve()))
            raise InputError(f"{type(e).__name__}: {e}", where=f"{path}:{line}" if line else str(path)) from e
        dialects = [v for v in vars(module).values() if isinstance(v, Dialect)]
        passes = pass_classes(module)
        if not dialects and not passes and not _declares_backend(module):
            raise InputError("defines no Dialect, ModulePass, PatternTable or ExternalBackend", where=str(path))
        for dialect in dialects:
            if dialect.name in _taken() or dialect.name in self.dialects:
                what = f"dialect {dialect.name!r} exists already"
                raise InputError(what, where=str(path), hint="give the loaded one another name")
            self.dialects[dialect.name] = lambda d=dialect: d
        for cls in passes:
            if find_our_pass(cls.name) or cls.name in self.foreign() or cls.name in self.loaded:
                raise InputError(f"pass {cls.name!r} exists already", where=str(path), hint="choose another name")
            self.loaded[cls.name] = lambda c=cls: c
            self._origin[cls.name] = str(path)


def _declares_backend(module: ModuleType) -> bool:
    """Whether a file holds a pattern table or an external backend."""
    from lamina.passes.relay.partition.external_backends import ExternalBackend
    from lamina.passes.relay.partition.pattern_tables import PatternTable

    return any(isinstance(value, (ExternalBackend, PatternTable)) for value in vars(module).values())


def _taken() -> set[str]:
    """The names of dialects that every context has."""
    from xdsl.dialects import get_all_dialects

    return {*get_all_dialects(), *OUR_DIALECTS}


def _line_in(error: BaseException, path: str) -> int | None:
    """The line of a file in which an exception arose."""
    if isinstance(error, SyntaxError):
        return error.lineno
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == path:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line
