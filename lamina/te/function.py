"""A te.func from tensors: the computes that lead to the outputs, in the order in which they depend on each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, StringAttr
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.te import build, ir_builder
from lamina.dialects.te.build import Index, Reducer, Reduction, Scalar, compute_results
from lamina.dialects.te.extern import ExternOp as IrExternOp
from lamina.dialects.te.indices import current_scope, range_of_extent
from lamina.dialects.te.ops import ComputeOp as IrComputeOp
from lamina.dialects.te.ops import FuncOp, ReturnOp
from lamina.dialects.value_names import value_name
from lamina.errors import InputError
from lamina.te.emit import Emitter, affine
from lamina.te.expr import Expr, Var, fail
from lamina.te.reduction import CommReducer, Reduce
from lamina.te.special import ExternOp, ScanOp
from lamina.te.tensor import ComputeOp, IterVar, Operation, PlaceholderOp, Tensor, reading_order, shape_of, walk


class TemplateOp(Operation):
    """An operation that exists as te IR already: a compute of a Relay op's meaning."""

    def __init__(self, name: str, source: IrComputeOp, inputs: dict[SSAValue, Tensor], tag: str) -> None:
        super().__init__(name, tag)
        self.source = source
        self.inputs = inputs
        dims = [a.name_hint or f"i{n}" for n, a in enumerate(source.body.block.args)]
        extents = [*source.spatial, *source.reduced]
        axes = [
            IterVar(extent, hint, "DataPar" if n < len(source.spatial) else "CommReduce")
            for n, (hint, extent) in enumerate(zip(dims, extents, strict=True))
        ]
        self.axis, self.reduce_axis = axes[: len(source.spatial)], axes[len(source.spatial) :]

    @property
    def input_tensors(self) -> list[Tensor]:
        return list(dict.fromkeys(self.inputs.values()))


class TemplateExternOp(ExternOp):
    """Statements that exist as te IR already: of a Relay op whose meaning is no index equation."""

    def __init__(self, name: str, source: IrExternOp, inputs: dict[SSAValue, Tensor], tag: str) -> None:
        super().__init__(name, tag, None, list(inputs.values()), _written)
        self.source = source
        self.bindings = inputs
        types = map(build.Tensor, source.tensors)
        self.set_outputs([Tensor(self, n, shape_of(list(t.shape)), t.dtype) for n, t in enumerate(types)])


def _written(ins: object, outs: object) -> None:
    """The statements of a TemplateExternOp need no building."""


@dataclass
class TensorFunction:
    """A te.func, and what the tensors of the program are in it."""

    func: FuncOp
    sizes: list[Var]
    inputs: list[Tensor | Var]
    """Arguments behind the sizes: placeholders, and scalars as tensors of rank 0."""
    outputs: list[Tensor]
    order: list[Operation]
    """The operations, inputs before what reads them."""
    names: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """Of placeholders the argument's, of the others the stage's."""
    intrinsics: dict[str, Any] = field(default_factory=dict[str, Any])
    """The te.tensor_intrin of each intrinsic that the schedule uses, by name."""

    def intrinsic(self, value: Any) -> str:
        """Use a tensor intrinsic, or one that is built in, by its name; returns the name."""
        if isinstance(value, str):
            return value.removeprefix("@")
        self.intrinsics[value.name] = value.ir
        return value.name


def build_function(outputs: Sequence[Tensor], args: Sequence[Any], name: str) -> TensorFunction:
    """The te.func whose arguments are the placeholders and variables among `args`, and that gives `outputs`.

    Raises LaminaError where a tensor that is read is no argument, or an extent is not affine in sizes.
    """
    order = reading_order([t.op for t in outputs])
    inputs = [a for a in args if isinstance(a, Tensor) and isinstance(a.op, PlaceholderOp)]
    for op in order:
        if isinstance(op, PlaceholderOp) and all(op is not t.op for t in inputs):
            raise fail(f"tensor {op.name!r} is read, but it is not among the arguments")
    extents = _extents_of([*order, *(t.op for t in inputs)])
    used = list(dict.fromkeys(v for x in extents for v in walk([x]) if isinstance(v, Var)))
    given = [a for a in args if isinstance(a, Var)]
    sizes = [v for v in given if v in used] + [v for v in used if v not in given]
    scalars = [v for v in given if v not in used]
    builder = _FunctionBuilder(sizes, [*scalars, *inputs], list(outputs), order, name)
    return builder.run()


def all_operations(ops: Sequence[Operation]) -> list[Operation]:
    """Operations and those inside of them: a scan's cells come before it."""
    return [o for op in ops for o in ([*op.cells, op] if isinstance(op, ScanOp) else [op])]


def _extents_of(ops: Sequence[Operation]) -> list[Expr]:
    found: list[Expr] = []
    for op in all_operations(ops):
        found += [e for t in op.outputs for e in t.shape]
        for axis in [*op.axis, *op.reduce_axis]:
            if axis.dom is not None:
                found += [axis.dom.min, axis.dom.extent]
    return found


