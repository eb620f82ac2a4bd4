"""The first stair: each primitive function becomes a te.func, by the `te_compute` facets of its ops.

Functions of equal structure become one. Every te.compute carries the op it came from as its `tag`; constants become
te.param. Calls of functions that external backends have compiled stay calls. Assumes `relay-fuse-ops`, which puts every
op into a primitive function.

Before:
    %f = relay.fn (%p0: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1} {
      %0 = relay.nn.relu %p0 : tensor<4xf32>
      relay.return %0 : tensor<4xf32> }
    %1 = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
After:
    te.func @fused_nn_relu(%p0: tensor<4xf32>) -> tensor<4xf32> {
      %T_relu = te.compute "T_relu" [4] (%i0) : tensor<4xf32> attributes {tag = "nn.relu"} { ... }
      te.return %T_relu : tensor<4xf32> }
    %1 = te.call @fused_nn_relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp as MainCallOp
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, ProgramOp, ReturnOp
from lamina.dialects.relay.value_dependent import ValueDependent
from lamina.dialects.te import ops as te
from lamina.dialects.te.build import any_use
from lamina.dialects.te.lib import Tensor, building
from lamina.errors import InputError, about
from lamina.passes.base import Context, ModulePass, fused_location, inherit_location
from lamina.passes.relay.partition.external_backends import COMPILER, is_declaration
from lamina.passes.rules.conversion import Conversion, ConversionRule, where_written

LONGEST_NAME = 80
"""Longer function names are cut and end in a digest of the whole."""


@dataclass(frozen=True)
class RelayToTePass(ModulePass):
    name = "relay-to-te"
    needed: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # A program does not stop between two levels.
        with edit.transaction(op):
            self.lower(op)

    def lower(self, op: ModuleOp) -> None:
        functions: dict[Any, te.FuncOp] = {}
        names: set[str] = set()
        mains = {m.sym_name.data: m for m in op.ops if isinstance(m, MainOp)}
        for main in [m for m in mains.values() if not m.is_declaration]:
            if COMPILER in main.attributes:
                raise InputError(
                    f"relay-to-te: @{main.sym_name.data} is an external compiler's, and has not been compiled",
                    hint="run relay-external-codegen before",
                    op=main,
                )
            Main(op, main, functions, names, mains).run()
        for left in op.walk():
            if left.name.startswith("relay."):
                raise InputError(f"relay-to-te leaves {left.name} behind; run relay-fuse-ops before it", op=left)


class Main:
    """A function on tensors whose calls are being lowered, and the functions that they have become."""

    def __init__(
        self,
        module: ModuleOp,
        main: MainOp,
        functions: dict[Any, te.FuncOp],
        names: set[str],
        mains: Mapping[str, MainOp],
    ) -> None:
        self.module = module
        self.main = main
        self.functions = functions
        self.names = names
        self.mains = mains
        self.dead: list[Operation] = []
        """Primitive functions, whose calls are calls of te.funcs by now."""

    def run(self) -> None:
        refuse_programs(self.main)
        for op in list(self.main.body.block.ops):
            calls.lower(op, self)
        edit.erase_all(self.dead)

    def function(self, function: FnOp) -> te.FuncOp:
        key = structure(function)
        found = self.functions.get(key)
        if found is None:
            found = self.functions[key] = lower_function(function, self.unique(function_name(function)))
            edit.insert_before(self.main, found)
        return found

    def unique(self, wanted: str) -> str:
        name, n = wanted, 0
        while name in self.names:
            n += 1
            name = f"{wanted}_{n}"
        self.names.add(name)
        return name


calls: Conversion[Main, None] = Conversion(
    "relay-to-te", "@main outside of a primitive function", "run relay-fuse-ops, which puts every op into one"
)


@calls.lowers(CallOp)
def call(op: CallOp, main: Main) -> None:
    """te.call of the te.func that the primitive function becomes; those of equal structure are one."""
    function = op.function()
    if function is None:
        raise InputError("relay-to-te: a call of an unknown function; run relay-inline before it", op=op)
    callee = main.function(function)
    edit.replace(op, te.CallOp.make(callee.sym_name.data, op.operands[1:], op.result_types))


@calls.lowers(ConstantOp)
def param(op: ConstantOp, main: Main) -> None:
    """te.param."""
    edit.replace(op, te.ParamOp.create(properties={"param": op.value}, result_types=op.result_types))


@calls.lowers(MainCallOp)
def external_call(op: MainCallOp, main: Main) -> None:
    """te.call of a function that an external backend has compiled."""
    check_external(op, main.mains)
    edit.replace(op, te.CallOp.make(op.callee.string_value(), op.operands, op.result_types))


@calls.lowers(FnOp)
def primitive(op: FnOp, main: Main) -> None:
    """A te.func for all primitive functions of its structure."""
    main.dead.append(op)


@calls.lowers(MainReturnOp)
def returns_main(op: MainReturnOp, main: Main) -> None:
    """Itself."""


def refuse_programs(main: MainOp) -> None:
    """Raises InputError where a function is no graph of tensor ops with known extents."""
    what = "has an argument whose extents are unknown" if has_unknown_extents(main.body.block.arg_types) else ""
    refused: Operation = main
    for op in main.body.block.ops:
        if what:
            break
        refused = op
        if isinstance(op, ProgramOp):
            what = "is no tensor op"
        elif isinstance(op, ValueDependent):
            what = "has results whose shapes depend on values"
        elif has_unknown_extents(op.result_types):
            what = "has a result whose extents are unknown"
        elif isinstance(op, FnOp) and (op.operands or op.recursive is not None):
            what = "is a closure"
    if what:
        name = f"@{main.sym_name.data}" if refused is main else refused.name
        raise InputError(f"relay-to-te: {name} {what}", hint="run the module by lamina.vm.vm", op=refused)


def check_external(call: MainCallOp, functions: Mapping[str, MainOp]) -> None:
    """Raises InputError for the call of a function that no external backend has compiled."""
    name = call.callee.string_value()
    callee = functions.get(name)
    if callee is not None and is_declaration(callee):
        return
    if callee is not None and COMPILER in callee.attributes:
        what, hint = "is an external compiler's, and has not been compiled", "run relay-external-codegen before"
    else:
        what, hint = "is called", "run relay-inline before"
    raise InputError(f"relay-to-te: @{name} {what}", hint=hint, op=call)


def structure(function: FnOp) -> Any:
    """A key that is equal for functions that compute the same: ops, attributes, types and wiring."""
    block = function.body.block
    number: dict[SSAValue, int] = {a: n for n, a in enumerate(block.args)}
    parts: list[Any] = [block.arg_types]
    for op in block.ops:
        properties = tuple(sorted(op.properties.items()))
        parts.append((op.name, properties, tuple(number[o] for o in op.operands), tuple(op.result_types)))
        for r in op.results:
            number[r] = len(number)
    return tuple(parts)


def function_name(function: FnOp) -> str:
    """`fused_nn_conv2d_add_nn_relu`, from the ops of the function in order."""
    ops = [
        op.name.removeprefix("relay.").replace(".", "_") for op in function.body.block.ops if isinstance(op, RelayOp)
    ]
    name = "_".join(["fused", *ops]) if ops else "fused_copy"
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        name = f"{name[: LONGEST_NAME - 9]}_{digest}"
    return name


class Equations:
    """A te.func that is being filled, and the tensors of a primitive function's values in it."""

    def __init__(self, target: Block) -> None:
        self.target = target
        self.tensors: dict[SSAValue, Tensor] = {}


