"""`@main` of tir as data: the program table that the runner walks, one foreign call for a whole inference.

    @main.program    one row for each phase of each call: kernel, extent, grain, first argument, number of
                     arguments, and the function that tells the extent where sizes decide it
    @main.arguments  one row for each buffer argument: which base pointer, and the byte offset from it

The caller of the runner gives the base pointers in this order: status block, arena, inputs (a size is a pointer to an
i64), outputs, parameters, and places in workspaces, the arenas whose size only the caller knows.
The module attribute `lamina.program` says what they are, and what the rows are that call external functions: these have
no kernel, so that whoever runs the program stops before them and calls the backend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i8,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects import edit
from lamina.dialects.index.linear import constant
from lamina.dialects.index.sizes import CONDITIONS, RANGE, SHAPE, symbolic_shape, verify_shapes
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.calls import fits
from lamina.dialects.tir.memory import multiple_of, type_of
from lamina.dialects.tir.ops import AllocOp, CallOp, ParamOp, ViewOp
from lamina.dialects.value_names import NAME
from lamina.errors import InputError, did_you_mean
from lamina.passes.base import node_names
from lamina.passes.relay.partition.external_backends import CODE, COMPILER, CONSTANTS, OUTPUTS
from lamina.passes.rules.conversion import Conversion
from lamina.passes.tir_to_llvm.builder import POINTER

STATUS, ARENA, FIRST_INPUT = 0, 1, 2
"""Positions of the base pointers."""
STATUS_ARGUMENT, TEAM_ARGUMENT, THREADS_ARGUMENT = -1, -2, -3
"""Among the arguments of a phase: the status block, where its checks leave their code; what stands behind the code and
the entry there, which the threads of a team need to meet; and the memory of its threads."""
_BEHIND_ARENA = -1
"""Stands for the base and the offset of the memory of threads until the arena's size is known."""
_GIVEN = {STATUS_ARGUMENT: (STATUS, 0), TEAM_ARGUMENT: (STATUS, 16), THREADS_ARGUMENT: (_BEHIND_ARENA, 0)}

ALIGNMENT = 64
"""Of the tables and of the memory of threads, in bytes: rows and vectors do not straddle more cache lines than they
must."""

ROW = llvm.LLVMStructType.from_type_list([POINTER, i64, i64, i64, i64, POINTER])


KERNEL = 0
"""The column of a row's kernel."""


class Entry(NamedTuple):
    """One row of a program: kernel(args, lo, hi, thread) over [0, extent), at least `grain` iterations at a time.

    A negative grain stands for a team: kernel(args, n, size, n) on at most `extent` threads at the same time.
    """

    kernel: str | None
    """None where an external function is called."""
    extent: int
    grain: int
    arguments: Sequence[tuple[int, int]]
    """(base, byte offset) of each buffer; (0, 0) is the status block."""
    limit: str | None = None
    """The function that tells the extent from the buffers, where the run's sizes decide it."""
    location: LocationAttr | None = None
    """The origin of the row: the row keeps it, so that a profile can name the model's own nodes."""


class Phase(NamedTuple):
    """A part of a kernel: its symbol, the extent of its parallel loop, and which of the kernel's buffers it takes."""

    symbol: str
    extent: int
    """0 where sizes decide it."""
    grain: int
    """Iterations that are worth a thread's while; of a team how many polls it is to wait for workers, negated."""
    arguments: list[int]
    limit: str | None = None
    """The function that tells the extent, where sizes decide it."""
    thread_bytes: int = 0
    """Bytes of memory that each of its threads has, one behind the other."""


def check_main(main: MainOp, signatures: Mapping[str, Sequence[Attribute]]) -> None:
    """Raise InputError where `@main` is no list of calls on buffers that fit the kernels and the arena."""
    name = main.sym_name.data
    if len(main.body.blocks) != 1:
        what = "branches" if main.body.blocks else "has no body"
        raise InputError(f"tir-to-llvm: @{name} {what}; it is one list of calls", op=main)
    outputs = main.attributes.get("lamina.outputs")
    if not isinstance(outputs, IntegerAttr):
        raise InputError(f"tir-to-llvm: @{name} has no 'lamina.outputs'; it does not come from te-to-tir", op=main)
    arguments = main.body.block.args
    if not 0 <= outputs.value.data <= len(arguments):
        raise InputError(
            f"tir-to-llvm: @{name} has {outputs.value.data} outputs of {len(arguments)} arguments", op=main
        )
    try:
        verify_shapes(arguments, main.arg_attrs)
    except VerifyException as e:
        raise InputError(f"tir-to-llvm: @{name}: {e}", op=main) from None
    for op in main.body.block.ops:
        if isinstance(op, CallOp):
            callee = op.callee.root_reference.data
            if callee not in signatures:
                hint = did_you_mean(callee, list(signatures))
                raise InputError(f"tir-to-llvm: there is no kernel @{callee} to call", hint=hint, op=op)
            if not fits(op.operand_types, signatures[callee]):
                taken = ", ".join(map(str, signatures[callee]))
                raise InputError(f"tir-to-llvm: the call does not fit @{callee}, which takes ({taken})", op=op)
        elif isinstance(op, ViewOp) and op.result.uses:
            _check_view(op)


