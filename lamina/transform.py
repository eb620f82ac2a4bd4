"""Graph passes from Python, under TVM's names: `Sequential`, `PassContext`, and a constructor for every pass.

    from lamina import transform

    seq = transform.Sequential([transform.SimplifyInference(), transform.FoldConstant(), transform.FuseOps()])
    with transform.PassContext(opt_level=3, disabled_pass=["FoldConstant"], config={"relay.FuseOps.max_depth": 10}):
        simpler = seq(model)

The constructors are the files of `passes/relay/`: `FoldConstant` is fold/fold_constant.py, its arguments are the fields
of the pass. A pass declares its level and what must have run before it with itself (`opt_level`, `required`). As in TVM
a Sequential leaves out what the context does not enable, and a pass that is called alone always runs. What is given, a
`lamina.Model` or a module, stays as it is; a module's weights are in the compile context given with it.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from lamina.errors import UsageError, did_you_mean
from lamina.ir.instrument import (
    PassInfo,
    PassInstrument,
    PassPrintingInstrument,
    PassTimingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
    pass_instrument,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from lamina.ir.context import LaminaContext
    from lamina.ir.registry import PassFile

__all__ = [
    "ModuleTransform",
    "Pass",
    "PassContext",
    "PassInfo",
    "PassInstrument",
    "PassPrintingInstrument",
    "PassTimingInstrument",
    "PrintAfterAll",
    "PrintBeforeAll",
    "PrintIR",
    "Sequential",
    "find_pass",
    "module_pass",
    "pass_info",
    "pass_instrument",
]

OPT_LEVELS = (0, 1, 2, 3, 4)
"""TVM's levels: 1 fuses, 2 folds, 3 rewrites and changes layouts, 4 merges branches and approximates functions."""

NUMERICS = ("fast", "exact")
"""Whether passes may change results by more than the order of their sums; docs/numerics.md says by how much."""

RECORDS = "te-apply-records"
"""The pass that gives kernels the schedules of a file of records. It runs where its file is given."""

_M = TypeVar("_M")

# -- names -------------------------------------------------------------------------------------------------------


def _key(name: str) -> str:
    return re.sub(r"[-_.]", "", name).lower()


@cache
def _passes() -> dict[str, PassFile]:
    """The passes of the tree by every way to write their names, punctuation and case left out."""
    from lamina.ir.registry import our_passes

    found: dict[str, PassFile] = {}
    for file in our_passes().values():
        if file.level == "relay":
            found[_key(file.path.stem)] = file
        found[_key(file.name)] = file
    return found


def find_pass(name: str) -> PassFile:
    """The file of a pass: `FoldConstant`, `relay.FoldConstant` and `relay-fold-constant` are one, `tir.UnrollLoop` too.

    Raises UsageError, with near names, when there is none.
    """
    file = _passes().get(_key(name))
    if file is None:
        from lamina.ir.registry import our_passes

        spelled = [f"tir.{f.path.stem.title().replace('_', '')}" for f in our_passes().values() if f.level == "tir"]
        near = did_you_mean(name, [*constructors(), *our_passes(), *spelled])
        raise UsageError(f"unknown pass {name!r}", hint=near or "see `opt-tool --list-passes`")
    return file


@cache
def constructors() -> dict[str, PassFile]:
    """The passes of `passes/relay/` by the names of their classes, which are TVM's."""
    from lamina.ir.registry import our_passes

    found: dict[str, PassFile] = {}
    for file in our_passes().values():
        if file.level == "relay":
            match = re.search(r"^class (\w+)\(ModulePass\)", file.path.read_text("utf-8"), re.M)
            found[match[1] if match else file.path.stem] = file
    return found


def pass_info(cls: type[ModulePass]) -> PassInfo:
    """Level, name and required passes as the class declares them. Graph passes go by TVM's names."""
    from lamina.ir.registry import find_our_pass

    file = find_our_pass(cls.name)
    relay = file is not None and file.level == "relay"
    required = tuple(find_pass(r).load().__name__ for r in getattr(cls, "required", ()))
    return PassInfo(getattr(cls, "opt_level", 0), cls.__name__ if relay else cls.name, required)


# -- the context -------------------------------------------------------------------------------------------------


