"""Tensor programs for a GPU, as text: the kernels, and the host code that launches them.

    fadd = lamina.build(s, [A, B, C], "cuda", target_host="llvm", name="myadd")
    print(fadd.imported_modules[0].get_source())         # CUDA C
    print(fadd.get_source("ptx"))

Running them is not supported: a call says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import AccessOp
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.ir.diagnostics import location_text
from lamina.tensor.target import DEVICE_KINDS, Target

FORMATS = ("te", "tir", "cuda", "ptx")
"""Formats of `get_source`: the program at the te level, kernels and host code at the tir level, kernels as text."""


class DeviceModule:
    """A program for a GPU: the host's part, `imported_modules` its kernels."""

    def __init__(self, source: ModuleOp, name: str, target: Target) -> None:
        """`source` is the module of the te level; it is not changed.

        Raises LaminaError where a schedule cannot be applied, no loop is bound, a stage runs outside of all kernels or
        an op has no text for the target.
        """
        self.entry_name = name
        self.target = target
        self.type_key = "llvm"
        self._texts = {"te": _text(source)}
        self._module = _split(source.clone(), target)
        self._texts["tir"] = _text(self._module)
        self.imported_modules = [KernelModule(self, DEVICE_KINDS[target.kind])]
        self.get_source(DEVICE_KINDS[target.kind])

    def get_source(self, fmt: str = "tir") -> str:
        """The program at a level: `te`, `tir`, `cuda` (CUDA C) or `ptx`."""
        fmt = fmt or "tir"
        if fmt not in FORMATS:
            hint = did_you_mean(fmt, list(FORMATS)) or f"there are {', '.join(FORMATS)}"
            raise UsageError(f"no format {fmt!r}", hint=hint)
        if fmt not in self._texts:
            self._texts[fmt] = self._compile(fmt)
        return self._texts[fmt]

    def _compile(self, fmt: str) -> str:
        from lamina.backends import cuda, nvptx

        try:
            compile_device = cuda.compile_device if fmt == "cuda" else nvptx.compile_device
            return compile_device(self._module, self.target.arch)
        except InputError as error:
            if error.op is not None and not error.where:
                error.where = location_text(error.op)
            raise

    def __call__(self, *_: Any) -> None:
        """Raises UnsupportedError."""
        raise UnsupportedError(
            f"{self.entry_name}: kernels for {self.target.kind!r} are compiled but not run",
            hint="read them with get_source(), or build for 'llvm' to run the program here",
        )

    def time_evaluator(self, func_name: str | None = None, dev: Any = None, **_: Any) -> Callable[..., Any]:
        """Return a timer of calls; since the program is not run, it raises UnsupportedError when it is called."""
        return self.__call__

    def get_function(self, name: str) -> DeviceModule:
        """The program by its name."""
        if name not in (self.entry_name, "__tvm_main__", "default_function", "main"):
            raise UsageError(f"no function {name!r}; this module holds {self.entry_name!r}")
        return self

    __getitem__ = get_function

    @property
    def entry_func(self) -> DeviceModule:
        return self


class KernelModule:
    """The kernels of a program, as the text that the target is."""

    def __init__(self, host: DeviceModule, type_key: str) -> None:
        self.type_key = type_key
        self.imported_modules: list[Any] = []
        self._host = host

    def get_source(self, fmt: str = "") -> str:
        """The kernels, by default in the target's format: `cuda` or `ptx`."""
        return self._host.get_source(fmt or self.type_key)


def _text(module: ModuleOp) -> str:
    from lamina.ir.printing import module_text

    return module_text(module)


def _split(module: ModuleOp, target: Target) -> ModuleOp:
    """Kernels and host code of a module of the te level, which is changed."""
    from lamina.driver.pipelines import DEVICE_PIPELINE, enabled
    from lamina.ir.collector import quiet_gc
    from lamina.tensor.passes import run_passes
    from lamina.transform import PassContext

    passes, last = enabled(DEVICE_PIPELINE[:-1], PassContext.active() or PassContext(0)), DEVICE_PIPELINE[-1]
    options = " ".join(f"{name.replace('_', '-')}={value}" for name, value in target.limits().items())
    with quiet_gc():
        run_passes(module, [*passes, f"{last}{{{options}}}" if options else last])
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if not any(DEVICE in f.attributes for f in functions):
        raise InputError(
            f"no loop is bound to threads, so there is no kernel for {target.kind!r}",
            hint='bind one: s[C].bind(i, te.thread_axis("blockIdx.x"))',
        )
    for op in (o for f in functions if DEVICE not in f.attributes for o in f.walk()):
        if isinstance(op, AccessOp):
            name = op.buffer_value().name_hint or "a buffer"
            raise InputError(
                f"{name} is used outside of all kernels, where there is no thread of {target.kind!r}",
                where=location_text(op),
                hint="bind a loop of its stage, or compute the stage at a loop that is bound",
            )
    return module
