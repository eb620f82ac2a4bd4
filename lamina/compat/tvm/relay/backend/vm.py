"""`relay.vm` and `tvm.runtime.vm`: modules compiled for our machine, which runs control flow, data types, functions.

exe = relay.vm.compile(mod, target="llvm", params=params)
vm = tvm.runtime.vm.VirtualMachine(exe, tvm.cpu())
vm.invoke("main", data)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.func import FuncOp

from lamina.compat.tvm.composite_targets import compile_target
from lamina.compat.tvm.devices import Device, cpu
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.relay.backend.interpreter import Constructors, plain, wrapped
from lamina.compat.tvm.relay.build_module import optimize, with_params
from lamina.compat.tvm.relay.library_files import SAVED_IN_TAR, TAR
from lamina.compat.tvm.tar_files import write_tar
from lamina.dialects.machine_spec import TargetSpec
from lamina.dialects.value_names import NAME
from lamina.driver import artefact
from lamina.driver.compilation import Source
from lamina.driver.compiled_kernels import CompiledKernels
from lamina.driver.machine_program import MachineProgram
from lamina.driver.settings import Settings
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.measure.summaries import BenchmarkResult, timed
from lamina.store.program_cache import enabled
from lamina.transform import PassContext
from lamina.vm import vm


class Executable:
    """A module with what has been compiled of it. Code of tensor operators is made when shapes are first seen.

    code, lib = exe.save(); lib.export_library("net.so")          the code is the program's text; lib has it as well
    exe = Executable.load_exec(code, tvm.runtime.load_module("net.so"))
    """

    def __init__(self, mod: IRModule, target: Any, context: PassContext, saved: MachineProgram | None = None) -> None:
        module, store = mod.ir()
        self._module = module
        self._program = saved
        if saved is None and "main" in mod:
            settings = Settings(TargetSpec.of(compile_target(target)), context)
            self._program = MachineProgram(Source(module, store, "main"), settings, enabled(True))
        if self._program is not None:
            self.machine = self._program.machine
        else:
            self.machine = vm.VirtualMachine(module, CompiledKernels(store, compile_target(target), context))
        self.constructors = Constructors(mod.type_definitions)
        self.parameters = {name: _parameters(op) for name, op in self.machine.functions.items()}
        """The names of what each function takes."""

    @property
    def globals(self) -> list[str]:
        return list(self.parameters)

    def get_function_params(self, func_name: str) -> list[str]:
        """The names of the parameters of a function. Raises UsageError where there is none of the name."""
        if func_name not in self.parameters:
            raise UsageError(
                f"the program has no function {func_name!r}",
                hint=did_you_mean(func_name, self.globals) or f"it has {', '.join(self.globals)}",
            )
        return self.parameters[func_name]

    @property
    def bytecode(self) -> str:
        """The text of our IR, which the virtual machine runs."""
        return str(self._module)

    @property
    def lib(self) -> Executable:
        return self

    mod = module = lib

    def save(self) -> tuple[bytearray, Executable]:
        """The program's text as bytes, and what has the machine code: `export_library` writes both into one file."""
        return bytearray(self.bytecode.encode()), self

    def export_library(
        self, file_name: str | os.PathLike[str], *, fcompile: Any = None, addons: Any = None, **_: Any
    ) -> str:
        """Write the program into one file; its path.

        It is in our format (`lamina/driver/artefact.py`), for .tar in an archive. What tensor operators of known shapes
        need is compiled before. Raises LaminaError.
        """
        if addons:
            raise UsageError("addons cannot be exported", hint="the file holds the program and its weights")
        if self._program is None:
            raise UsageError("a program without main cannot be exported", hint=f"it has {', '.join(self.globals)}")
        saved = artefact.machine_saved(self._program, {_KIND: "vm"})
        if str(file_name).endswith(TAR):
            write_tar(file_name, {SAVED_IN_TAR: artefact.to_bytes(saved)})
        else:
            artefact.write(file_name, saved)
        return str(file_name)

    @staticmethod
    def load_exec(bytecode: bytes | bytearray, lib: Any) -> Executable:
        """The program of a library that `load_module` has read. Raises InputError where the code is another one's."""
        if not isinstance(lib, Executable):
            raise UsageError(f"{type(lib).__name__} is no library of relay.vm.compile", hint="exe.save() gives one")
        if bytes(bytecode) != lib.bytecode.encode():
            raise InputError("the code is not that of the library", hint="load the two that were saved together")
        return lib

    @staticmethod
    def of_saved(saved: artefact.Saved) -> Executable | None:
        """The program of a file; None where `export_library` of another kind of library wrote it."""
        if saved.kind != artefact.MACHINE or saved.notes.get(_KIND) != "vm":
            return None
        program, _ = artefact.load_machine(saved)
        return Executable(IRModule.of_ir(program.module, program.store), None, saved.settings.context, program)


def _parameters(function: FuncOp) -> list[str]:
    given = [a.data.get(NAME) for a in function.arg_attrs.data] if function.arg_attrs is not None else []
    names = [a.name_hint or f"p{n}" for n, a in enumerate(function.body.block.args)] if function.body.blocks else []
    return [getattr(given[n], "data", name) if n < len(given) else name for n, name in enumerate(names)]


_KIND = "tvm.kind"


