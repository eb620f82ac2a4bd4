"""`tvm.transform`: passes on modules. They are ours (`lamina.transform`); a module goes in and another comes out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from lamina import transform as ours
from lamina.compat.tvm.imports import NO_FOLDER
from lamina.compat.tvm.instrument import (
    PassInstrument,
    PassPrintingInstrument,
    PassTimingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
    looked_at,
    weights_from,
)
from lamina.compat.tvm.ir_module import IRModule
from lamina.errors import UnsupportedError, UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.instrument import PassInfo
from lamina.ir.tvm_names import missing

__path__ = NO_FOLDER


ELSEWHERE = ("tir.", "relay.backend.", "relay.ext.", "relay.fallback_device_type", "relay.frontend.", "te.", "testing.")
"""TVM's options of what is decided in another way here."""
ALWAYS = ("relay.backend.use_auto_scheduler",)
"""Options that may say yes: it is so. Within an ApplyHistoryBest kernels have the schedules of its log."""


class PassContext(ours.PassContext):
    """The passes that run, and their options: `config` has TVM's names. Options of what is not here may say no.

    Raises UnsupportedError for one that says yes, UsageError for passes and options that there are not.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Iterable[str] | None = None,
        disabled_pass: Iterable[str] | None = None,
        instruments: Sequence[Any] | None = None,
        config: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        given = dict(config or {})
        for key in [k for k in given if k.startswith(ELSEWHERE)]:
            if given.pop(key) and key not in ALWAYS:
                raise UnsupportedError(f"the option {key!r} of TVM's is not bridged", hint="leave it out")
        super().__init__(opt_level, required_pass, disabled_pass, instruments, given)


class Pass:
    """A pass of ours, on TVM's modules."""

    def __init__(self, inner: ours.Pass) -> None:
        self.inner = inner

    @property
    def info(self) -> PassInfo:
        return self.inner.info

    @property
    def pass_info(self) -> PassInfo:
        return self.inner.info

    def __call__(self, mod: Any) -> IRModule:
        """The changed module; the given one stays as it is."""
        if not isinstance(mod, IRModule):
            what = "an expression" if hasattr(mod, "checked_type") else type(mod).__name__
            raise UsageError(f"a pass takes an IRModule, not {what}", hint="tvm.IRModule.from_expr(...)")
        module, store = mod.ir()
        ctx = LaminaContext()
        ctx.params = store
        with weights_from(store):
            return IRModule.of_ir(self.inner.transform(module.clone(), ctx), store, mod)

    def __repr__(self) -> str:
        return repr(self.inner)


class OnNodes(ours.Pass):
    """A pass that is a Python function of a module of expressions."""

    def __init__(self, function: Callable[[IRModule, PassContext], Any], info: PassInfo) -> None:
        self.function = function
        self.inner = ours.FunctionTransform(self._run, info)
        self.info = info

    def transform(self, module: ModuleOp, ctx: LaminaContext) -> ModuleOp:
        self._store = ctx.params
        self._ctx = ctx
        return self.inner.transform(module, ctx)

    def _run(self, module: ModuleOp, context: ours.PassContext) -> ModuleOp:
        # What is read is another module than the one that is changed: nodes read late would see the change.
        found = self.function(IRModule.of_ir(module, self._store), cast("PassContext", context))
        made, store = found.ir()
        self._ctx.params = store
        return made.clone()


def Sequential(  # noqa: N802
    passes: Sequence[Pass | ours.Pass] | None = None,
    opt_level: int = 0,
    name: str = "sequential",
    required: Sequence[str] | None = None,
    traceable: bool = False,
) -> Pass:
    """Passes one after the other, of each what the current context enables."""
    inner: list[ours.Pass] = []
    for p in passes or ():
        if not isinstance(p, (Pass, ours.Pass)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{p!r} is no pass", hint="call its constructor: FoldConstant()")
        inner.append(p.inner if isinstance(p, Pass) else p)
    return Pass(ours.Sequential(inner, opt_level, name, required))


def module_pass(
    pass_func: Any = None, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None, **_: Any
) -> Any:
    """Makes a function `(mod, ctx)`, or a class with `transform_module(mod, ctx)`, a pass."""

    def make(written: Any) -> Any:
        info = PassInfo(opt_level, name or written.__name__, tuple(required or ()))
        if not isinstance(written, type):
            return Pass(OnNodes(written, info))

        def construct(*args: Any, **kwargs: Any) -> Pass:
            made: Any = written(*args, **kwargs)
            return Pass(OnNodes(made.transform_module, info))

        return construct

    return make(pass_func) if pass_func is not None else make


def function_pass(
    pass_func: Any = None, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None, **_: Any
) -> Any:
    """Makes a function `(func, mod, ctx)`, or a class with `transform_function(func, mod, ctx)`, a pass."""

    def on_module(function: Any) -> Callable[[IRModule, PassContext], IRModule]:
        def run(mod: IRModule, ctx: PassContext) -> IRModule:
            made = IRModule(mod.functions, mod.type_definitions)
            for g, f in mod.functions.items():
                made[g] = function(f, mod, ctx)
            return made

        return run

    def make(written: Any) -> Any:
        info = PassInfo(opt_level, name or written.__name__, tuple(required or ()))
        if not isinstance(written, type):
            return Pass(OnNodes(on_module(written), info))

        def construct(*args: Any, **kwargs: Any) -> Pass:
            made: Any = written(*args, **kwargs)
            return Pass(OnNodes(on_module(made.transform_function), info))

        return construct

    return make(pass_func) if pass_func is not None else make


def PrintIR(header: str = "", show_meta_data: bool = False) -> Pass:  # noqa: N802
    """Prints the module to stderr as it goes by."""

    def show(module: ModuleOp, _: ours.PassContext) -> ModuleOp:
        print(f"// {header}\n{looked_at(module).astext(show_meta_data)}", file=sys.stderr)
        return module

    return Pass(ours.FunctionTransform(show, PassInfo(0, "PrintIR")))


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())


__all__ = [
    "IRModule", "OnNodes", "Pass", "PassContext", "PassInfo", "PassInstrument", "PassPrintingInstrument",
    "PassTimingInstrument", "PrintAfterAll", "PrintBeforeAll", "PrintIR", "Sequential", "function_pass",
    "module_pass",
]  # fmt: skip