class PassContext:
    """The passes that run: those up to `opt_level` and the required ones, without the disabled ones.

    `config` sets options of passes: `{"relay.FuseOps.max_depth": 10}`. With `numerics` exact, passes that change
    results by more than the order of their sums do not run. The context that is entered last is the current one, also
    for `lamina.compile`. Raises UsageError for passes and options that there are not.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Iterable[str] | None = None,
        disabled_pass: Iterable[str] | None = None,
        instruments: Sequence[PassInstrument] | None = None,
        config: Mapping[str, Any] | None = None,
        numerics: str = NUMERICS[0],
    ) -> None:
        if type(opt_level) is not int or opt_level not in OPT_LEVELS:
            raise UsageError(f"opt_level is one of {', '.join(map(str, OPT_LEVELS))}, not {opt_level!r}")
        self.opt_level = opt_level
        self.numerics = _numerics(numerics)
        self.required_pass = _pass_names("required_pass", required_pass)
        self.disabled_pass = _pass_names("disabled_pass", disabled_pass)
        self.instruments = list(instruments or ())
        self.config = dict(config or {})
        self.options: dict[str, dict[str, tuple[str, ...]]] = {}
        for key, value in self.config.items():
            name, option = _option(key)
            self.options.setdefault(name, {})[option] = _texts(value)
        self._before: list[PassContext | None] = []

    @staticmethod
    def of(given: int | PassContext) -> PassContext:
        """A context as it is, or that of a level."""
        return given if isinstance(given, PassContext) else PassContext(given)

    def changed(self, numerics: str | None = None, config: Mapping[str, Any] | None = None) -> PassContext:
        """The same with other numerics, where some are given, and more options of passes."""
        if numerics in (None, self.numerics) and not config:
            return self
        options = {f"{name}.{option}": v for name, given in self.options.items() for option, v in given.items()}
        options |= config or {}
        made = PassContext(self.opt_level, (), (), self.instruments, options, numerics or self.numerics)
        made.required_pass, made.disabled_pass = self.required_pass, self.disabled_pass
        return made

    @property
    def records(self) -> str | None:
        """The file of records whose schedules kernels get, None for none."""
        return next(iter(self.options.get(RECORDS, {}).get("file", ())), None)

    @staticmethod
    def current() -> PassContext:
        """The one entered last; that of level 2 outside of all, which is always the same one."""
        return _current.get() or _outermost()

    @staticmethod
    def active() -> PassContext | None:
        """The one entered last, None outside of all."""
        return _current.get()

    def __enter__(self) -> PassContext:
        self._before.append(_current.get())
        _current.set(self)
        for instrument in self.instruments:
            instrument.enter_pass_ctx()
        return self

    def __exit__(self, *_: object) -> None:
        _current.set(self._before.pop())
        for instrument in self.instruments:
            instrument.exit_pass_ctx()

    def enables(self, name: str, level: int) -> bool:
        """Whether a pass of that (registry) name and level runs."""
        if name in self.disabled_pass:
            return False
        return name in self.required_pass or level <= self.opt_level

    def keeps(self, pass_: ModulePass) -> bool:
        """Whether a pass is not left out for what it does to numbers. Raises UsageError for one that is required."""
        kept = self.numerics == "fast" or getattr(pass_, "numerics", "exact") == "exact"
        if not kept and pass_.name in self.required_pass:
            raise UsageError(
                f"{pass_.name} is required, and changes results by more than the order of their sums",
                hint="leave it out, or compile with numerics 'fast'",
            )
        return kept

    def configured(self, pass_: ModulePass) -> ModulePass:
        """The pass with the options that the context gives, and exact where the context is and the pass may be."""
        if self.numerics == "exact" and any(f.name == "exact" for f in fields(pass_)):  # type: ignore[arg-type]
            pass_ = replace(pass_, exact=True)  # type: ignore[call-arg, type-var]
        given = self.options.get(pass_.name)
        if not given:
            return pass_
        from lamina.ir.pipeline import make_pass

        chosen = make_pass(type(pass_), given)
        return replace(pass_, **{name: getattr(chosen, name) for name in given})  # type: ignore[type-var]

    def select(self, passes: Sequence[ModulePass]) -> list[ModulePass]:
        """Those of the passes that run, with their options, each after the ones that it requires."""
        found: list[ModulePass] = []
        for p in passes:
            if not self.enables(p.name, getattr(p, "opt_level", 0)) or not self.keeps(p):
                continue
            for name in getattr(p, "required", ()):
                file = find_pass(name)
                if file.name not in self.disabled_pass and all(f.name != file.name for f in found):
                    found.append(self.configured(file.load()()))
            found.append(self.configured(p))
        return found

    def run(self, info: PassInfo, module: ModuleOp, action: Callable[[], _M]) -> _M | None:
        """Do what a pass does between the instruments; None where one of them refuses it."""
        if self.instruments:
            tree = self.required_pass.difference(_written)
            wanted = info.name in self.required_pass or any(find_pass(r).load().__name__ == info.name for r in tree)
            if not all([i.should_run(i.view(module, info), info) for i in self.instruments]) and not wanted:
                return None
        for instrument in self.instruments:
            instrument.run_before_pass(instrument.view(module, info), info)
        result = action()
        from xdsl.dialects.builtin import ModuleOp

        after = result if isinstance(result, ModuleOp) else module
        for instrument in self.instruments:
            instrument.run_after_pass(instrument.view(after, info), info)
        return result

    def override_instruments(self, instruments: Sequence[PassInstrument] | None = None) -> None:
        """Let others watch from now on: those of before see the context end, the new ones see it begin."""
        for instrument in self.instruments:
            instrument.exit_pass_ctx()
        self.instruments = list(instruments or ())
        for instrument in self.instruments:
            instrument.enter_pass_ctx()

    def __str__(self) -> str:
        """The settings that decide the outcome, in one line: part of the key of cached programs."""
        parts = [str(self.opt_level)]
        parts += [f"+{name}" for name in sorted(self.required_pass)]
        parts += [f"-{name}" for name in sorted(self.disabled_pass)]
        parts += [f"numerics={self.numerics}"] if self.numerics != NUMERICS[0] else []
        parts += [f"{n}.{o}={v!r}" for n, given in sorted(self.options.items()) for o, v in sorted(given.items())]
        return " ".join(parts)


_current: ContextVar[PassContext | None] = ContextVar("PassContext", default=None)


@cache
def _outermost() -> PassContext:
    return PassContext()


def _pass_names(what: str, given: Iterable[str] | None) -> frozenset[str]:
    if isinstance(given, str):
        raise UsageError(f"{what} is a list of names, not {given!r}")
    return frozenset(name if name in _written else find_pass(name).name for name in given or ())


def _numerics(given: Any) -> str:
    if given not in NUMERICS:
        raise UsageError(f"numerics is one of {', '.join(NUMERICS)}, not {given!r}")
    return given


_written: set[str] = set()
"""The names of passes that are not of the tree: Python functions, and classes of others."""


def _option(key: str) -> tuple[str, str]:
    """`relay.FuseOps.max_depth` or `relay-fuse-ops.max-depth`: the pass and its option."""
    name, _, option = key.rpartition(".")
    if not name:
        raise UsageError(f"config {key!r} names no option of a pass", hint="as in relay.FuseOps.max_depth")
    cls = find_pass(name).load()
    option = option.replace("-", "_")
    known = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    if option not in known:
        hint = did_you_mean(option, known) or f"it has {', '.join(known) or 'none'}"
        raise UsageError(f"config {key!r}: {cls.name} has no option {option!r}", hint=hint)
    return cls.name, option


def _texts(value: Any) -> tuple[str, ...]:
    """An option's value as a pipeline writes it; `{"nn.conv2d": ["NHWC", "default"]}` is nn.conv2d:NHWC:default."""
    if isinstance(value, Mapping):
        return tuple(":".join([str(k), *map(str, v)]) for k, v in value.items())  # type: ignore[misc]
    if isinstance(value, (list, tuple, set, frozenset)):
        return tuple(map(str, value))  # type: ignore[arg-type]
    return (str(value).lower() if isinstance(value, bool) else str(value),)