class VirtualMachine:
    """Runs the functions of an executable: `run`, `invoke`, or `set_input` and then `invoke_stateful`."""

    NAIVE_ALLOCATOR = 1
    POOLED_ALLOCATOR = 2

    def __init__(self, exe: Executable, device: Any = None, memory_cfg: Any = None) -> None:
        if not isinstance(exe, Executable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"a virtual machine runs an executable, not a {type(exe).__name__}",
                             hint="relay.vm.compile(mod, target)")  # fmt: skip
        devices = cast("list[Any]", device) if isinstance(device, (list, tuple)) else [device]
        self.device: Device = devices[0] or cpu(0)
        self._exe = exe
        self._inputs: dict[str, list[Any]] = {}
        self._outputs: Any = None

    def _arguments(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        names = self._exe.get_function_params(name)
        if len(args) > len(names):
            raise InputError(f"{name} takes {len(names)} arguments, {len(args)} are given")
        given = dict(zip(names, args, strict=False))
        for key in kwargs:
            if key not in names or key in given:
                what = "is given twice" if key in given else f"is no parameter of {name}"
                raise InputError(f"{key!r} {what}", hint=did_you_mean(key, names) or f"it takes {', '.join(names)}")
        given.update(kwargs)
        missing = [n for n in names if n not in given]
        if missing:
            raise InputError(f"{name} is called without {', '.join(map(repr, missing))}")
        return [given[n] for n in names]

    def set_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Set the arguments of a function, in order or by name."""
        self._inputs[func_name] = self._arguments(func_name, args, kwargs)

    def set_one_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """One argument of a function: its name or number and the value, or the value by the name."""
        names = self._exe.get_function_params(func_name)
        pairs = dict(kwargs) if kwargs else {args[0] if isinstance(args[0], str) else names[int(args[0])]: args[1]}
        known = self._inputs.setdefault(func_name, [None] * len(names))
        for name, value in pairs.items():
            if name not in names:
                raise InputError(f"{name!r} is no parameter of {func_name}", hint=f"it takes {', '.join(names)}")
            known[names.index(name)] = value

    def invoke(self, func_name: str, *args: Any, **kwargs: Any) -> Any:
        """The value of a function: an NDArray, a list for a tuple, a ConstructorValue for data."""
        if args or kwargs or func_name not in self._inputs:
            self.set_input(func_name, *args, **kwargs)
        self.invoke_stateful(func_name)
        return self._outputs

    def invoke_stateful(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Run a function on what is set; `get_outputs` has what it gives."""
        if args or kwargs or func_name not in self._inputs:
            self.set_input(func_name, *args, **kwargs)
        results = self._exe.machine.run([plain(a) for a in self._inputs[func_name]], func_name)
        self._outputs = wrapped(
            results[0] if len(results) == 1 else tuple(results), self._exe.constructors, self.device
        )

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """The value of `main`."""
        return self.invoke("main", *args, **kwargs)

    def get_outputs(self) -> list[Any]:
        """The results of the last run, as a list."""
        if self._outputs is None:
            raise UsageError("there is no output yet", hint="run() comes before get_outputs()")
        found = self._outputs
        return cast("list[Any]", found) if isinstance(found, list) else [found]

    def get_input_index(self, input_name: str, func_name: str = "main") -> int:
        """The number of a parameter, -1 for a name of none."""
        names = self._exe.get_function_params(func_name)
        return names.index(input_name) if input_name in names else -1

    def benchmark(
        self,
        device: Any,
        *args: Any,
        func_name: str = "main",
        repeat: int = 5,
        number: int = 5,
        min_repeat_ms: int | None = None,
        **kwargs: Any,
    ) -> BenchmarkResult:
        """The mean time of `number` runs, `repeat` times, in seconds."""
        for name in ("limit_zero_time_iterations", "end_to_end", "cooldown_interval_ms", "repeats_to_cooldown"):
            kwargs.pop(name, None)
        self.invoke(func_name, *args, **kwargs)
        return timed(lambda: self.invoke_stateful(func_name), number, repeat, min_repeat_ms)


def compile(  # noqa: A001
    mod: Any, target: Any = None, target_host: Any = None, params: Mapping[str, Any] | None = None
) -> Executable:
    """Compile a module, or a function, for the virtual machine; `params` are weights by `main`'s parameter names.

    The current PassContext says how. Raises LaminaError.
    """
    compiler = VMCompiler()
    compiler.set_params(params or {})
    compiler.lower(mod, target, target_host)
    return compiler.get_exec()


class VMCompiler:
    """Compiles in TVM's steps: `set_params`, `lower`, `codegen`, `get_exec`."""

    def __init__(self) -> None:
        self._params: dict[str, Any] = {}
        self._made: Executable | None = None

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Weights by the names of parameters of `main`."""
        self._params = dict(params)

    def get_params(self) -> dict[str, Any]:
        return dict(self._params)

    def optimize(
        self, mod: Any, target: Any = None, target_host: Any = None, params: Mapping[str, Any] | None = None
    ) -> tuple[IRModule, dict[str, Any]]:
        """The module as the graph passes leave it, and the weights."""
        return optimize(mod, target, {**self._params, **(params or {})})

    def lower(self, mod: Any, target: Any = None, target_host: Any = None) -> None:
        """Take the module in."""
        given = mod if isinstance(mod, IRModule) else IRModule.from_expr(mod)
        known = self._params if "main" in given else None
        self._made = Executable(with_params(given, known), target, PassContext.current())

    def codegen(self) -> None:
        """Nothing is left to do: code is made for the shapes that are met."""
        self.get_exec()

    def get_exec(self) -> Executable:
        if self._made is None:
            raise UsageError("there is no program yet", hint="lower(mod, target) comes before")
        return self._made


__all__ = ["Executable", "VMCompiler", "VirtualMachine", "compile"]
