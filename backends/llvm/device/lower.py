"""The body of a kernel of the device as llvm ops: the stair `tir-to-llvm`, and what all GPUs have.

A loop of threads is no loop: its variable is a register of the machine. Shared memory is a global of address space 3,
used through a generic pointer where LLVM finds the way back from it. A barrier ends what is known of memory: its rule
is the machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IndexType, IntAttr, IntegerAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lamina.dialects.dtypes import dtype_name, itemsize, scalar_type
from lamina.dialects.index.index_map import LANE
from lamina.dialects.index.linear import Linear
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.schedule.nest.threads import is_real, tag_of
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp, type_of
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.errors import InputError
from lamina.passes.base import has_location, inherit_location
from lamina.passes.rules.conversion import Conversion
from lamina.passes.tir_to_llvm.access import Access
from lamina.passes.tir_to_llvm.builder import POINTER, FunctionBuilder
from lamina.passes.tir_to_llvm.replay import Replay
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import memory_type

SHARED = 3
"""The address space of the memory of a block."""
SHARED_ALIGNMENT = 128
WIDEST = 16
"""The bytes of the widest load or store."""


@dataclass(frozen=True)
class GpuMachine:
    """A kind of GPUs: all that it does in its own way."""

    rules: Conversion[DeviceReplay, Step]
    """Those of the pass, with the name of which its errors begin."""
    code: str
    """The code that kernels become, as errors name it."""
    registers: Mapping[str, str]
    """The intrinsics that tell a thread its number and its block's, but for the axis: by `threadIdx` and `blockIdx`."""
    kernel: str
    """MLIR's mark of a function that the host launches."""
    bounds: Callable[[list[int] | None], list[Attribute]]
    """The words of a function that say how many threads a block has along x, y and z, where that is known."""
    stack_space: int = 0
    """The address space of a thread's own memory."""
    buffer_space: int = 0
    """That of the buffers that a kernel takes."""
    infers: bool = True
    """Whether LLVM finds address spaces behind generic pointers, so that shared buffers need no other ones."""

    @property
    def buffer_type(self) -> Attribute:
        """The type of a buffer that a kernel takes."""
        return llvm.LLVMPointerType(IntAttr(self.buffer_space)) if self.buffer_space else POINTER


def lower_body(func: FuncOp, entry: Block, machine: GpuMachine) -> tuple[list[Block], list[llvm.GlobalOp]]:
    """The blocks of a kernel and its shared buffers; `entry` has an argument for each of the kernel."""
    builder = FunctionBuilder(entry, _no_library(func, machine), stack_space=machine.stack_space)
    pointers: dict[SSAValue, SSAValue] = {}
    for old, new in zip(func.body.block.args, entry.args, strict=True):
        new.name_hint = old.name_hint
        if isinstance(old.type, IndexType):
            builder.variables[old] = new
            builder.depth[old] = 0
        else:
            pointers[old] = new
    replay = DeviceReplay(builder, pointers, func.sym_name.data, machine)
    for step in replay.compile(func.body.block):
        step()
    builder.add(llvm.ReturnOp.create())
    return builder.finish(), replay.globals


def _no_library(func: FuncOp, machine: GpuMachine) -> Callable[[str, Sequence[Attribute], Attribute], None]:
    def declare(symbol: str, inputs: Sequence[Attribute], output: Attribute) -> None:
        raise InputError(
            f"{machine.rules.name}: @{func.sym_name.data} needs {symbol}, which {machine.code} has not", op=func
        )

    return declare


device_tir_to_llvm: Conversion[DeviceReplay, Step] = Conversion(
    "device-tir-to-llvm", "a kernel of the device", base=tir_to_llvm
)
"""The rules of the device where they are not those of the processor."""


