"""Machine code from LLVM assembly, and libraries of it in this process.

No LLVM IR pass runs: the kernels come as SSA with their loops already shaped, and O1 to O3 undo the order of loads
that keeps them fast (SROA alone, when a buffer had to stay an alloca). Only llvmlite is imported here, and when a
function is called, since the compile workers start from this file.
"""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.dialects.machine_spec import has_system, is_bare

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from lamina.dialects.machine_spec import TargetSpec
    from lamina.dialects.target import TargetAttr

CODEGEN_LEVEL = 2
"""LLVM's code generator at -O2; 0 loses a third of the speed, 3 gains nothing."""


UNROLLED_TEXT = 50_000
"""Bytes of a text from which on LLVM leaves addresses as they are on x86, whose loads and stores add and scale.

So large are tiles that are written out: their addresses are constants off a few pointers.
LLVM's strength reduction of loops weighs all ways to form all of them against each other, for half a second in one
kernel, and what comes out is as fast. In small kernels (a depthwise convolution, the step of a scan) it gains 2 %.
"""

SCHEDULED = ("aarch64", "riscv")
"""Processors for which LLVM's scheduler orders instructions: those for which it does by itself, but for x86."""

CODEGEN = f"codegen {CODEGEN_LEVEL} pic order said, addresses as written from {UNROLLED_TEXT}"
"""All that decides the code beside the text and the machine, for the keys of objects."""


class CompileError(RuntimeError):
    """LLVM refused the assembly text. Always a fault of ours, never of the user."""


class Machine(NamedTuple):
    """LLVM's view of a target; plain strings, so that it crosses process borders."""

    triple: str
    cpu: str
    features: str

    @property
    def is_bare(self) -> bool:
        """Whether there is no system: programs are linked to fixed addresses, and lie in as little memory as can be."""
        return is_bare(self.triple)


def machine_of(target: TargetAttr | Machine) -> Machine:
    """The triple, processor and features of a target; a Machine as it is."""
    if isinstance(target, Machine):
        return target
    return Machine(target.triple.data, target.cpu.data, target.features.data)


_ABIS = {"riscv64": "lp64d"}
"""The conventions of calls where the triple does not say them: floats in registers."""
_ready = False
_machines: dict[Machine, Any] = {}


def _binding() -> Any:
    global _ready
    import llvmlite.binding as binding  # pyright: ignore[reportMissingTypeStubs]

    if not _ready:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        binding.initialize_native_asmparser()
        _ready = True
    return binding


def load_llvm() -> None:
    """Do now what the first compilation of a process does once."""
    _binding()


def llvm_version() -> str:
    """LLVM's and llvmlite's version: part of the key of a cached object."""
    import llvmlite  # pyright: ignore[reportMissingTypeStubs]

    return ".".join(map(str, _binding().llvm_version_info)) + "/" + llvmlite.__version__


def _target_machine(machine: Machine) -> Any:
    found = _machines.get(machine)
    if found is None:
        binding = _binding()
        try:
            target = binding.Target.from_triple(machine.triple)
        except RuntimeError as error:
            raise CompileError(f"unknown triple '{machine.triple}': {error}") from error
        # Position-independent code of the small model can be loaded anywhere and linked into a shared object. Without
        # a system nothing is loaded, and tables of addresses are to stay in read-only memory.
        found = _machines[machine] = target.create_target_machine(
            cpu=machine.cpu,
            features=machine.features,
            opt=CODEGEN_LEVEL,
            reloc="pic" if has_system(machine.triple) else "static",
            codemodel="default",
            abiname=_ABIS.get(machine.triple.partition("-")[0], ""),
        )
    return found


