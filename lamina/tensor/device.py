"""Tensor programs for a GPU, as text: the kernels, and the host code that launches them.

    fadd = lamina.build(s, [A, B, C], "cuda", target_host="llvm", name="myadd")
    print(fadd.imported_modules[0].get_source())         # CUDA C
    print(fadd.get_source("ptx"))

Those for `opencl` are called as others are, where a driver of OpenCL is installed. Running the others is not supported:
a call says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import AccessOp
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError, did_you_mean
from lamina.ir.diagnostics import location_text
from lamina.ir.location import placed
from lamina.te.function import TensorFunction
from lamina.tensor.call_arguments import CallArguments
from lamina.tensor.target import DEFAULT_ARCH, DEVICE_KINDS, Target
from lamina.tensor.timing import EntryFunction

if TYPE_CHECKING:
    from lamina.runtime.device_program import DeviceCall, DeviceProgram
    from lamina.runtime.packed import PackedSignature

FORMATS = ("te", "tir", *DEVICE_KINDS.values())
"""Formats of `get_source`: the program at the te level, kernels and host code at the tir level, kernels as text."""
RUNNABLE = ("opencl",)
"""Kinds of targets whose programs are run."""


class DeviceModule(EntryFunction):
    """A program for a GPU: the host's part, `imported_modules` its kernels.

    One for `opencl` is called on arrays (and numbers for sizes and scalars) in the order of its arguments.
    """

    def __init__(
        self,
        source: ModuleOp,
        name: str,
        target: Target,
        function: TensorFunction | None = None,
        args: Sequence[Any] = (),
    ) -> None:
        """`source` is the module of the te level; it is not changed.

        Raises LaminaError where a schedule cannot be applied, no loop is bound, a stage runs outside of all kernels or
        an op has no text for the target.
        """
        self.entry_name = name
        self.target = target
        self.type_key = "llvm"
        self._texts = {"te": _text(source)}
        self._module, signature = _split(source.clone(), target)
        self._call = CallArguments.of(name, signature, function, args)
        self._programs: dict[int, DeviceProgram] = {}
        self._texts["tir"] = _text(self._module)
        self.imported_modules = [KernelModule(self, DEVICE_KINDS[target.kind])]
        self.get_source(DEVICE_KINDS[target.kind])

    def get_source(self, fmt: str = "tir") -> str:
        """The program at a level: `te`, `tir`, `cuda` (CUDA C), `ptx`, `opencl` (OpenCL C) or `amdgcn` (assembly)."""
        fmt = fmt or "tir"
        if fmt not in FORMATS:
            hint = did_you_mean(fmt, list(FORMATS)) or f"there are {', '.join(FORMATS)}"
            raise UsageError(f"no format {fmt!r}", hint=hint)
        if fmt not in self._texts:
            self._texts[fmt] = self._compile(fmt)
        return self._texts[fmt]

    def _compile(self, fmt: str) -> str:
        from lamina.backends import cuda, nvptx, opencl, rocm

        try:
            if fmt == "opencl":
                return opencl.compile_device(self._module)
            compile_device = {"cuda": cuda, "ptx": nvptx, "amdgcn": rocm}[fmt].compile_device
            return compile_device(self._module, self._arch(fmt))
        except LaminaError as error:
            if error.op is not None and not error.where:
                error.where = location_text(error.op)
            raise

    def _arch(self, fmt: str) -> str:
        """The architecture that a text is for: the target's, or the first of GPUs that are another maker's."""
        default = DEFAULT_ARCH["rocm" if fmt == "amdgcn" else "cuda"]
        return self.target.arch if self.target.arch[:2] == default[:2] else default

    def get_object(self) -> bytes:
        """The kernels as a relocatable object for AMD GPUs. Raises UsageError where the target is another one."""
        from lamina.backends import rocm

        if self.target.kind != "rocm":
            raise UsageError(f"kernels for {self.target.kind!r} are a text", hint="get_source() gives it")
        return rocm.compile_object(self._module, self.target.arch)

    # -- running ---------------------------------------------------------------------------------------------

    @placed
    def __call__(self, *args: Any) -> None:
        """Run once. Raises LaminaError for a wrong number, dtype, rank or shape of arguments.

        Raises UnsupportedError where programs of the target are not run, or not on this machine.
        """
        with self._bound(args) as call:
            call.run()

    @contextmanager
    def timed(self, args: Sequence[Any]) -> Generator[Callable[[int], None]]:
        """The launches alone: the arguments are on the device already."""
        with self._bound(args) as call:

            def run(count: int) -> None:
                for _ in range(count):
                    call.run()
                call.finish()

            run(1)  # the driver compiles what is left for it
            yield run

    @contextmanager
    def _bound(self, args: Sequence[Any]) -> Generator[DeviceCall]:
        """The arguments on the device; at the end the outputs come back."""
        if self.target.kind not in RUNNABLE:
            raise UnsupportedError(
                f"{self.entry_name}: kernels for {self.target.kind!r} are compiled but not run",
                hint="read them with get_source(), or build for 'opencl' or 'llvm' to run the program here",
            )
        sizes, inputs, outputs, copies = self._call.bound(args)
        with self._program(_device_number(args)).call(sizes, inputs, outputs) as call:
            yield call
            call.read()
        for target, source in copies:
            target[...] = source

    def _program(self, number: int) -> DeviceProgram:
        """The program as it was built for a device."""
        if number not in self._programs:
            from lamina.backends.opencl import kernel_names
            from lamina.runtime.device_program import DeviceProgram
            from lamina.runtime.opencl import device

            text, names = self.get_source("opencl"), kernel_names(self._module)
            self._programs[number] = DeviceProgram(self._module, text, names, device(number))
        return self._programs[number]


def _device_number(args: Sequence[Any]) -> int:
    """The device that arrays say they are on, the first where none says it. Raises UsageError where they differ."""
    devices: list[Any] = [getattr(a, "device", None) for a in args]
    numbers: set[int] = {d.device_id for d in devices if getattr(d, "kind", "") in RUNNABLE}
    if len(numbers) > 1:
        raise UsageError(f"arrays of one call are on the devices {', '.join(map(str, sorted(numbers)))}")
    return numbers.pop() if numbers else 0


class KernelModule:
    """The kernels of a program, as the text that the target is."""

    def __init__(self, host: DeviceModule, type_key: str) -> None:
        self.type_key = type_key
        self.imported_modules: list[Any] = []
        self._host = host

    def get_source(self, fmt: str = "") -> str:
        """The kernels, by default in the target's format: `cuda`, `ptx`, `opencl` or `amdgcn`."""
        return self._host.get_source(fmt or self.type_key)

    def save(self, file_name: str | os.PathLike[str], fmt: str = "") -> None:
        """Write the kernels: their text, or with the suffix .o the object for AMD GPUs. Raises LaminaError."""
        from lamina.driver.export import write_whole

        is_object = (fmt or os.path.splitext(file_name)[1].lstrip(".")) == "o"
        data = self._host.get_object() if is_object else self.get_source(fmt).encode()

        def write(file: BinaryIO) -> None:
            file.write(data)

        write_whole(Path(file_name), write)


def _text(module: ModuleOp) -> str:
    from lamina.ir.printing import module_text

    return module_text(module)


def _split(module: ModuleOp, target: Target) -> tuple[ModuleOp, PackedSignature]:
    """Kernels and host code of a module of the te level, which is changed, and how it is called."""
    from lamina.driver.pipelines import DEVICE_PIPELINE, enabled
    from lamina.ir.collector import quiet_gc
    from lamina.runtime.packed import PackedSignature
    from lamina.tensor.passes import run_passes
    from lamina.transform import PassContext

    (stair, *passes), last = enabled(DEVICE_PIPELINE[:-1], PassContext.active() or PassContext(0)), DEVICE_PIPELINE[-1]
    options = " ".join(f"{name.replace('_', '-')}={value}" for name, value in target.limits().items())
    with quiet_gc():
        packed = run_passes(run_passes(module, [stair]).clone(), ["tir-make-packed-api"])
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
    return module, PackedSignature.of(packed)