# -- passes ------------------------------------------------------------------------------------------------------


class Pass(abc.ABC):
    """A map of a model (or a module) to another."""

    info: PassInfo

    def __call__(self, mod: Any, ctx: LaminaContext | None = None) -> Any:
        """The changed model; the given one stays."""
        from xdsl.dialects.builtin import ModuleOp

        from lamina.ir.context import LaminaContext

        if isinstance(mod, ModuleOp):
            return self.transform(mod.clone(), ctx or LaminaContext())
        context = LaminaContext()
        context.params = mod.params
        module = self.transform(mod.module.clone(), context)
        return mod.changed(module)

    @abc.abstractmethod
    def transform(self, module: ModuleOp, ctx: LaminaContext) -> ModuleOp:
        """The same on a module that may be changed in place: what it became."""

    def __repr__(self) -> str:
        return f"{self.info.name}(opt_level={self.info.opt_level})"


class ModuleTransform(Pass):
    """A pass of the tree with its options, or any other that is a class: of xDSL, or the user's own."""

    def __init__(self, pass_: ModulePass) -> None:
        from lamina.ir.registry import find_our_pass

        self.pass_ = pass_
        self.info = pass_info(type(pass_))
        if find_our_pass(pass_.name) is None:
            _written.add(pass_.name)

    def transform(self, module: ModuleOp, ctx: LaminaContext) -> ModuleOp:
        from lamina.ir.pipeline import apply_pass

        context = PassContext.current()
        chosen = context.configured(self.pass_)
        context.run(self.info, module, lambda: apply_pass(chosen, ctx, module))
        return module


