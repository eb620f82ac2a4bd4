"""`lamina.lower` and `lamina.build`: tensor programs and their schedules down to loops, and to kernels that run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation as IrOperation

from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TARGET
from lamina.dialects.te.ops import FuncOp as TeFunc
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.tir.ops import FuncOp as TirFunc
from lamina.errors import InputError, UsageError
from lamina.ir.location import placed
from lamina.te.buffers import check_binds
from lamina.te.canonical import emit_schedule
from lamina.te.expr import Var, fail
from lamina.te.function import TensorFunction, build_function
from lamina.te.mistakes import checked_name
from lamina.te.schedule import Schedule, create_schedule
from lamina.te.tensor import IterVar, PlaceholderOp, Tensor
from lamina.tensor.found_schedule import FoundSchedule
from lamina.tensor.passes import run_passes

if TYPE_CHECKING:
    from lamina.tensor.device import DeviceModule
    from lamina.tensor.module import Module

SIMPLE = ("te-to-tir",)
"""The passes of `lower` with `simple_mode`: the loops as the schedule has made them."""


def te_module(schedule: Any, args: Sequence[Any], name: str = "main") -> tuple[ModuleOp, TensorFunction]:
    """The module of the te level that a scheduled program is: a te.func, and its te.schedule where it has one."""
    if not isinstance(args, (list, tuple)):  # type: ignore[redundant-expr]
        raise fail(f"the arguments of a kernel are a list of tensors and variables, not {args!r}")
    sch = schedule if isinstance(schedule, Schedule) else create_schedule(schedule)
    outputs = outputs_of(sch, args)
    function = build_function(outputs, args, checked_name(name))
    scheduled = sch.of(function.func) if isinstance(sch, FoundSchedule) else emit_schedule(sch, function)
    ops: list[IrOperation] = [*(i.clone() for i in function.intrinsics.values()), function.func]
    if scheduled.body.block.ops:
        ops.append(scheduled)
    return ModuleOp(ops), function


def outputs_of(schedule: Schedule, args: Sequence[Any]) -> list[Tensor]:
    """The tensors among the arguments that the program computes. Raises LaminaError for an argument of no use."""
    found: list[Tensor] = []
    for a in args:
        if isinstance(a, Tensor):
            if not isinstance(a.op, PlaceholderOp):
                if a.op not in schedule.stage_map:
                    raise fail(f"the argument {a.name!r} is not computed by this schedule")
                found.append(a)
        elif not isinstance(a, Var):
            what = f"the axis {a.name!r}" if isinstance(a, IterVar) else repr(a)
            raise fail(f"an argument is a tensor or a variable, not {what}")
    missing = [op for op in schedule.outputs if not any(t.op is op for t in found)]
    if missing:
        raise fail(f"the output {missing[0].name!r} is not among the arguments")
    return found


@placed
def lower(sch: Any, args: Sequence[Any], simple_mode: bool = True, name: str = "main", binds: Any = None) -> ModuleOp:
    """The loops of a scheduled program, a module of the tir level; printed, it is the text.

    With `simple_mode` they stand as the schedule has made them; without, after the passes that lead to machine code
    (`build` runs the same): those that the current PassContext leaves in.
    Raises LaminaError, with the line of the schedule, where a primitive cannot be applied.
    """
    from lamina.driver.pipelines import tir_pipeline
    from lamina.transform import PassContext

    module, _ = te_module(sch, args, name)
    check_binds(binds, [a for a in args if isinstance(a, Tensor)], "lower")
    return run_passes(module, SIMPLE if simple_mode else tir_pipeline(PassContext.active() or PassContext(0)))


@placed
def build(
    inputs: Any,
    args: Sequence[Any] | None = None,
    target: Any = "llvm",
    target_host: Any = None,
    name: str = "default_function",
    binds: Any = None,
    runtime: Any = None,
    sanitize: bool = False,
) -> Module | DeviceModule:
    """The kernel of a scheduled program, to be called on arrays in the order of `args`.

    Instead of a schedule and arguments there may be a module: what `lower` gives, or one that was written as text, with
    one te.func or tir.func and its schedule. Its kernel is called as the function says, outputs last.

    `target` is `llvm` for this machine, where loops bound to threads run in turn, `opencl` for a device that OpenCL
    finds, or `cuda`, `nvptx` or `rocm` for code that is not run; `target_host` is where the host's part runs: this
    machine. With `sanitize` the kernel checks its accesses and loops as it runs. Raises LaminaError for a schedule or a
    target that cannot be built.
    """
    from lamina.tensor.target import DEVICE_KINDS, check_here, target_of

    if args is None and not isinstance(inputs, ModuleOp):
        raise fail("build takes a schedule and the arguments of the kernel")
    chosen = target_of(target)
    if target_host is not None and target_of(target_host).attr is None:
        raise UsageError(f"target_host is where programs are called from: 'llvm', not {str(target_host)!r}")
    function: TensorFunction | None = None
    arguments: Sequence[Any] = () if args is None else args
    if isinstance(inputs, ModuleOp):
        module = _kernel_module(inputs, name)
    else:
        # A kernel called main would be taken for the function that calls it.
        module, function = te_module(inputs, arguments, name if name != "main" else "main_kernel")
        check_binds(binds, [a for a in arguments if isinstance(a, Tensor)], "build")
    if chosen.kind in DEVICE_KINDS:
        from lamina.tensor.device import DeviceModule

        if sanitize:
            raise UsageError(f"sanitize checks what runs here, not kernels for {chosen.kind!r}")
        return DeviceModule(module, name, chosen, function, arguments)
    from lamina.tensor.module import Module

    assert chosen.attr is not None
    check_here(chosen)
    module.attributes[TARGET] = chosen.attr
    return Module(module, function, arguments, chosen.attr, name, sanitize)


def _kernel_module(module: ModuleOp, name: str) -> ModuleOp:
    """A copy of a module of one function, which gets a name. Raises InputError for any other."""
    copy = module.clone()
    functions = [op for op in copy.ops if isinstance(op, (TeFunc, TirFunc))]
    others = [op.name for op in copy.ops if not isinstance(op, (TeFunc, TirFunc, ScheduleOp, TensorIntrinOp))]
    if len(functions) != 1 or others:
        found = ", ".join([*(f"@{f.sym_name.data}" for f in functions), *others]) or "none"
        raise InputError(f"build takes a module of one te.func or tir.func, here is {found}", op=module)
    functions[0].properties["sym_name"] = StringAttr(name if name != "main" else "main_kernel")
    for op in copy.ops:
        if isinstance(op, ScheduleOp):
            op.properties["func"] = SymbolRefAttr(functions[0].sym_name)
    return copy


@placed
def create_prim_func(ops: Sequence[Any], name: str = "main") -> ModuleOp:
    """The naive loops of some tensors, placeholders first: `te.create_prim_func([A, B, C])`."""
    if not isinstance(ops, (list, tuple)):  # type: ignore[redundant-expr]
        raise fail(f"create_prim_func takes a list of tensors, not {ops!r}")
    outputs = [t for t in ops if isinstance(t, Tensor) and not isinstance(t.op, PlaceholderOp)]
    return lower(create_schedule([t.op for t in outputs]), list(ops), name=name)
