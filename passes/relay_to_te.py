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

In a module with `relay.symbols` an extent may be a form over symbols. Each symbol becomes a size, an `index` argument
of `@main` and of the functions that need it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.dialects.func import CallOp as MainCallOp
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from lamina.dialects import edit
from lamina.dialects.attributes import ExtentsAttr
from lamina.dialects.index.index_map import Condition, IndexMapAttr, IndexSet, IndexSetAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.sizes import CONDITIONS, RANGE, SHAPE
from lamina.dialects.index.symbol_forms import symbols_of
from lamina.dialects.index.symbols import Symbols, with_symbols
from lamina.dialects.infos import TensorInfo, has_unknown_extents
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, ProgramOp, ReturnOp
from lamina.dialects.relay.symbolic import CONDITIONS as ASSUMED
from lamina.dialects.relay.symbolic import SYMBOLS, module_symbols, symbolic_info
from lamina.dialects.relay.value_dependent import ValueDependent
from lamina.dialects.te import ops as te
from lamina.dialects.te.build import any_use
from lamina.dialects.te.lib import Tensor
from lamina.dialects.te.named_sizes import building_with_sizes, shape_attr, size_hint, size_names, without_names
from lamina.dialects.value_names import NAME
from lamina.errors import InputError, UnsupportedError, about
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
        functions: dict[Any, SizedFunction] = {}
        symbols = module_symbols(op)
        names: set[str] = set()
        mains = {m.sym_name.data: m for m in op.ops if isinstance(m, MainOp)}
        for main in [m for m in mains.values() if not m.is_declaration]:
            if COMPILER in main.attributes:
                raise InputError(
                    f"relay-to-te: @{main.sym_name.data} is an external compiler's, and has not been compiled",
                    hint="run relay-external-codegen before",
                    op=main,
                )
            Main(op, main, functions, names, mains, symbols).run()
        for name in (SYMBOLS, ASSUMED):
            # The sizes of @main say the same now.
            op.attributes.pop(name, None)
        for left in op.walk():
            if left.name.startswith("relay."):
                raise InputError(f"relay-to-te leaves {left.name} behind; run relay-fuse-ops before it", op=left)


@dataclass(frozen=True)
class SizedFunction:
    """The te.func of primitive functions, and the names of the sizes that it takes."""

    function: te.FuncOp
    sizes: Sequence[str] = ()


class Main:
    """A function on tensors whose calls are being lowered, and the functions that they have become."""

    def __init__(
        self,
        module: ModuleOp,
        main: MainOp,
        functions: dict[Any, SizedFunction],
        names: set[str],
        mains: Mapping[str, MainOp],
        symbols: Symbols | None,
    ) -> None:
        self.module = module
        self.main = main
        self.functions = functions
        self.names = names
        self.mains = mains
        self.symbols = symbols
        self.sizes: dict[str, SSAValue] = {}
        """The sizes of the function by name."""
        self.dead: list[Operation] = []
        """Primitive functions, whose calls are calls of te.funcs by now."""

    def run(self) -> None:
        refuse_programs(self.main, self.symbols)
        block = self.main.body.block
        if self.symbols is not None:
            self.sizes = add_sizes(self.main, self.symbols)
        for op in list(block.ops):
            calls.lower(op, self)
        edit.erase_all(self.dead)

    def function(self, function: FnOp) -> SizedFunction:
        key = structure(function)
        found = self.functions.get(key)
        if found is None:
            name = self.unique(function_name(function))
            found = self.functions[key] = lower_function(function, name, self.symbols)
            edit.insert_before(self.main, found.function)
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
    given = [*(main.sizes[n] for n in callee.sizes), *op.operands[1:]]
    edit.replace(op, te.CallOp.make(callee.function.sym_name.data, given, [*map(without_names, op.result_types)]))


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


def _has_unknown(types: Sequence[Attribute], symbols: Symbols | None) -> bool:
    """Whether a type has an extent that is neither a number nor a form over symbols."""
    if not has_unknown_extents(types):
        return False
    return symbols is None or any(has_unknown_extents([t]) and symbolic_info(t, symbols) is None for t in types)


def refuse_programs(main: MainOp, symbols: Symbols | None = None) -> None:
    """Raises InputError where a function is no graph of tensor ops, or an extent neither a number nor a form."""
    what = "has an argument whose extents are unknown" if _has_unknown(main.body.block.arg_types, symbols) else ""
    refused: Operation = main
    for op in main.body.block.ops:
        if what:
            break
        refused = op
        if isinstance(op, ProgramOp):
            what = "is no tensor op"
        elif isinstance(op, ValueDependent):
            what = "has results whose shapes depend on values"
        elif _has_unknown(op.result_types, symbols):
            what = "has a result whose extents are unknown"
        elif isinstance(op, FnOp) and (op.operands or op.recursive is not None):
            what = "is a closure"
    if what:
        name = f"@{main.sym_name.data}" if refused is main else refused.name
        raise InputError(f"relay-to-te: {name} {what}", hint="run the module by lamina.vm.vm", op=refused)