class DeviceReplay(Replay):
    """Lowers the body of one kernel of the device."""

    def __init__(
        self, builder: FunctionBuilder, pointers: dict[SSAValue, SSAValue], name: str, machine: GpuMachine
    ) -> None:
        self.conversion = machine.rules
        super().__init__(builder, pointers)
        self.name = name
        self.machine = machine
        self.globals: list[llvm.GlobalOp] = []

    def compile_step(self, op: Operation) -> Step:
        return self.located(super().compile_step(op), op)

    def located(self, step: Step, op: Operation) -> Step:
        """A step whose ops come from where `op` does, so that one without PTX is named there."""
        if op.regions or not has_location(op):
            return step

        def run() -> None:
            code, before = self.b.code, len(self.b.code)
            step()
            for new in code[before:]:
                inherit_location(new, op)

        return run

    def special_register(self, name: str) -> SSAValue:
        """A register of the machine that tells a thread its number, as an i64."""
        b = self.b
        cache = b.levels[0].cache

        def read() -> SSAValue:
            op = llvm.CallIntrinsicOp(name, [], [i32])
            b.add(op)
            return b.emit(llvm.ZExtOp, [op.results[0]], i64, {})

        found = cache.get(("register", name))
        if found is None:
            found = cache[("register", name)] = b.at_level(0, read)
        return found

    def forget(self) -> None:
        """Other threads have written: nothing that was read is known any more."""
        self.loaded = {}

    def shared_buffer(self, op: AllocOp) -> SSAValue:
        """A global of the block's memory, which has no initial value."""
        type_ = op.result.type
        size = max(prod(type_.get_shape()), 1)
        array = llvm.LLVMArrayType(size, memory_type(scalar_type(type_.element_type)))
        value = llvm.PoisonOp.create(result_types=[array])
        global_ = llvm.GlobalOp(
            array,
            f"{self.name}.{op.stage.data}.{len(self.globals)}",
            "internal",
            addr_space=SHARED,
            alignment=SHARED_ALIGNMENT,
            body=Region(Block([value, llvm.ReturnOp.create(operands=[value.results[0]])])),
        )
        self.globals.append(global_)
        b = self.b
        pointer = llvm.LLVMPointerType(IntAttr(SHARED))

        def make() -> SSAValue:
            address = llvm.AddressOfOp(global_.sym_name.data, pointer)
            b.add(address)
            if not self.machine.infers:
                return address.results[0]
            return b.emit(llvm.AddrSpaceCastOp, [address.results[0]], POINTER, {})

        return b.at_level(0, make)

    def widen(self, access: Access, op: AccessOp) -> None:
        """Tell the alignment of a vector whose index is a multiple of its lanes, so that it is one instruction.

        Buffers start at multiples of 16 bytes.
        """
        lanes = access.lanes
        if lanes is None or access.rows or lanes & (lanes - 1) or self.buffer_is_register(op):
            return
        size = itemsize(dtype_name(type_of(op.buffer_value()).element_type))
        while lanes > 1 and lanes * size > WIDEST:
            lanes //= 2
        rest = Linear({a: c for a, c in access.flat.terms.items() if a != LANE}, access.flat.const)
        if access.lane_stride != 1 or any(c % lanes for c in rest.terms.values()) or rest.const % lanes:
            return
        access.alignment = {"alignment": IntegerAttr(lanes * size, i64)}
        access.masked = {"alignment": IntegerAttr(lanes * size, i32)}

    def buffer_is_register(self, op: AccessOp) -> bool:
        return op.buffer_value() in self.registers


@device_tir_to_llvm.lowers(ForOp)
def loop(op: ForOp, replay: DeviceReplay) -> Step:
    """A loop of threads is its body, the variable a register of the machine; others are the processor's."""
    if not is_real(op):
        return tir_to_llvm.lower(op, replay)
    # As many threads have been started as the loop has iterations.
    kind, axis = tag_of(op).split(".")
    number = replay.special_register(f"{replay.machine.registers[kind]}.{axis}")
    number.name_hint = op.var.name_hint
    replay.b.depth[op.var] = 0
    replay.b.variables[op.var] = number
    steps = replay.compile(op.body.block)

    def step() -> None:
        for s in steps:
            s()

    return step


@device_tir_to_llvm.lowers(IfOp)
def branch(op: IfOp, replay: DeviceReplay) -> Step:
    """The processor's; behind a barrier inside of it nothing that was read is known any more."""
    step = tir_to_llvm.lower(op, replay)
    if any(isinstance(inner, BarrierOp) for inner in op.walk()):
        return lambda: (step(), replay.forget())[0]
    return step


@device_tir_to_llvm.lowers(PrefetchOp)
def prefetch(op: PrefetchOp, replay: DeviceReplay) -> Step:
    """Nothing: LLVM has no instruction of a GPU for the hint."""
    return lambda: None


@device_tir_to_llvm.lowers(LoadOp)
def load(op: LoadOp, replay: DeviceReplay) -> Step:
    """The processor's; a vector whose place is known to be aligned is one instruction."""
    access = Access(replay, op)
    replay.widen(access, op)
    return access.load_step()


@device_tir_to_llvm.lowers(StoreOp)
def store(op: StoreOp, replay: DeviceReplay) -> Step:
    """The processor's; a vector whose place is known to be aligned is one instruction."""
    access = Access(replay, op)
    replay.widen(access, op)
    return access.store_step()


@device_tir_to_llvm.lowers(AllocOp)
def alloc(op: AllocOp, replay: DeviceReplay) -> Step:
    """A global of address space 3 for a shared buffer; others are the processor's."""
    scope = op.scope.data
    if scope == "shared":
        replay.pointers[op.result] = replay.shared_buffer(op)
        return replay.forget
    if scope == "global":
        raise InputError(
            f'{replay.machine.rules.name}: the buffer {op.stage.data!r} of scope "global" is made inside of a kernel; '
            "run tir-unify-thread-binding",
            op=op,
        )
    return tir_to_llvm.lower(op, replay)