class _FunctionBuilder:
    def __init__(
        self, sizes: list[Var], inputs: list[Tensor | Var], outputs: list[Tensor], order: list[Operation], name: str
    ) -> None:
        positions = {v: Linear.dim(n) for n, v in enumerate(sizes)}
        types: list[Attribute] = [IndexType()] * len(sizes)
        shapes: list[IndexMapAttr | None] = [None] * len(sizes)
        for item in inputs:
            forms = [affine(x, positions) for x in item.shape] if isinstance(item, Tensor) else []
            types.append(tensor_type(_shape(forms), item.dtype))
            symbolic = any(not f.is_constant for f in forms)
            shapes.append(IndexMapAttr(IndexMap(len(sizes), tuple(forms))) if symbolic else None)
        self.shapes = shapes
        self.func = FuncOp.make(name, types, [], shapes)
        self.block = self.func.body.block
        self.result = TensorFunction(self.func, sizes, inputs, outputs, order)
        self.sizes = {v: Linear.dim(a) for v, a in zip(sizes, self.block.args, strict=False)}
        self.scalars: dict[Var, build.Tensor] = {}
        self.tensors: dict[Tensor, build.Tensor] = {}
        self.extents: dict[SSAValue, list[Linear]] = {}
        self.slices: dict[Tensor, Linear] = {}
        """The times at which the cells of the scan under construction compute their tensors."""

    def run(self) -> TensorFunction:
        with build.building(self.block):
            names = current_scope().stages
            for size, arg in zip(self.result.sizes, self.block.args, strict=False):
                arg.name_hint = _argument_name(size.name, names)
            first = len(self.result.sizes)
            for item, arg in zip(self.result.inputs, list(self.block.args)[first:], strict=True):
                arg.name_hint = _argument_name(item.name, names)
                if isinstance(item, Var):
                    self.scalars[item] = build.Tensor(arg)
                    self.extents[arg] = []
                else:
                    self.result.names[item.op] = arg.name_hint
                    self._bind(item, arg)
            for op in self.result.order:
                if not isinstance(op, PlaceholderOp):
                    self.add(op)
        results = [self.tensors[t].value for t in self.result.outputs]
        self.block.add_op(ReturnOp.create(operands=results))
        finished = FuncOp.make(self.func.sym_name.data, self.block.arg_types, [r.type for r in results], self.shapes)
        self.func.properties["function_type"] = finished.function_type
        return self.result

    def _bind(self, tensor: Tensor, value: SSAValue) -> None:
        self.tensors[tensor] = build.Tensor(value)
        shape = tensor.shape[1:] if tensor in self.slices else tensor.shape
        self.extents[value] = [affine(x, self.sizes) for x in shape]

    def add(self, op: Operation) -> None:
        """Append the te ops of one operation."""
        try:
            made = self._compute(op) if isinstance(op, ComputeOp) else self._other(op)
        except InputError as error:
            if op.place is not None:  # the expression is to blame, not the call that lowers it
                error.where = str(op.place)
            raise
        self.result.names[op] = made.stage.data
        if op.place is not None:
            place = op.place.location()
            for inner in made.walk():
                inner.location = place
        if op.tag:
            made.attributes["tag"] = StringAttr(op.tag)
        for tensor, value in zip(op.outputs, made.tensors, strict=True):
            self._bind(tensor, value)

    def _other(self, op: Operation) -> Any:
        if isinstance(op, ScanOp):
            return self._scan(op)
        if isinstance(op, (TemplateOp, TemplateExternOp)):
            given = op.inputs if isinstance(op, TemplateOp) else op.bindings
            clone = op.source.clone({value: self.tensors[t].value for value, t in given.items()})
            clone.properties["stage"] = StringAttr(current_scope().stage_name(op.source.stage.data))
            for tensor in clone.tensors:
                tensor.name_hint = value_name(clone.stage.data)
            current_scope().function.add_op(clone)
            return clone
        if isinstance(op, ExternOp):
            return self._extern(op)
        raise fail(f"{op!r} cannot be lowered")

    def _scan(self, op: ScanOp) -> Any:
        def update(time: Index, *states: build.Tensor) -> list[build.Tensor]:
            for mine, given in zip(op.state, states, strict=True):
                self._bind(mine, given.value)
            self.slices.update({t: time.form for cell in op.cells for t in cell.outputs})
            for cell in op.cells:
                self.add(cell)
            return [self.tensors[u] for u in op.update]

        time = Index(affine(op.state[0].shape[0], self.sizes))
        made = build.scan(time, [self.tensors[t] for t in op.init], update, op.name, identifier(op.scan_axis.name))
        for cell in op.cells:
            for t in cell.outputs:
                del self.slices[t]
        return made[0].value.owner

    def _extern(self, op: ExternOp) -> Any:
        from lamina.te.statements import Pointer, building_statements

        def pointers(buffers: Sequence[Any], tensors: Sequence[Tensor]) -> list[Pointer]:
            return [Pointer(b, t.shape, t.dtype, t.name) for b, t in zip(buffers, tensors, strict=True)]

        def body(ib: Any, ins: Any, outs: Any) -> None:
            with building_statements(ib, self.sizes):
                op.fcompute(pointers(ins, op.inputs), pointers(outs, op.outputs))

        shapes = [[Index(affine(e, self.sizes)) for e in t.shape] for t in op.outputs]
        inputs = [self.tensors[t] for t in op.inputs]
        made = ir_builder.extern(shapes, inputs, body, op.name, [t.dtype for t in op.outputs])
        return made[0].value.owner

    def _compute(self, op: ComputeOp) -> IrComputeOp:
        time = self.slices.get(op.outputs[0])
        axes = op.axis if time is None else op.axis[1:]
        shape = op.outputs[0].shape
        spatial = [affine(t, self.sizes) for t in (shape if time is None else shape[1:])]
        reduced = [build.reduce_axis(Index(_extent(a, self.sizes)), a.name) for a in op.reduce_axis]

        def body(*dims: Index) -> Any:
            variables = dict(self.sizes)
            axis_extents: dict[Atom, Linear] = {}
            if time is not None:
                variables[op.axis[0].var] = time
            for axis, dim, extent in zip(axes, dims, spatial, strict=True):
                variables[axis.var] = dim.form
                axis_extents[next(iter(dim.form.terms))] = extent
            for axis, made in zip(op.reduce_axis, reduced, strict=True):
                dim = made.index()
                extent = _extent(axis, self.sizes)
                axis_extents[next(iter(dim.form.terms))] = extent
                start = axis.dom.min if axis.dom is not None else 0
                variables[axis.var] = dim.form + (affine(start, self.sizes) if isinstance(start, Expr) else start)
                current_scope().ranges[next(iter(dim.form.terms))] = range_of_extent(extent)
            emitter = Emitter(variables, self.scalars, self.tensors, self.extents, axis_extents, self.slices)
            first = op.body[0]
            if isinstance(first, Reduce):
                return self._reduction(emitter, first, tuple(reduced))
            found = [emitter.scalar(x) for x in op.body]
            return tuple(found) if len(found) > 1 else found[0]

        made = compute_results(
            [Index(s) for s in spatial], body, op.name, axis_names=[identifier(a.name) for a in axes]
        )
        owner = made[0].value.owner
        assert isinstance(owner, IrComputeOp)
        return owner

    def _reduction(self, emitter: Emitter, reduce: Reduce, axes: tuple[build.IterVar, ...]) -> Reduction:
        values = [emitter.scalar(s) for s in reduce.source]
        if reduce.condition is not None:
            emitter.scalar(reduce.condition)
            starts = [emitter.scalar(i) for i in reduce.combiner.identity_element]
            values = [emitter.choose(reduce.condition, v, s) for v, s in zip(values, starts, strict=True)]
        if reduce.combiner.kind and len(values) == 1:
            return Reduction(reduce.combiner.kind, values[0], axes)
        return Reduction(_reducer(reduce.combiner), tuple(values), axes)


