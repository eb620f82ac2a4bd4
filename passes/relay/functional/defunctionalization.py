"""relay-defunctionalization: functions that are values become data, and a call of one a match on which it is.

Before:
    %f = relay.if %c -> ((tensor<f32>) -> tensor<f32>) {
      %g = relay.fn captures(%k = %w : tensor<f32>) (%x: tensor<f32>) -> tensor<f32> { ... }
      relay.yield %g : (tensor<f32>) -> tensor<f32> } else { ... }
    %y = relay.call %f(%v) : (tensor<f32>) -> tensor<f32>
After:
    %f = relay.if %c -> !relay.adt<@fn> {
      %g = relay.construct lifted_g(%w) : (tensor<f32>) -> !relay.adt<@fn>
      relay.yield %g : !relay.adt<@fn> } else { ... }
    %y = func.call @call_fn(%f, %v) : (!relay.adt<@fn>, tensor<f32>) -> tensor<f32>

Each type of functions gets a data type with a constructor for every function of that type, whose fields are what it
captures, and a function that calls them. Bodies become functions of the module. It starts at one function, whose own
type has no functions in it; what it reaches and has some is copied, since others may call it with functions. Kernels
(Primitive, Composite, Compiler) that are only called stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.relay.core import CallOp, FnOp, GlobalOp
from lamina.dialects.relay.functional.adt import ConstructOp, MatchOp, TypeOp
from lamina.dialects.relay.functional.adt_patterns import Made, Pattern, Variable
from lamina.dialects.relay.functional.control import YieldOp
from lamina.dialects.relay.value_types import AdtType, TypeVar, rebuild
from lamina.errors import UnsupportedError, UsageError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name
from lamina.passes.relay.functional.lambda_lift import end_as_function
from lamina.passes.relay.fusion.fuse_ops import KERNEL_ATTRIBUTES


@dataclass(frozen=True)
class Defunctionalization(ModulePass):
    """Functions that are values become data, and a call of one a match on which it is."""

    name = "relay-defunctionalization"

    function: str = "main"
    """The name of the function to start from."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and function.sym_name.data == self.function and function.body.blocks:
                with edit.transaction():
                    defunctionalize(op, function)
                return
        raise UsageError(f"there is no function @{self.function} with a body in the module")


def defunctionalize(module: ModuleOp, function: func.FuncOp) -> None:
    """Make data of the functions that a function of a module and what it calls have as values.

    Raises UnsupportedError where functions go in or out of it, and for a data type with a field that is a function of
    one of its type parameters.
    """
    _Defunctionalizer(module).run(function)


def hands_functions_on(module: ModuleOp, function: func.FuncOp) -> bool:
    """Whether a function, or one that it may call, has functions as values other than to call or to capture them."""
    has_functions = _Defunctionalizer(module).has_functions
    for reached in functions_reached(module, function):
        for op in all_ops(reached):
            known = isinstance(op, (FnOp, GlobalOp))
            types = [t for r in op.results for t in (_in_function(r.type) if known else [r.type])]
            for block in (b for region in op.regions for b in region.blocks):
                count = len(op.function_type.inputs) if isinstance(op, FnOp) else len(block.args)
                types += [a.type for a in block.args[:count]]
            if any(map(has_functions, types)):
                return True
    return False


def _in_function(type_: Attribute) -> list[Attribute]:
    assert isinstance(type_, FunctionType)
    return [*type_.inputs, *type_.outputs]


def functions_reached(module: ModuleOp, function: func.FuncOp) -> list[func.FuncOp]:
    """The functions of the module that one may call, itself first, without those that have no body."""
    functions = {f.sym_name.data: f for f in module.body.block.ops if isinstance(f, func.FuncOp) and f.body.blocks}
    found = {function.sym_name.data: function}
    waiting = [function]
    while waiting:
        for name in _named(waiting.pop()):
            if name in functions and name not in found:
                found[name] = functions[name]
                waiting.append(functions[name])
    return list(found.values())


def is_kernel(op: Operation) -> bool:
    """Whether a local function is a kernel that is only called."""
    return (
        isinstance(op, FnOp)
        and any(name in op.attributes for name in KERNEL_ATTRIBUTES)
        and all(isinstance(u.operation, CallOp) and u.index == 0 for u in op.result.uses)
    )


def _named(function: Operation) -> Iterator[str]:
    for op in all_ops(function):
        if isinstance(op, (func.CallOp, GlobalOp)):
            yield op.callee.string_value()


