"""The texts of a model at every level, lowered again for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.driver.compilation import WEIGHTS, Compilation, Fresh, Source, is_for_machine
from lamina.driver.pipelines import LEVELS
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.passes.relay.partition.external_backends import CONSTANTS
from lamina.runtime.llvm_module import info_of_module

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.relay.params import ParamAttr
    from lamina.driver.settings import Settings

TEXTS = (*LEVELS, "ll", "asm")
FILES = {**{level: f"{level}.mlir" for level in LEVELS}, "ll": "kernels.ll", "asm": "kernels.s"}


def check_level(level: str) -> None:
    """Raise UsageError for a level that has no text."""
    if level not in TEXTS:
        hint = did_you_mean(level, list(TEXTS)) or f"there are {', '.join(TEXTS)}"
        raise UsageError(f"no text of the level {level!r}", hint=hint)


def levels_of(given: str | Sequence[str] | None) -> list[str]:
    """The levels of `relay,ll` or of a list, each once. Raises UsageError for one that has no text."""
    names = [name.strip() for name in (given.split(",") if isinstance(given, str) else given or ())]
    levels = [name for name in dict.fromkeys(names) if name]
    for level in levels:
        check_level(level)
    return levels


class StageTexts:
    """The texts of a model at every level, made when first asked for."""

    def __init__(self, fresh: Fresh, settings: Settings) -> None:
        self._fresh = fresh
        self._settings = settings
        self._texts: dict[str, str] = {}

    def get(self, level: str) -> str:
        """One text. Relay's carries locations: the names of the model's nodes come from there."""
        check_level(level)
        if level not in self._texts:
            self._make(level)
        return self._texts[level]

    def source(self, level: str) -> Source:
        """The module at a level, `te` to `llvm`, and its weights: a new one each time."""
        return self._make(level)

    def save(self, folder: Path) -> list[Path]:
        """Write all texts and, beside them, the weights that they name."""
        source = self._make("asm")
        paths = [folder / FILES[level] for level in TEXTS]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for level, path in zip(TEXTS, paths, strict=True):
                path.write_text(self._texts[level], "utf-8", newline="\n")
        except OSError as e:
            raise InputError(f"cannot write: {e.strerror}", where=str(e.filename or folder)) from None
        source.params.save(folder / WEIGHTS, self._weights)
        return [*paths, folder / WEIGHTS]

    def _make(self, level: str) -> Source:
        """Lower the model as far as the level needs, keeping every text on the way."""
        from lamina.ir.printing import module_text, print_op

        compilation = Compilation(self._fresh, self._settings)
        source = compilation.source
        self._texts["relay"] = print_op(source.module, compilation.ctx, locations=True) + "\n"
        self._weights = named_weights(source.module)
        if level == "relay":
            return source
        if is_for_machine(compilation):
            what = f"the machine compiles this model piece by piece as it runs: it has no text of the level {level}"
            raise UnsupportedError(what, hint="that of relay there is", where=source.label)
        last = LEVELS.index(level) if level in LEVELS else len(LEVELS) - 1
        if last == len(LEVELS) - 1 and not self._settings.pipeline.passes("llvm"):
            what = f"the target {self._settings.target.kind!r} has no text of the level {level}"
            raise UnsupportedError(what, hint="the last one is that of tir", where=source.label)
        for start, until in zip(LEVELS[:last], LEVELS[1 : last + 1], strict=True):
            compilation.run_passes(start, until)
            self._texts[until] = module_text(source.module)
        if level in ("ll", "asm"):
            self._emit(source.module, level)
        return source

    def _emit(self, module: ModuleOp, level: str) -> None:
        """Make LLVM's texts of a module of the llvm level."""
        from lamina.backends.cpu.jit import assembly
        from lamina.backends.llvm.emit import emit_kernels, emit_module
        from lamina.dialects.relay.params import ParamAttr

        target = self._settings.attr
        packed = [p for p in info_of_module(module).params if isinstance(p, ParamAttr)]
        self._weights = list(dict.fromkeys([*self._weights, *packed]))
        self._texts["ll"] = emit_module(module, target)
        if level == "asm":
            # Of each piece by itself, as they are compiled; each numbers its labels from 0.
            pieces = [assembly(text, target) for _, text in emit_kernels(module, target)]
            self._texts["asm"] = "\n".join(p.replace(".L", f".L{n}_") for n, p in enumerate(pieces))


def named_weights(module: ModuleOp) -> list[ParamAttr]:
    """The weights that constants of a module name, and those of external functions."""
    from lamina.dialects.relay.params import ParamAttr

    values: list[Any] = [op.properties.get("value") for op in module.walk() if op.name == "relay.constant"]
    for op in module.body.block.ops:
        values += getattr(op.attributes.get(CONSTANTS), "data", ())
    return list(dict.fromkeys(v for v in values if isinstance(v, ParamAttr)))