def _reducer(combiner: CommReducer) -> Reducer:
    """The combining function as the te builder takes it."""

    def combine(x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        given = dict(zip([*combiner.lhs, *combiner.rhs], [*x, *y], strict=True))
        return list(_evaluated(combiner.result, given))

    def identity(dtypes: Sequence[str]) -> list[Scalar]:
        return list(_evaluated(combiner.identity_element, {}))

    return Reducer(combine, identity)


def _evaluated(values: Sequence[Expr], given: dict[Var, Scalar]) -> Iterator[Scalar]:
    emitter = _ScalarEmitter(given)
    for value in values:
        yield emitter.scalar(value)


class _ScalarEmitter(Emitter):
    """Of expressions whose variables are scalars: a combining function's."""

    def __init__(self, given: dict[Var, Scalar]) -> None:
        super().__init__({}, {}, {}, {}, {})
        self._values = {**given}


def _extent(axis: IterVar, sizes: dict[Var, Linear]) -> Linear:
    if axis.dom is None:
        raise fail(f"the axis {axis.name!r} has no range")
    return affine(axis.dom.extent, sizes)


def _shape(forms: Sequence[Linear]) -> tuple[int, ...]:
    return tuple(f.const if f.is_constant else DYNAMIC_INDEX for f in forms)


def _argument_name(wanted: str, taken: set[str]) -> str:
    name, n = identifier(wanted), 0
    while name in taken:
        n += 1
        name = f"{identifier(wanted)}{n}"  # without an underscore: xDSL takes `_1` off a name
    taken.add(name)
    return name


def identifier(name: str) -> str:
    """A name as SSA values have it. One that ends in `_1` loses that: xDSL numbers equal names so."""
    text = re.sub(r"_(?=\d+$)", "", re.sub(r"\W", "_", name, flags=re.ASCII))
    text = text.rstrip("_")  # xDSL takes that off, too
    return text if text and not text[0].isdigit() else f"v{text}"