class FunctionTransform(Pass):
    """A pass that is a Python function of a module and the current PassContext."""

    def __init__(self, function: Callable[[ModuleOp, PassContext], ModuleOp | None], info: PassInfo) -> None:
        self.function = function
        self.info = info
        _written.add(info.name)

    def transform(self, module: ModuleOp, ctx: LaminaContext) -> ModuleOp:
        context = PassContext.current()
        found = context.run(self.info, module, lambda: self.function(module, context) or module)
        return found if found is not None else module


def module_pass(
    function: Callable[[ModuleOp, PassContext], ModuleOp | None] | None = None,
    opt_level: int = 0,
    name: str | None = None,
    required: Sequence[str] = (),
) -> Any:
    """TVM's decorator: a function `(mod, ctx)` that returns the changed module, or changes it in place, as a pass."""

    def make(f: Callable[[ModuleOp, PassContext], ModuleOp | None]) -> Pass:
        return FunctionTransform(f, PassInfo(opt_level, name or f.__name__, tuple(required)))

    return make(function) if function is not None else make


class Sequential(Pass):
    """Passes one after the other, of each what the context enables, and what it requires before it."""

    def __init__(
        self,
        passes: Sequence[Pass | ModulePass] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] | None = None,
    ) -> None:
        self.passes = list(map(_as_pass, passes or ()))
        self.info = PassInfo(opt_level, name, tuple(required or ()))

    def transform(self, module: ModuleOp, ctx: LaminaContext) -> ModuleOp:
        context = PassContext.current()
        for p in self.passes:
            if not context.enables(_registered(p), p.info.opt_level):
                continue
            for name in p.info.required:
                module = ModuleTransform(find_pass(name).load()()).transform(module, ctx)
            module = p.transform(module, ctx)
        return module


def _as_pass(given: Pass | ModulePass) -> Pass:
    from xdsl.passes import ModulePass

    if isinstance(given, Pass):
        return given
    if isinstance(given, ModulePass):  # pyright: ignore[reportUnnecessaryIsInstance]
        return ModuleTransform(given)
    raise UsageError(f"{given!r} is no pass", hint="call its constructor: FoldConstant()")


def _registered(p: Pass) -> str:
    return p.pass_.name if isinstance(p, ModuleTransform) else p.info.name


def PrintIR(header: str = "", show_meta_data: bool = False) -> Pass:
    """Prints the module to stderr as it goes by."""
    import sys

    def show(module: ModuleOp, _: PassContext) -> ModuleOp:
        print(f"// {header}\n{module}", file=sys.stderr)
        return module

    return FunctionTransform(show, PassInfo(0, "PrintIR"))


@cache
def _constructor(file: PassFile) -> Callable[..., Pass]:
    """Makes a pass of the tree: positional and keyword arguments are the fields of its class."""

    def construct(*args: Any, **options: Any) -> Pass:
        from lamina.ir.pipeline import make_pass

        cls = file.load()
        names = [f.name for f in fields(cls) if f.name != "name"]  # type: ignore[arg-type]
        if len(args) > len(names):
            raise UsageError(f"{cls.__name__} takes {len(names)} arguments, got {len(args)}", hint=", ".join(names))
        given = dict(zip(names, args, strict=False)) | options
        return ModuleTransform(make_pass(cls, {n: _texts(v) for n, v in given.items() if v is not None}))

    construct.__name__ = construct.__qualname__ = file.path.stem
    construct.__doc__ = f"The pass {file.name}: see {file.module}."
    return construct


def __getattr__(name: str) -> Any:
    """`transform.FoldConstant`: the constructor of the pass that has the name, as it is or as TVM writes it."""
    file = None if name.startswith("_") else _passes().get(_key(name))
    if file is None or file.level != "relay" or name[0].islower():
        near = did_you_mean(name, list(constructors())) if not name.startswith("_") else ""
        raise AttributeError(f"module 'lamina.transform' has no attribute {name!r}{'; ' + near if near else ''}")
    return _constructor(file)


def __dir__() -> list[str]:
    return sorted([*__all__, *constructors()])