def _check_view(view: ViewOp) -> None:
    """Raises InputError for a view that does not lie within an arena."""
    arena, (size, unit) = view.arena.owner, multiple_of(view)
    first, *others = arena.extents() if isinstance(arena, AllocOp) else [constant(0)]
    is_arena = type_of(view.arena).element_type == i8 and first.is_constant and Counter(others) == Counter(unit)
    if not is_arena or view.offset.value.data + size > first.const:
        place = f"{'' if unit else 'byte '}{view.offset.value.data}"
        what = f"tir-to-llvm: {view.result.type} at {place} is outside of the arena"
        raise InputError(what, op=view)


class Program:
    """The rows of a program, and what they refer to, as far as its calls have been lowered.

    `external` are the declarations of functions that external backends run.
    """

    def __init__(self, main: MainOp, phases: Mapping[str, list[Phase]], external: Mapping[str, MainOp]) -> None:
        self.name = main.sym_name.data
        self.sizes = main.body.block.args
        self.first_param = FIRST_INPUT + len(self.sizes)
        self.phases = phases
        self.external = external
        self.bases: dict[SSAValue, tuple[int, int]] = {a: (FIRST_INPUT + n, 0) for n, a in enumerate(self.sizes)}
        """Buffers as (base, byte offset). Places in workspaces come behind the parameters, whose number is known at the
        end: they are counted from -2, behind the memory of threads."""
        self.params: dict[Attribute, int] = {}
        self.arena_bytes = 0
        self.thread_bytes = 0
        """Bytes of memory of one thread: the most that a phase asks for."""
        self.workspaces: list[Attribute] = []
        self.places: dict[tuple[int, int], int] = {}
        """The base of each place: a workspace, and how far along its first dimension."""
        self.numbers: dict[SSAValue, int] = {}
        """The workspaces."""
        self.rows: list[Entry] = []
        self.called: dict[int, MainOp] = {}
        """The external function of each row that calls one."""

    def place(self, workspace: int, first: int) -> int:
        """The base of a place in a workspace."""
        return self.places.setdefault((workspace, first), _BEHIND_ARENA - 1 - len(self.places))

    def entries(self) -> list[Entry]:
        """The rows, with the places in workspaces behind the parameters, and the memory of threads behind the arena."""
        behind, of_threads = self.first_param + len(self.params), (ARENA, self.threads_at)

        def settled(base: int, offset: int) -> tuple[int, int]:
            if base >= 0:
                return base, offset
            return of_threads if base == _BEHIND_ARENA else (behind + _BEHIND_ARENA - 1 - base, offset)

        return [e._replace(arguments=[settled(*a) for a in e.arguments]) for e in self.rows]

    @property
    def threads_at(self) -> int:
        """The offset of the memory of threads from the arena's first byte."""
        return -(-self.arena_bytes // ALIGNMENT) * ALIGNMENT


main_to_program: Conversion[Program, None] = Conversion("tir-to-llvm", "@main")


@main_to_program.lowers(AllocOp)
def alloc(op: AllocOp, program: Program) -> None:
    """The arena, of which there is one; a workspace where the size is not known."""
    if op.sizes:
        shape = symbolic_shape(program.sizes, op.extents())
        assert shape is not None
        number = len(program.workspaces)
        program.workspaces.append(DictionaryAttr({"type": op.result.type, "shape": shape}))
        if any(not isinstance(u.operation, ViewOp) for u in op.result.uses):
            program.bases[op.result] = (program.place(number, 0), 0)
        program.numbers[op.result] = number
        return
    if program.arena_bytes:
        raise InputError(f"tir-to-llvm: @{program.name} allocates more than its arena; run tir-plan-memory", op=op)
    program.arena_bytes = op.result.type.get_shape()[0]
    program.bases[op.result] = (ARENA, 0)


@main_to_program.lowers(ViewOp)
def view(op: ViewOp, program: Program) -> None:
    """A byte offset in the arena, or a place in a workspace."""
    offset, number = op.offset.value.data, program.numbers.get(op.arena)
    program.bases[op.result] = (ARENA, offset) if number is None else (program.place(number, offset), 0)


@main_to_program.lowers(ParamOp)
def param(op: ParamOp, program: Program) -> None:
    """One more base pointer, behind inputs and outputs."""
    position = program.params.setdefault(op.param, len(program.params))
    program.bases[op.results[0]] = (program.first_param + position, 0)


@main_to_program.lowers(CallOp)
def call(op: CallOp, program: Program) -> None:
    """A row for each phase of the kernel; one without a kernel for a function of an external compiler."""
    buffers = [program.bases[o] for o in op.operands]
    callee = op.callee.root_reference.data
    function = program.external.get(callee)
    if function is not None:
        for constant in cast("ArrayAttr[Attribute]", function.attributes[CONSTANTS]):
            program.params.setdefault(constant, len(program.params))
        program.called[len(program.rows)] = function
        program.rows.append(Entry(None, 0, 1, buffers, location=op.location))
        return
    for phase in program.phases[callee]:
        arguments = [_GIVEN[n] if n < 0 else buffers[n] for n in phase.arguments]
        program.thread_bytes = max(program.thread_bytes, phase.thread_bytes)
        program.rows.append(Entry(phase.symbol, phase.extent, phase.grain, arguments, phase.limit, op.location))


@main_to_program.lowers(MainReturnOp)
def returns(op: MainReturnOp, program: Program) -> None:
    """Nothing: the table ends."""


def lower_main(
    module: ModuleOp,
    main: MainOp,
    phases: dict[str, list[Phase]],
    messages: Sequence[str] = (),
    external: Mapping[str, MainOp] | None = None,
) -> None:
    """Replace `@main` by its program table; `messages` are what the codes 1, 2, ... of failed checks say.

    `external` are the declarations of functions that external backends run.
    """
    name = main.sym_name.data
    arguments = main.body.block.args
    outputs_attr = main.attributes["lamina.outputs"]
    assert isinstance(outputs_attr, IntegerAttr)
    program = Program(main, phases, external or {})
    for op in main.body.block.ops:
        main_to_program.lower(op, program, f"@{name}")
    entries = program.entries()
    for table in program_globals(name, entries):
        edit.insert_before(main, table)
    described: dict[str, Attribute] = {"messages": ArrayAttr([StringAttr(m) for m in messages])} if messages else {}
    module.attributes["lamina.program"] = DictionaryAttr(
        {
            **described,
            "name": StringAttr(name),
            "arena": IntegerAttr(program.threads_at if program.thread_bytes else program.arena_bytes, i64),
            **({"thread_memory": IntegerAttr(program.thread_bytes, i64)} if program.thread_bytes else {}),
            "inputs": _described(main, 0, len(arguments) - outputs_attr.value.data),
            "outputs": _described(main, len(arguments) - outputs_attr.value.data, len(arguments)),
            "params": ArrayAttr(list(program.params)),
            **_workspaces(program),
            **_external_calls(entries, program.called, program.params),
        }
    )
    edit.erase(main, safe=False)


def _workspaces(program: Program) -> dict[str, Attribute]:
    """The workspaces, and the places in them: of each the workspace, and how far along its first dimension."""
    if not program.workspaces:
        return {}
    places = DenseArrayBase.from_list(i64, [n for place in program.places for n in place])
    return {"workspaces": ArrayAttr(program.workspaces), "places": places}


def _external_calls(
    entries: Sequence[Entry], called: Mapping[int, MainOp], params: Mapping[Attribute, int]
) -> dict[str, Attribute]:
    """The external functions, and for each row that calls one which it is and what it passes."""
    functions = list(dict.fromkeys(called.values()))
    if not functions:
        return {}
    described: list[Attribute] = []
    for function in functions:
        constants = cast("ArrayAttr[Attribute]", function.attributes[CONSTANTS])
        described.append(
            DictionaryAttr(
                {
                    "name": function.sym_name,
                    "compiler": function.attributes[COMPILER],
                    "code": function.attributes[CODE],
                    "constants": ArrayAttr([IntegerAttr(params[c], i64) for c in constants]),
                    "arguments": ArrayAttr(list(function.function_type.inputs)),
                    "outputs": function.attributes[OUTPUTS],
                }
            )
        )
    calls: list[Attribute] = []
    for row, function in called.items():
        numbers = [n for pair in entries[row].arguments for n in pair]
        calls.append(DenseArrayBase.from_list(i64, [row, functions.index(function), *numbers]))
    return {"external": ArrayAttr(described), "calls": ArrayAttr(calls)}


def _described(main: MainOp, first: int, end: int) -> ArrayAttr[Attribute]:
    """Name and type of arguments."""
    found: list[Attribute] = []
    none: dict[str, Attribute] = {}
    for n in range(first, end):
        argument = main.body.block.args[n]
        attrs = main.arg_attrs.data[n].data if main.arg_attrs else none
        name = attrs.get(NAME) or StringAttr(argument.name_hint or f"arg{n}")
        more = {said.removeprefix("te."): attrs[said] for said in (SHAPE, RANGE, CONDITIONS) if said in attrs}
        found.append(DictionaryAttr({"name": name, "type": argument.type, **more}))
    return ArrayAttr(found)


def entry_labels(module: ModuleOp, name: str) -> list[str]:
    """A label for each row of a program: the model's nodes where the row knows them, else the kernel's symbol.

    That of an external function is empty then.
    """
    return [" + ".join(node_names(op.location)) or _symbol(op) for op in _row_kernels(module, name)]


def entry_calls(module: ModuleOp, name: str) -> list[int]:
    """Number of each row's call in `@main`, counted from 0: a kernel of several phases has several rows."""
    return calls_of_symbols([_symbol(op) for op in _row_kernels(module, name)])


def calls_of_symbols(symbols: Sequence[str]) -> list[int]:
    """Rows of one call are `kernel.0`, `kernel.1` and so on; one of a single phase is `kernel`, an external one ``."""
    calls: list[int] = []
    before = ("", -1)
    for symbol in symbols:
        base, mark, number = symbol.rpartition(".")
        phase = int(number) if mark and number.isdecimal() else -1
        same = phase > 0 and before == (base, phase - 1)
        calls.append((calls[-1] if calls else -1) + (not same))
        before = (base, phase)
    return calls


def _row_kernels(module: ModuleOp, name: str) -> list[Operation]:
    """The op that gives each row of a program its kernel."""
    for table in module.ops:
        if isinstance(table, llvm.GlobalOp) and table.sym_name.data == f"{name}.program":
            inserts = [op for op in table.body.block.ops if isinstance(op, llvm.InsertValueOp)]
            kernels = [op.value.owner for op in inserts if op.position.get_values()[-1] == KERNEL]
            return [op for op in kernels if isinstance(op, Operation)]
    return []


def _symbol(kernel: Operation) -> str:
    return kernel.global_name.root_reference.data if isinstance(kernel, llvm.AddressOfOp) else ""


def program_globals(name: str, entries: Sequence[Entry]) -> list[llvm.GlobalOp]:
    """`@<name>.program` and `@<name>.arguments`; the kernels are llvm.funcs of the module."""
    bindings = [pair for entry in entries for pair in entry.arguments] or [(0, 0)]
    type_ = llvm.LLVMArrayType(len(bindings), llvm.LLVMArrayType(2, i64))
    dense = DenseIntElementsAttr.from_list(TensorType(i64, [len(bindings), 2]), [n for pair in bindings for n in pair])
    external = llvm.LinkageAttr("external")
    table = llvm.LLVMArrayType(len(entries), ROW)
    body = Region(_table(table, entries))
    return [
        llvm.GlobalOp(table, f"{name}.program", external, constant=True, alignment=ALIGNMENT, body=body),
        llvm.GlobalOp(type_, f"{name}.arguments", external, constant=True, alignment=ALIGNMENT, value=dense),
    ]


def _table(type_: llvm.LLVMArrayType, entries: Sequence[Entry]) -> Block:
    """The rows, field by field; a number that occurs again is one constant."""
    ops: list[Operation] = [llvm.PoisonOp.create(result_types=[type_])]
    numbers: dict[int, SSAValue] = {}
    limits: dict[str | None, SSAValue] = {}
    table = ops[0].results[0]
    first = 0
    for row, entry in enumerate(entries):
        kernel = llvm.ZeroOp.create(result_types=[POINTER])
        if entry.kernel is not None:
            kernel = llvm.AddressOfOp(entry.kernel, POINTER)
        if entry.location is not None:
            kernel.location = entry.location
        ops.append(kernel)
        fields: list[SSAValue] = [kernel.results[0]]
        for number in (entry.extent, entry.grain, first, len(entry.arguments)):
            if number not in numbers:
                constant = llvm.ConstantOp(IntegerAttr(number, i64), i64)
                ops.append(constant)
                numbers[number] = constant.results[0]
            fields.append(numbers[number])
        if entry.limit not in limits:
            none = llvm.ZeroOp.create(result_types=[POINTER])
            ops.append(none if entry.limit is None else llvm.AddressOfOp(entry.limit, POINTER))
            limits[entry.limit] = ops[-1].results[0]
        fields.append(limits[entry.limit])
        for column, field in enumerate(fields):
            insert = llvm.InsertValueOp(DenseArrayBase.from_list(i64, [row, column]), table, field)
            ops.append(insert)
            table = insert.results[0]
        first += len(entry.arguments)
    ops.append(llvm.ReturnOp(table))
    return Block(ops)
