"""The parts of a program without control flow: how they are found, and the two ways to run them.

A segment is a run of tensor ops that stand one after the other in a block. The driver's `CompiledKernels` makes it an
ordinary program, `@main` with the segment's inputs: one for all sizes of extents that are unknown; where there can be
none, one for each combination of concrete shapes. Every type is inferred again, so that a wrong claim about a `?` is
found.
`ReferenceKernels` runs the ops' oracles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, tensor_type
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.relay.value_types import UNNAMED, accepts, dynamic_tensor, extents, is_dynamic
from lamina.errors import InputError
from lamina.passes.base import inherit_location

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lamina.dialects.relay.value_dependent import BecomesStatic

    Array: TypeAlias = NDArray[Any]

Ready: TypeAlias = "Callable[[Sequence[Array], Sequence[Array] | None], Sequence[Array]]"
"""Runs a segment on its inputs: gives the outputs, written into the arrays where there are any given for them."""


class Segment:
    """Tensor ops in program order, the tensors that they read from outside and what of theirs is read outside."""

    __slots__ = ("constants", "for_all", "inputs", "is_closed", "named", "ops", "outputs", "ready", "types")

    def __init__(self, ops: Sequence[RelayOp], inputs: Sequence[SSAValue] | None = None) -> None:
        self.ops = ops
        inside = set(ops)
        read = dict.fromkeys(v for op in ops for v in op.operands if v.owner not in inside)
        self.constants = [v.owner for v in read if isinstance(v.owner, ConstantOp)]
        self.inputs = inputs or [v for v in read if not isinstance(v.owner, ConstantOp)]
        made = [r for op in ops for r in op.results]
        self.outputs = [r for r in made if any(use.operation not in inside for use in r.uses)]
        self.named = [(n, r.type) for n, r in enumerate(self.outputs) if is_dynamic(r.type)]
        """The results whose types leave something open."""
        self.ready: dict[Any, Ready] = {}
        """The compiled programs, by the shapes of the inputs."""
        self.for_all: Ready | None = None
        """The program for all sizes of the inputs; it raises ExtentError for what it is not for."""
        self.is_closed = self.static_types() is not None
        """Whether there can be no such program, as far as is known."""
        self.types: list[Sequence[TensorType[Any]]] = []
        """The types of inputs that it has been compiled for."""

    def static_types(self) -> list[TensorType[Any]] | None:
        """The types of the inputs where they leave nothing open."""
        types: list[Any] = [v.type for v in self.inputs]
        return None if any(map(is_dynamic, types)) else types


class Kernels(ABC):
    """A way to run tensor ops."""

    store: ParamStore

    def __init__(self, store: ParamStore | None = None) -> None:
        self.store = store or ParamStore()
        self.threads = 1
        self._single: dict[Any, Segment] = {}

    @abstractmethod
    def run(self, segment: Segment, arrays: Sequence[Array], into: Sequence[Array] | None = None) -> Sequence[Array]:
        """The outputs of a segment, in memory of their own: `into`, or new."""

    def run_op(
        self, op_type: type[RelayOp], attrs: dict[str, Any], arrays: Sequence[Array], source: BecomesStatic
    ) -> Sequence[Array]:
        """The results of one op that `source` has become, now that values are known."""
        types = array_types(arrays)
        if not source.COMPUTES:
            from lamina.interpreters.relay_reference import run_op

            op, _ = _one_op(op_type, types, attrs, source)
            return [owned(r) for r in run_op(op, arrays)]
        key = (op_type, tuple(types), tuple(sorted(attrs.items())))
        segment = self._single.get(key)
        if segment is None:
            op, block = _one_op(op_type, types, attrs, source)
            block.add_op(ReturnOp(*op.results))
            segment = self._single[key] = Segment([op], block.args)
        return self.run(segment, arrays)


def _one_op(
    op_type: type[RelayOp], types: Sequence[Attribute], attrs: Mapping[str, Any], source: Operation
) -> tuple[RelayOp, Block]:
    """An op on the arguments of a block of its own. Raises InputError where it does not take them."""
    block = Block(arg_types=types)
    try:
        op = op_type.make(*block.args, **attrs)
    except TypeMismatch as e:
        raise InputError(f"{source.name.removeprefix('relay.')}: {e}", op=source) from None
    inherit_location(op, source)
    block.add_op(op)
    return op, block


def concrete_ops(segment: Segment, types: Sequence[Attribute]) -> tuple[Block, list[SSAValue]]:
    """A block with the segment's ops on inputs of concrete types, and its outputs.

    Raises InputError naming an op that does not take these types, or gives another than it says.
    """

    def inferred(op: RelayOp, operands: Sequence[SSAValue]) -> Sequence[Attribute]:
        try:
            found = op.infer_types([v.type for v in operands], op.properties)
        except TypeMismatch as e:
            raise InputError(f"{op.name.removeprefix('relay.')}: {e}", op=op) from None
        for declared, actual in zip(op.result_types, found, strict=True):
            if not accepts(declared, actual, names=False):
                raise InputError(f"{op.name.removeprefix('relay.')} gives {actual}, not {declared}", op=op)
        return found

    return _copied(segment, types, inferred)


def open_ops(segment: Segment) -> tuple[Block, list[SSAValue], list[str]]:
    """A block with the segment's ops on inputs whose unknown extents all have names, its outputs, and the names.

    Results have the types that the segment says. Extents that have a name already keep it.
    """
    names: dict[str, None] = {}

    def name(extent: int | str) -> int | str:
        if isinstance(extent, str):
            extent = extent if extent.isidentifier() and extent != UNNAMED else f"{UNNAMED}{len(names)}"
            names[extent] = None
        return extent

    types: list[Attribute] = []
    for value in segment.inputs:
        type_ = cast("TensorType[Any]", value.type)
        types.append(dynamic_tensor([*map(name, extents(type_))], dtype_name(type_.element_type)))
    block, outputs = _copied(segment, types, lambda op, _: op.result_types)
    return block, outputs, list(names)


def _copied(
    segment: Segment, types: Sequence[Attribute], results: Callable[[RelayOp, Sequence[SSAValue]], Sequence[Attribute]]
) -> tuple[Block, list[SSAValue]]:
    """A block with the segment's ops on inputs of these types, whose types `results` gives, and its outputs."""
    block = Block(arg_types=types)
    mapped: dict[SSAValue, SSAValue] = dict(zip(segment.inputs, block.args, strict=True))
    for argument, value in zip(block.args, segment.inputs, strict=True):
        argument.name_hint = value.name_hint
    for constant in segment.constants:
        copy = constant.clone()
        block.add_op(copy)
        mapped[constant.result] = copy.result
    for op in segment.ops:
        operands = [mapped[v] for v in op.operands]
        new = type(op).create(
            operands=operands,
            result_types=results(op, operands),
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        inherit_location(new, op)
        block.add_op(new)
        for a, b in zip(op.results, new.results, strict=True):
            b.name_hint = a.name_hint
            mapped[a] = b
    return block, [mapped[v] for v in segment.outputs]


def array_types(arrays: Sequence[Array]) -> list[TensorType[Any]]:
    """The types of arrays."""
    return [tensor_type(a.shape, str(a.dtype)) for a in arrays]


def key_of(arrays: Sequence[Array]) -> Any:
    """The key of a program: shapes and dtypes of its arrays. A dtype's number hashes faster than the dtype."""
    return tuple((a.shape, a.dtype.num) for a in arrays)


def owned(array: Array) -> Array:
    """An array with memory of its own: oracles give views of what they take, which the program may write over."""
    return array if array.base is None else array.copy()


class ReferenceKernels(Kernels):
    """The ops' numpy oracles; `compute` is how one op is run."""

    def __init__(self, store: ParamStore | None = None, compute: Callable[..., Sequence[Array]] | None = None) -> None:
        super().__init__(store)
        self.compute = compute

    def run(self, segment: Segment, arrays: Sequence[Array], into: Sequence[Array] | None = None) -> Sequence[Array]:
        key = key_of(arrays)
        if key not in segment.ready:
            concrete_ops(segment, array_types(arrays))
            segment.ready[key] = lambda arrays, into: self._run(segment, arrays, into)
        return segment.ready[key](arrays, into)

    def _run(self, segment: Segment, arrays: Sequence[Array], into: Sequence[Array] | None) -> Sequence[Array]:
        from lamina.interpreters.relay_reference import run_op

        compute = self.compute or run_op
        values: dict[SSAValue, Array] = dict(zip(segment.inputs, arrays, strict=True))
        for constant in segment.constants:
            values[constant.result] = self.store.get(constant.value)  # type: ignore[arg-type]
        with np.errstate(all="ignore"):
            for op in segment.ops:
                values.update(zip(op.results, compute(op, [values[v] for v in op.operands]), strict=True))
        outputs = [values[v] for v in segment.outputs]
        if into is None:
            return [owned(o) for o in outputs]
        for place, output in zip(into, outputs, strict=True):
            np.copyto(place, output)
        return into
