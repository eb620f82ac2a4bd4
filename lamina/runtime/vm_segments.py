"""The parts of a program without control flow: how they are found, and the two ways to run them.

A segment is a run of tensor ops that stand one after the other in a block. `CompiledKernels` makes of it an ordinary
program, `@main` with the segment's inputs, once for each combination of concrete shapes: every type is inferred again
from these, so that a `?` costs nothing at run time and a wrong claim about one is found. `ReferenceKernels` runs the
ops' oracles.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lamina.dialects.dtypes import dtype_name, numpy_dtype, tensor_type
from lamina.dialects.relay.base import RelayOp, TypeMismatch
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.relay.value_types import accepts, is_dynamic
from lamina.errors import InputError
from lamina.passes.base import inherit_location

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lamina.dialects.target import TargetAttr
    from lamina.program_file import StoredProgram
    from lamina.transform import PassContext

    Array: TypeAlias = NDArray[Any]

Ready: TypeAlias = "Callable[[Sequence[Array], Sequence[Array] | None], Sequence[Array]]"
"""Runs a segment on its inputs: gives the outputs, written into the arrays where there are any given for them."""


class Segment:
    """Tensor ops in program order, what they read from outside and what of theirs is read outside."""

    __slots__ = ("constants", "inputs", "named", "ops", "outputs", "ready", "types")

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
        """How to run it, by the shapes of the inputs."""
        self.types: list[Sequence[TensorType[Any]]] = []
        """The types of inputs that it has been compiled for."""

    def static_types(self) -> list[TensorType[Any]] | None:
        """The types of the inputs where they leave nothing open."""
        found: list[Any] = [v.type for v in self.inputs]
        types: list[TensorType[Any]] = [t for t in found if isinstance(t, TensorType)]
        return types if len(types) == len(self.inputs) and not any(map(is_dynamic, types)) else None


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
        self, op_type: type[RelayOp], attrs: dict[str, Any], arrays: Sequence[Array], source: Operation
    ) -> Sequence[Array]:
        """The results of one op that `source` has become, now that values are known."""
        types = array_types(arrays)
        key = (op_type, tuple(types), tuple(sorted(attrs.items())))
        segment = self._single.get(key)
        if segment is None:
            block = Block(arg_types=types)
            try:
                op = op_type.make(*block.args, **attrs)
            except TypeMismatch as e:
                raise InputError(f"{source.name.removeprefix('relay.')}: {e}", op=source) from None
            inherit_location(op, source)
            block.add_ops([op, ReturnOp(*op.results)])
            segment = self._single[key] = Segment([op], block.args)
        return self.run(segment, arrays)


def concrete_ops(segment: Segment, types: Sequence[Attribute]) -> tuple[Block, list[SSAValue]]:
    """A block with the segment's ops on inputs of concrete types, and its outputs.

    Raises InputError naming an op that does not take these types, or gives another than it says.
    """
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
        try:
            found = op.infer_types([v.type for v in operands], op.properties)
        except TypeMismatch as e:
            raise InputError(f"{op.name.removeprefix('relay.')}: {e}", op=op) from None
        for declared, actual in zip(op.result_types, found, strict=True):
            if not accepts(declared, actual, names=False):
                raise InputError(f"{op.name.removeprefix('relay.')} gives {actual}, not {declared}", op=op)
        new = type(op).create(
            operands=operands, result_types=found, properties=dict(op.properties), attributes=dict(op.attributes)
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


def _key(arrays: Sequence[Array]) -> Any:
    """What the program for some arrays depends on. A dtype's number hashes faster than the dtype."""
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
        key = _key(arrays)
        if key not in segment.ready:
            concrete_ops(segment, array_types(arrays))
            segment.ready[key] = lambda arrays, into: self._run(segment, arrays, into)
        return segment.ready[key](arrays, into)

    def _run(self, segment: Segment, arrays: Sequence[Array], into: Sequence[Array] | None) -> Sequence[Array]:
        from lamina.runtime.relay_reference import run_op

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


class CompiledKernels(Kernels):
    """Machine code for a target, made by the ordinary pipeline when shapes are seen for the first time."""

    def __init__(
        self,
        store: ParamStore | None = None,
        target: TargetAttr | None = None,
        opt_level: int | PassContext = 3,
        cache: bool = True,
        sanitize: bool = False,
    ) -> None:
        from lamina.backends.cpu.jit import host_target
        from lamina.backends.cpu.object_cache import ObjectCache
        from lamina.program_cache import enabled

        super().__init__(store)
        self.target = target or host_target(1)
        self.threads = self.target.threads.data
        self.opt_level = opt_level
        self.sanitize = sanitize
        self.programs: dict[str, Ready] = {}
        """By the text of the module: equal segments are one program."""
        self.stored: dict[str, StoredProgram] = {}
        """What has been compiled, and what a saved program brings, by the digest of the module's text."""
        self.objects = ObjectCache() if enabled(cache) else None

    def run(self, segment: Segment, arrays: Sequence[Array], into: Sequence[Array] | None = None) -> Sequence[Array]:
        ready = segment.ready.get(_key(arrays))
        if ready is None:
            ready = self.prepare(segment, array_types(arrays))
        return ready(arrays, into)

    def prepare(self, segment: Segment, types: Sequence[TensorType[Any]]) -> Ready:
        """Compile a segment for inputs of concrete types."""
        key = tuple((t.get_shape(), numpy_dtype(dtype_name(t.element_type)).num) for t in types)
        ready = segment.ready[key] = self.compile(*concrete_ops(segment, types))
        segment.types.append(types)
        return ready

    def compile(self, block: Block, outputs: Sequence[SSAValue]) -> Ready:
        """A program of a block of concrete tensor ops."""
        from lamina.compiler import lower, module_text
        from lamina.context import LaminaContext
        from lamina.dialects.target import TARGET
        from lamina.runtime.compiled import compile_module, load_program

        block.add_op(ReturnOp(*outputs))
        type_ = FunctionType.from_lists(list(block.arg_types), [v.type for v in outputs])
        module = ModuleOp([FuncOp("main", type_, Region(block))])
        module.attributes[TARGET] = self.target
        text = module_text(module)
        found = self.programs.get(text)
        if found is not None:
            return found
        digest = hashlib.sha256(text.encode()).hexdigest()
        stored = self.stored.get(digest)
        if stored is None:
            ctx = LaminaContext()
            ctx.params = self.store
            ctx.placement = []
            lower(module, ctx, self.opt_level, sanitize=self.sanitize)
            _, stored = compile_module(module, self.store, self.target, self.objects, workers=1)
            if ctx.placement:
                stored.description["placement"] = "\n".join(ctx.placement)
            self.stored[digest] = stored
        program = load_program(stored, self.objects)
        made = [(p.shape, numpy_dtype(p.dtype)) for p in program.info.outputs]

        def run(arrays: Sequence[Array], into: Sequence[Array] | None) -> Sequence[Array]:
            results = into or [np.empty(shape, dtype) for shape, dtype in made]
            # ascontiguousarray makes rank 1 of rank 0, which always is contiguous.
            program.run_into([a if a.flags.c_contiguous else np.ascontiguousarray(a) for a in arrays], results)
            return results

        self.programs[text] = run
        return run