def add_sizes(main: MainOp, symbols: Symbols) -> dict[str, SSAValue]:
    """Give a function a size for each symbol that its types name, and take the names out of its own types.

    The sizes are its first arguments; `te.range` says what they may be.
    """
    block = main.body.block
    given = [*block.args, *(r for op in block.ops for r in op.results)]
    opened = [v for v in given if has_unknown_extents([v.type])]
    infos: dict[SSAValue, TensorInfo] = {
        v: info for v in opened if (info := symbolic_info(v.type, symbols)) is not None
    }
    names = size_names([*(e for i in infos.values() for e in i.shape), *numbers_in(main.walk(), symbols)], symbols)
    returned = main.get_return_op()
    assert returned is not None

    def attrs_of_values(values: Sequence[SSAValue], attrs: ArrayAttr[DictionaryAttr] | None) -> list[DictionaryAttr]:
        before = attrs.data if attrs is not None else [DictionaryAttr({})] * len(values)
        shapes = [shape_attr(infos[v].shape, names) if v in infos else None for v in values]
        return [a if s is None else DictionaryAttr({**a.data, SHAPE: s}) for a, s in zip(before, shapes, strict=True)]

    taken = {str(a.data.get(NAME)) for a in main.arg_attrs or ()}
    inputs = attrs_of_values(block.args, main.arg_attrs)
    outputs = attrs_of_values(returned.arguments, main.res_attrs)
    if names:
        attrs = [_size_attr(n, symbols, taken) for n in names]
        places = {name: Linear.dim(n) for n, name in enumerate(names)}
        said = [Condition(c.substitute(places)) for c in symbols.conditions if set(symbols_of(c)) <= set(names)]  # type: ignore[arg-type]
        if said:
            attrs[-1] = DictionaryAttr({**attrs[-1].data, CONDITIONS: IndexSetAttr(IndexSet(len(names), tuple(said)))})
        main.properties["arg_attrs"] = ArrayAttr([*attrs, *inputs])
        main.properties["res_attrs"] = ArrayAttr(outputs)
    for value in infos:
        Rewriter.replace_value_with_new_type(value, without_names(value.type))
    sizes: dict[str, SSAValue] = {}
    for n, name in enumerate(names):
        sizes[name] = block.insert_arg(IndexType(), n)
        sizes[name].name_hint = size_hint(name)
    main.function_type = FunctionType.from_lists(list(block.arg_types), [v.type for v in returned.arguments])
    return sizes


def numbers_in(ops: Iterable[Operation], symbols: Symbols) -> list[int]:
    """The numbers of attributes that depend on symbols."""
    with with_symbols(symbols):
        attrs = [a for op in ops for a in op.properties.values() if isinstance(a, ExtentsAttr)]
        return [n for a in attrs for n in a.numbers()]


def _size_attr(name: str, symbols: Symbols, taken: set[str]) -> DictionaryAttr:
    own = StringAttr(name)
    attrs: dict[str, Attribute] = {NAME: StringAttr(f"{name}.extent") if str(own) in taken else own}
    if name in symbols.known:
        attrs[RANGE] = DenseArrayBase.from_list(i64, symbols.known[name].numbers())
    return DictionaryAttr(attrs)


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


def lower_function(function: FnOp, name: str, symbols: Symbols | None = None) -> SizedFunction:
    """The te.func of a primitive function."""
    block = function.body.block
    returned = [without_names(v.type) for v in function.returned]
    types, shapes, names = [*block.arg_types], [None] * len(block.args), list[str]()
    if symbols is not None:
        types, shapes, names = _sized(block, symbols)
    lowered = te.FuncOp.make(name, types, returned, shapes)
    lowered.location = fused_location([op for op in block.ops if isinstance(op, RelayOp)])
    target = lowered.body.block
    with building_with_sizes(target, names, symbols) as asked:
        state = Equations(target)
        for n, (old, new) in enumerate(zip(block.args, target.args[len(names) :], strict=True)):
            new.name_hint = old.name_hint or f"p{n}"
            state.tensors[old] = Tensor(new)
        for op in block.ops:
            before = target.last_op
            results = equations.lower(op, state)
            if asked is not None and asked.guards:
                raise UnsupportedError(f"relay-to-te: {op.name} computes this only where {asked.guards[0]}", op=op)
            if results is None:
                continue
            state.tensors.update(zip(op.results, results, strict=True))
            tag = StringAttr(op.name.removeprefix("relay."))
            _each_new(target, before, lambda new: _mark(new, tag, op))  # noqa: B023
    if any(len(op.results) > 1 for op in block.ops):
        drop_unread_stages(target)
    return SizedFunction(lowered, names)


def _sized(block: Block, symbols: Symbols) -> tuple[list[Attribute], list[IndexMapAttr | None], list[str]]:
    """The types and the `te.shape` of a te.func's arguments, sizes first, and the names of these."""
    values = [*block.args, *(r for op in block.ops for r in op.results)]
    infos = [symbolic_info(v.type, symbols) for v in values if has_unknown_extents([v.type])]
    shapes_of = (e for i in infos if i is not None for e in i.shape)
    names = size_names([*shapes_of, *numbers_in(block.ops, symbols)], symbols)
    given = [symbolic_info(a.type, symbols) for a in block.args]
    shapes = [None if i is None else shape_attr(i.shape, names) for i in given]
    none: list[IndexMapAttr | None] = [None] * len(names)
    sizes: list[Attribute] = [IndexType()] * len(names)
    return [*sizes, *map(without_names, block.arg_types)], [*none, *shapes], names


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