def _meaning(op: RelayOp, into: Equations) -> Sequence[Tensor]:
    from lamina.dialects.relay.meaning import te_results

    try:
        return te_results(type(op), [into.tensors[o] for o in op.operands], attrs_of(op))
    except Exception as e:
        about(e, op)
        raise


def _facet_of(op: type[Operation]) -> ConversionRule | None:
    """The rule that an op of a relay dialect states: its element, its equation, or other ops that give the same."""
    if not issubclass(op, RelayOp):
        return None
    for name in ("te_element", "te_compute", "decompose"):
        facet = getattr(op, name, None)
        if facet is not None and not getattr(facet, "__isabstractmethod__", False):
            text = (op.__doc__ or "").strip().partition("\n")[0]
            return ConversionRule(op, _meaning, f"{name}: {text}", where_written(facet))
    return None


equations: Conversion[Equations, Sequence[Tensor] | None] = Conversion(
    "relay-to-te",
    "a primitive function",
    "run the pass that lowers it before, or declare its te_compute or decompose",
    states=_facet_of,
)


@equations.lowers(ReturnOp)
def returns(op: ReturnOp, into: Equations) -> None:
    """te.return."""
    values = [into.tensors[v].value for v in op.operands]
    into.target.add_op(te.ReturnOp.create(operands=values))


@equations.lowers(ConstantOp)
def constant(op: ConstantOp, into: Equations) -> Sequence[Tensor]:
    """An equation of one number."""
    return [constant_tensor(op)]


def lower_function(function: FnOp, name: str) -> te.FuncOp:
    """The te.func of a primitive function."""
    block = function.body.block
    returned = function.returned
    lowered = te.FuncOp.make(name, list(block.arg_types), [v.type for v in returned])
    lowered.location = fused_location([op for op in block.ops if isinstance(op, RelayOp)])
    target = lowered.body.block
    state = Equations(target)
    for n, (old, new) in enumerate(zip(block.args, target.args, strict=True)):
        new.name_hint = old.name_hint or f"p{n}"
        state.tensors[old] = Tensor(new)
    with building(target):
        for op in block.ops:
            before = target.last_op
            results = equations.lower(op, state)
            if results is None:
                continue
            state.tensors.update(zip(op.results, results, strict=True))
            tag = StringAttr(op.name.removeprefix("relay."))
            _each_new(target, before, lambda new: _mark(new, tag, op))  # noqa: B023
    if any(len(op.results) > 1 for op in block.ops):
        drop_unread_stages(target)
    return lowered


def drop_unread_stages(block: Block) -> None:
    """Stages of results that nobody wants go: an op with several gives them all."""
    for stage in reversed(list(block.ops)):
        if isinstance(stage, te.ComputeOp) and not any_use(stage) and not has_check(stage):
            edit.erase(stage)


def has_check(stage: te.ComputeOp) -> bool:
    """Whether a stage may stop the program."""
    return any(isinstance(op, te.CheckOp) for op in stage.body.walk())


def _each_new(block: Block, before: Operation | None, visit: Callable[[Operation], None]) -> None:
    op = block.first_op if before is None else before.next_op
    while op is not None:
        visit(op)
        op = op.next_op


def _mark(new: Operation, tag: StringAttr, source: Operation) -> None:
    new.attributes["tag"] = tag
    inherit_location(new, source)


def constant_tensor(op: ConstantOp) -> Tensor:
    """A constant inside a function, as an equation: only a scalar (or splat) can be one."""
    from lamina.dialects.relay.core import constant_array
    from lamina.dialects.relay.meaning import constant_tensor as tensor_of

    array = constant_array(op, None)
    if array.size != 1:
        raise InputError("relay-to-te: a constant of more than one element inside a primitive function", op=op)
    return tensor_of(array)