@dataclass
class _Functions:
    """The functions of one type: its data type, how they are called, and of each the types of what it captures."""

    type_: FunctionType
    adt: AdtType
    call: str
    captures: dict[str, list[Attribute]] = field(default_factory=dict[str, list[Attribute]])


class _Defunctionalizer:
    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        symbols = (op.properties.get("sym_name") for op in module.body.block.ops)
        self._taken = {s.data for s in symbols if isinstance(s, StringAttr)}
        self._declared = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, TypeOp)}
        self._holding: dict[str, bool] = {}
        """Whether functions are in the values of a data type whatever its type parameters are."""
        self._without: dict[str, str] = {}
        """Data types that hold functions, and what stands for them."""
        self._types: dict[FunctionType, _Functions] = {}
        self._copies: dict[str, str] = {}
        self._made: list[Operation] = []

    def run(self, function: func.FuncOp) -> None:
        """Change a function, and make what its functions need."""
        type_ = function.function_type
        if any(self.has_functions(t) for t in (*type_.inputs, *type_.outputs)):
            raise UnsupportedError(f"@{function.sym_name.data} takes or gives functions: which they are is not known")
        reached = functions_reached(self.module, function)
        changing = {f.sym_name.data for f in reached if self._uses_functions(f)}
        count = -1
        while count != len(changing):
            count = len(changing)
            changing.update(f.sym_name.data for f in reached if not changing.isdisjoint(_named(f)))
        if function.sym_name.data not in changing:
            return
        self._copies = {n: self._fresh(f"{n}_on_data") for n in sorted(changing - {function.sym_name.data})}
        copied = [(f, f.clone()) for f in reached if f.sym_name.data in self._copies]
        self._block(function.body.block)
        for original, copy in copied:
            copy.properties["sym_name"] = StringAttr(self._copies[original.sym_name.data])
            copy.properties["sym_visibility"] = StringAttr("private")
            self._block(copy.body.block)
            outputs = [self._converted(t) for t in original.function_type.outputs]
            copy.properties["function_type"] = FunctionType.from_lists(list(copy.body.block.arg_types), outputs)
            self._made.append(copy)
        body = self.module.body.block
        first = body.first_op
        assert first is not None
        for kind in self._types.values():
            captures = kind.captures or {"none": []}  # no such function is made: it is never called
            edit.insert_before(first, TypeOp.make(kind.adt.adt.data, (), captures))
            self._made.append(self._calling(kind))
        body.add_ops(self._made)

    def _fresh(self, name: str) -> str:
        wanted, n = name, 0
        while name in self._taken:
            n += 1
            name = f"{wanted}_{n}"
        self._taken.add(name)
        return name

    # -- types -----------------------------------------------------------------------------------------------------

    def has_functions(self, type_: Attribute) -> bool:
        """Whether functions are, or are in, values of a type."""
        found = False

        def look(t: Attribute) -> None:
            nonlocal found
            found = found or isinstance(t, FunctionType) or (isinstance(t, AdtType) and self._holds(t.adt.data))

        rebuild(type_, look)
        return found

    def _holds(self, name: str) -> bool:
        known = self._holding.get(name)
        if known is None:
            # Data types may be in each other: what is in one is known when all that is in it has been looked at.
            known, inside = False, [name]

            def look(t: Attribute) -> None:
                nonlocal known
                known = known or isinstance(t, FunctionType)
                if isinstance(t, AdtType) and t.adt.data not in inside:
                    inside.append(t.adt.data)

            for data in inside:
                for type_ in (t for types in self._declared[data].declared().values() for t in types):
                    rebuild(type_, look)
            self._holding[name] = known
        return known

    def _uses_functions(self, function: func.FuncOp) -> bool:
        for op in all_ops(function):
            if not is_kernel(op) and any(self.has_functions(v.type) for v in op.results):
                return True
            if any(self.has_functions(a.type) for r in op.regions for b in r.blocks for a in b.args):
                return True
        return False

    def _converted(self, type_: Attribute) -> Attribute:
        """The type with data in the place of functions."""
        return rebuild(type_, self._data_type)

    def _data_type(self, type_: Attribute) -> Attribute | None:
        if isinstance(type_, FunctionType):
            return self._kind(type_).adt
        if isinstance(type_, AdtType) and self._holds(type_.adt.data):
            return AdtType.of(self._without_functions(type_.adt.data), *map(self._converted, type_.arguments))
        return None

    def _kind(self, type_: FunctionType) -> _Functions:
        found = self._types.get(type_)
        if found is None:

            def look(t: Attribute) -> None:
                if isinstance(t, TypeVar):
                    raise UnsupportedError(f"a data type with a field of type {type_}: a function of a type parameter")

            rebuild(type_, look)
            name = self._fresh("fn")
            found = self._types[type_] = _Functions(type_, AdtType.of(name), self._fresh(f"call_{name}"))
        return found

    def _without_functions(self, name: str) -> str:
        """The data type of the same constructors, in which functions are data."""
        found = self._without.get(name)
        if found is None:
            found = self._without[name] = self._fresh(f"{name}_of_data")
            declared = self._declared[name]
            fields = {c: [self._converted(t) for t in types] for c, types in declared.declared().items()}
            made = TypeOp.make(found, [p.data for p in declared.parameters], fields)
            inherit_location(made, declared)
            edit.insert_after(declared, made)
        return found

    # -- programs --------------------------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for argument in block.args:
            self._retype(argument)
        for op in list(block.ops):
            if is_kernel(op):
                continue
            for region in op.regions:
                self._block(region.block)
            if isinstance(op, FnOp):
                self._local(op)
            elif isinstance(op, GlobalOp):
                name = op.callee.string_value()
                self._construct(op, self._copies.get(name, name))
            elif isinstance(op, CallOp) and not is_kernel_value(op.callee):
                self._call(op)
            else:
                if isinstance(op, func.CallOp):
                    name = op.callee.string_value()
                    op.properties["callee"] = SymbolRefAttr(self._copies.get(name, name))
                for result in op.results:
                    self._retype(result)

    def _retype(self, value: SSAValue) -> None:
        type_ = self._converted(value.type)
        if type_ != value.type:
            Rewriter.replace_value_with_new_type(value, type_)

    def _local(self, fn: FnOp) -> None:
        """A local function becomes one of the module, and its value what it captures."""
        name = self._fresh(f"lifted_{fn.result.name_hint or 'fn'}")
        block, itself, captured = fn.body.block, fn.itself, list(fn.captured)
        outputs = [self._converted(t) for t in fn.function_type.outputs]
        if itself is not None:
            if itself.first_use is not None:
                own = ConstructOp.make(name, captured, self._kind(fn.function_type).adt)
                inherit_location(own, fn)
                inherit_name(own.result, itself)
                assert block.first_op is not None
                edit.insert_before(block.first_op, own)
                itself.replace_all_uses_with(own.result)
            block.erase_arg(itself)
        end_as_function(block)
        fn.body.detach_block(block)
        lifted = func.FuncOp(name, FunctionType.from_lists(list(block.arg_types), outputs), Region(block))
        lifted.properties["sym_visibility"] = StringAttr("private")
        inherit_location(lifted, fn)
        self._made.append(lifted)
        self._construct(fn, name)

    def _construct(self, op: FnOp | GlobalOp, name: str) -> None:
        type_ = op.result.type
        assert isinstance(type_, FunctionType)
        kind = self._kind(type_)
        kind.captures[name] = [v.type for v in op.operands]
        edit.replace(op, ConstructOp.make(name, list(op.operands), kind.adt))

    def _call(self, op: CallOp) -> None:
        adt = op.callee.type
        kind = next(k for k in self._types.values() if k.adt == adt)
        edit.replace(op, func.CallOp(kind.call, list(op.operands), [self._converted(t) for t in op.result_types]))

    def _calling(self, kind: _Functions) -> func.FuncOp:
        """The function that calls a function of a type with arguments."""
        inputs = [self._converted(t) for t in kind.type_.inputs]
        outputs = [self._converted(t) for t in kind.type_.outputs]
        block = Block(arg_types=[kind.adt, *inputs])
        block.args[0].name_hint = "f"

        def case(name: str, captures: Sequence[Attribute]) -> tuple[Pattern, Region]:
            inner = Block(arg_types=captures)
            call = func.CallOp(name, [*block.args[1:], *inner.args], outputs)
            inner.add_ops([call, YieldOp.make(*call.results)])
            return Made(name, (Variable(),) * len(captures)), Region(inner)

        cases = [case(name, captures) for name, captures in kind.captures.items()]
        match = MatchOp.make(block.args[0], cases, outputs, partial=not cases)
        block.add_ops([match, func.ReturnOp(*match.results)])
        made = func.FuncOp(kind.call, FunctionType.from_lists(list(block.arg_types), outputs), Region(block))
        made.properties["sym_visibility"] = StringAttr("private")
        return made


def is_kernel_value(value: SSAValue) -> bool:
    """Whether a value is a kernel that is only called."""
    return isinstance(value.owner, Operation) and is_kernel(value.owner)