def _parsed(text: str, machine: Machine) -> tuple[Any, Any]:
    binding = _binding()
    target_machine = _target_machine(machine)
    try:
        module = binding.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(target_machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM refuses the text of a kernel: {_first_lines(str(error))}") from error
    if " alloca " in text:
        _promote(binding, target_machine, module)
    return target_machine, module


def _promote(binding: Any, target_machine: Any, module: Any) -> None:
    """SROA: stack slots that could be values become values. The only IR pass that ever runs."""
    options = binding.create_pipeline_tuning_options(speed_level=0)
    builder = binding.create_pass_builder(target_machine, options)
    manager = binding.create_new_module_pass_manager()
    manager.add_sroa_pass()
    manager.run(module, builder)


def _first_lines(text: str, count: int = 6) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return "\n".join(lines[:count])


_ordering = threading.Lock()


@contextmanager
def _as_written(machine: Machine, text: str) -> Generator[None]:
    """Instructions stay in the order of the text while LLVM makes code for x86, addresses of a large text as they are.

    Its scheduler brings loads forward across the steps of a micro-kernel until the accumulators no longer fit into the
    registers. x86 processors look hundreds of instructions ahead themselves. The options are the whole process's, and
    one that was ever set is no target's default any more: each compilation says both, or its code would depend on what
    was compiled before. Afterwards they are x86's defaults, for who else uses LLVM here.
    """
    large = machine.triple.startswith("x86_64") and len(text) >= UNROLLED_TEXT
    binding = _binding()

    def say(scheduled: bool, as_they_are: bool) -> None:
        binding.set_option("lamina", f"--enable-misched={int(scheduled)}")
        binding.set_option("lamina", f"--disable-lsr={int(as_they_are)}")

    with _ordering:
        say(machine.triple.startswith(SCHEDULED), large)
        try:
            yield
        finally:
            say(True, False)


def compile_object(text: str, target: TargetAttr | Machine) -> bytes:
    """The object file of one LLVM assembly text."""
    machine = machine_of(target)
    target_machine, module = _parsed(text, machine)
    with _as_written(machine, text):
        return bytes(target_machine.emit_object(module))


def assembly(text: str, target: TargetAttr | Machine) -> str:
    """The machine code of one LLVM assembly text, for reading."""
    machine = machine_of(target)
    target_machine, module = _parsed(text, machine)
    with _as_written(machine, text):
        return str(target_machine.emit_assembly(module))


class JitLibrary:
    """Machine code in this process. Addresses are valid while the library is referenced."""

    def __init__(self, jit: Any, trackers: list[Any], name: str) -> None:
        self._jit = jit
        self._trackers = trackers
        self._name = name
        self._addresses: dict[str, int] = {}

    def address(self, symbol: str) -> int:
        """The address of a function or global; CompileError when there is none."""
        found = self._addresses.get(symbol)
        if found is None:
            try:
                tracker = self._jit.lookup(self._name, symbol)
            except RuntimeError as error:
                raise CompileError(f"symbol '{symbol}': {_first_lines(str(error), 2)}") from error
            self._trackers.append(tracker)
            found = self._addresses[symbol] = int(tracker[symbol])
        return found

    def function(self, symbol: str, result: Any, *arguments: Any) -> Any:
        """A ctypes function for the symbol; it keeps the library alive."""
        call = ctypes.CFUNCTYPE(result, *arguments)(self.address(symbol))
        call.library = self  # type: ignore[attr-defined]
        return call


_jit: Any = None
_count = 0


def _session() -> Any:
    """One ORC session for the process: libraries in it can be loaded and dropped one by one."""
    global _jit
    if _jit is None:
        from lamina.backends.cpu.machines import processor

        binding = _binding()
        target = binding.Target.from_triple(processor().triple)
        machine = target.create_target_machine(
            cpu=processor().cpu, opt=CODEGEN_LEVEL, reloc="pic", codemodel="default", jit=True
        )
        # The other linker puts the sections of an object wherever there is room, and ends the process where two that
        # refer to each other are more than 2 GB apart.
        _jit = binding.create_lljit_compiler(machine, use_jit_link=True)
    return _jit


def link_objects(
    objects: Iterable[bytes], exports: Sequence[str] = (), symbols: Mapping[str, int] | None = None
) -> JitLibrary:
    """Link objects into one library of this process. Names in `exports` are resolved at once, `symbols` are addresses
    of what they call. Raises CompileError."""
    global _count
    jit = _session()
    binding = _binding()
    _count += 1
    name = f"lamina.{_count}"
    builder = binding.JITLibraryBuilder().add_current_process()
    for data in objects:
        builder.add_object_img(data)
    for symbol in exports:
        builder.export_symbol(symbol)
    for symbol, address in (symbols or {}).items():
        builder.import_symbol(symbol, address)
    try:
        tracker = builder.link(jit, name)
    except RuntimeError as error:
        raise CompileError(f"linking failed: {_first_lines(str(error))}") from error
    return JitLibrary(jit, [tracker], name)


# targets


def host_target(threads: int | None = None) -> TargetAttr:
    """This machine: its CPU and features, and as many threads as the process may use."""
    return host_spec(threads).attr()


def host_spec(threads: int | None = None) -> TargetSpec:
    """The same as plain values."""
    from lamina.backends.cpu.machines import host
    from lamina.backends.cpu.processors import available_threads

    return host().with_threads(available_threads() if threads is None else max(1, threads))


def is_named_target(name: str) -> bool:
    """Whether `named_target` has a target of that name."""
    from lamina.backends.cpu.machines import is_named

    return name == "cpu" or is_named(name)


def named_target(name: str, threads: int = 1) -> TargetAttr:
    """A target by name: `cpu` for this machine, or one that is the same everywhere, for tests. Raises UsageError."""
    return named_spec(name, threads).attr()


def named_spec(name: str, threads: int = 1) -> TargetSpec:
    """The same as plain values."""
    from lamina.backends.cpu.machines import hint_for, is_named, named
    from lamina.errors import UsageError

    if name == "cpu":
        return host_spec(threads)
    if not is_named(name):
        raise UsageError(f"unknown target '{name}'", hint=hint_for(name, ["cpu"]))
    return named(name).with_threads(threads)
