"""Kernels of the device, and the host code that launches them, as CUDA C.

    extern "C" __global__ void __launch_bounds__(64) f_kernel0(const float* __restrict__ x, float* __restrict__ y) {
      const index_t t = threadIdx.x;
      const float v = x[t];
      y[t] = v;
    }

Ops on scalars are written by the table of `rows.py`, statements by the methods below; what has neither is refused by
name. A vector is as many variables as it has lanes; it is loaded and stored as `float4` and the like where its address
is a multiple of its size (buffers start at multiples of 16 bytes).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue

from lamina.backends.c.expressions import INDEX_TYPE, condition, index, name_of
from lamina.backends.c.source import KEYWORDS, SourceFunction
from lamina.backends.cuda.expressions import c_type, compute, constant_lanes, lanes_of, literal
from lamina.backends.cuda.rows import BARRIERS, PRELUDE, WIDE
from lamina.dialects.dtypes import dtype_name, itemsize, scalar_type
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Linear, row_major_strides
from lamina.dialects.schedule.nest.threads import is_real, tag_of, thread_loops
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.launch import DEVICE, LaunchOp
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp, extents_of, type_of
from lamina.dialects.tir.ops import BroadcastOp, ConditionOp, ForOp, FuncOp, IndexOp, SelectOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.errors import InputError
from lamina.passes.base import ModulePass
from lamina.passes.tir.arithmetic.fuse_multiply_add import FuseMultiplyAddPass
from lamina.passes.tir.loops.simplify import SimplifyPass
from lamina.passes.tir.loops.unroll_loop import UnrollLoopPass
from lamina.passes.tir.loops.vectorize_loop import VectorizeLoopPass

PASSES: tuple[ModulePass, ...] = (SimplifyPass(), VectorizeLoopPass(), UnrollLoopPass(), FuseMultiplyAddPass())
"""Passes on a kernel after `tir-split-host-device`."""

WIDEST = 16
"""The bytes of the widest load or store."""

_TAKEN = KEYWORDS | frozenset(
    "bool class delete new private public template this virtual min max "
    "threadIdx blockIdx blockDim gridDim warpSize".split()
)


def compile_device(module: ModuleOp, arch: str) -> str:
    """CUDA C of all kernels of a module, which is not changed. Raises InputError where an op has no row.

    `arch` (`sm_90`) is noted at the top; the text is the same for all.
    """
    kernels = [op for op in _prepared(module).ops if isinstance(op, FuncOp) and DEVICE in op.attributes]
    if not kernels:
        raise InputError("the module has no kernels; bind loops to threads and run tir-split-host-device", op=module)
    return _with_prelude([Function(k).text() for k in kernels], arch)


def compile_module(module: ModuleOp, arch: str) -> str:
    """CUDA C of a module: kernels, and for each host function one that launches them."""
    functions = [op for op in _prepared(module).ops if isinstance(op, FuncOp)]
    functions.sort(key=lambda f: DEVICE not in f.attributes)
    return _with_prelude([Function(f).text() for f in functions], arch)


def _prepared(module: ModuleOp) -> ModuleOp:
    copy = module.clone()
    for p in PASSES:
        p.apply(Context(), copy)
    return copy


def _with_prelude(texts: Sequence[str], arch: str) -> str:
    body = "\n".join(texts)
    head = [f"// for {arch}"]
    for word, header in (("__half", "cuda_fp16.h"), ("__nv_bfloat16", "cuda_bf16.h")):
        if word in body:
            head.append(f"#include <{header}>")
    head.append("")
    head += [text for name, text in PRELUDE.items() if f"{name}(" in body or f"{name}<" in body]
    return "\n".join(head) + "\n" + body


class Function(SourceFunction):
    """One function of the device or of the host as text."""

    def __init__(self, func: FuncOp) -> None:
        super().__init__(_TAKEN)
        self.func = func
        self.device = DEVICE in func.attributes
        self.temporaries: list[str] = []

    # -- the whole ---------------------------------------------------------------------------------------------

    def text(self) -> str:
        func = self.func
        stored = {op.buffer for op in func.walk() if isinstance(op, StoreOp)}
        for op in func.walk():
            if isinstance(op, LaunchOp):
                stored |= set(list(op.arguments)[-_outputs(op) :]) if _outputs(op) else set()
        waits = any(isinstance(op, BarrierOp) for op in func.walk())
        loaded = {op.buffer for op in func.walk() if isinstance(op, LoadOp)}
        parameters: list[str] = []
        for argument in func.body.block.args:
            name = self.name(argument)
            if isinstance(argument.type, IndexType):
                parameters.append(f"long long {name}_")
                self.line(f"const {INDEX_TYPE} {name} = {name}_;")
                continue
            element = c_type(name_of(scalar_type(type_of(argument).element_type)), func)
            const = "" if argument in stored else "const "
            # Other threads may write what this one reads again after a barrier: then it is no restricted pointer.
            apart = self.device and not (waits and argument in stored and argument in loaded)
            parameters.append(f"{const}{element}*{' __restrict__' if apart else ''} {name}")
        self.block(func.body.block)
        for name in reversed(self.temporaries):
            self.line(f"cudaFree({name});")
        head = f"{self.head()}{func.sym_name.data}({', '.join(parameters)}) {{"
        return "\n".join([head, f"  typedef {self.index_type()} {INDEX_TYPE};", *self.lines, "}", ""])

    def head(self) -> str:
        if not self.device:
            return 'extern "C" void '
        loops = {tag_of(v): v for v in thread_loops(self.func, "threadIdx")}
        bounds = ""
        if not any(v.is_dynamic for v in loops.values()):
            bounds = f"__launch_bounds__({prod(v.trip for v in loops.values())}) "
        return f'extern "C" __global__ void {bounds}'

    def index_type(self) -> str:
        """32 bits where all sizes are known and small."""
        buffers = [*self.func.body.block.args, *(o.result for o in self.func.walk() if isinstance(o, AllocOp))]
        for b in buffers:
            if not isinstance(b.type, MemRefType):
                return "long long"
            shape = type_of(b).get_shape()
            if DYNAMIC_INDEX in shape or prod(shape) >= 1 << 31:
                return "long long"
        return "int"

    # -- statements ----------------------------------------------------------------------------------------------

    def statement(self, op: Operation) -> None:
        if isinstance(op, ForOp):
            self.loop(op)
        elif isinstance(op, IfOp):
            self.inside(f"if ({condition(op.conditions(), self.atom(), self.ranges)})", op.body.block)
        elif isinstance(op, LaunchOp):
            self.launch(op)
        elif isinstance(op, AllocOp):
            self.alloc(op) if self.device else self.temporary(op)
        elif not self.device and not isinstance(op, arith.ConstantOp):
            raise InputError(
                f"cuda: {op.name} stands in @{self.func.sym_name.data} outside of all kernels; bind a loop around it",
                op=op,
            )
        elif isinstance(op, BarrierOp):
            self.line(BARRIERS[op.scope.data])
        elif isinstance(op, PrefetchOp):
            self.line(f"// {self.name(op.buffer_value())} is wanted soon")
        elif isinstance(op, LoadOp):
            self.load(op)
        elif isinstance(op, StoreOp):
            self.store(op)
        elif len(op.results) == 1 and not op.regions:
            self.value(op)
        else:
            raise InputError(f"cuda: {op.name} has no row", op=op)

    def loop(self, op: ForOp) -> None:
        if is_real(op):
            if not self.device:
                raise InputError(f"cuda: {op.axis.data!r} is a kernel still; run tir-split-host-device", op=op)
            kind, axis = tag_of(op).split(".")
            self.line(f"const {INDEX_TYPE} {self.name(op.var)} = {kind}.{axis};")
            self.block(op.body.block)
            return
        if op.kind.data not in ("serial", "unrolled"):
            raise InputError(f"cuda: the loop {op.axis.data!r} is {op.kind.data} still", op=op)
        if op.kind.data == "unrolled":
            self.line("#pragma unroll")
        limits = [index(f, self.atom(), self.ranges) for f in op.limits()]
        limit = limits[0]
        for other in limits[1:]:
            limit = f"lamina_min<{INDEX_TYPE}>({limit}, {other})"
        variable = self.name(op.var)
        self.inside(f"for ({INDEX_TYPE} {variable} = 0; {variable} < {limit}; ++{variable})", op.body.block)

    def alloc(self, op: AllocOp) -> None:
        type_ = op.result.type
        if DYNAMIC_INDEX in type_.get_shape():
            raise InputError(f"cuda: the size of the buffer {op.stage.data!r} is not known", op=op)
        if op.scope.data == "global":
            raise InputError(
                f'cuda: the buffer {op.stage.data!r} of scope "global" is made inside of a kernel; run '
                "tir-unify-thread-binding",
                op=op,
            )
        where = "__shared__ " if op.scope.data == "shared" else ""
        element = c_type(name_of(scalar_type(type_.element_type)), op)
        self.line(f"{where}__align__({WIDEST}) {element} {self.name(op.result)}[{max(prod(type_.get_shape()), 1)}];")

    # -- host ------------------------------------------------------------------------------------------------------

    def temporary(self, op: AllocOp) -> None:
        """A buffer of the device that lives while the function runs."""
        element = scalar_type(op.result.type.element_type)
        name = self.name(op.result)
        size = " * ".join(f"(size_t){index(e, self.atom(), self.ranges)}" for e in op.extents()) or "1"
        self.line(f"{c_type(name_of(element), op)}* {name};")
        self.line(f"cudaMalloc((void**)&{name}, {size} * {itemsize(dtype_name(op.result.type.element_type))});")
        self.temporaries.append(name)

    def launch(self, op: LaunchOp) -> None:
        extents = [[index(e, self.atom(), self.ranges) for e in es] for es in (op.grid_extents(), op.block_extents())]
        variable = [t for es in extents for t in es if not t.isdecimal()]
        test = " && ".join(f"{t} > 0" for t in variable)
        grid, block = (f"dim3({', '.join(es)})" for es in extents)
        arguments = ", ".join(self.name(a) for a in op.arguments)
        prefix = f"if ({test}) " if test else ""
        self.line(f"{prefix}{op.callee.root_reference.data}<<<{grid}, {block}>>>({arguments});")

    # -- accesses --------------------------------------------------------------------------------------------------

    def chunk(self, op: AccessOp, lanes: int) -> tuple[str, int] | None:
        """The vector type, and its lanes, by which a vector is accessed; None where it is lane by lane."""
        extents = extents_of(op.buffer_value())
        if op.conditions() or not all(e.is_constant for e in extents):
            return None
        flat = Linear()
        for form, stride in zip(op.forms(), row_major_strides([e.const for e in extents]), strict=True):
            flat = flat + form * stride
        name = name_of(scalar_type(type_of(op.buffer_value()).element_type))
        rest = Linear({a: c for a, c in flat.terms.items() if a != LANE}, flat.const)
        if flat.terms.get(LANE) != 1 or any(LANE in Linear.dim(a).dims() for a in rest.terms):
            return None
        for count in (4, 2):
            if lanes % count or (name, count) not in WIDE:
                continue
            if all(c % count == 0 for c in rest.terms.values()) and rest.const % count == 0:
                return WIDE[name, count], count
        return None

    def load(self, op: LoadOp) -> None:
        lanes = lanes_of(op.result.type)
        element = c_type(name_of(op.result.type), op)
        buffer, zero = self.name(op.buffer), literal(0, name_of(op.result.type))
        wide = self.chunk(op, lanes) if lanes is not None else None
        names = self.define(op.results[0])
        if wide is not None and lanes is not None:
            type_, count = wide
            for start in range(0, lanes, count):
                whole = self.fresh("wide")
                address = f"{buffer} + {self.place(op, start)}"
                self.line(f"const {type_} {whole} = *reinterpret_cast<const {type_}*>({address});")
                for n, axis in zip(range(count), "xyzw", strict=False):
                    self.line(f"const {element} {names[start + n]} = {whole}.{axis};")
            return
        for n, name in enumerate(names):
            text = f"{buffer}[{self.place(op, n)}]"
            guard = self.guard(op, n)
            self.line(f"const {element} {name} = {f'({guard}) ? {text} : {zero}' if guard else text};")

    def store(self, op: StoreOp) -> None:
        lanes = lanes_of(op.value.type)
        values = self.lanes[op.value]
        buffer = self.name(op.buffer)
        wide = self.chunk(op, lanes) if lanes is not None else None
        if wide is not None and lanes is not None:
            type_, count = wide
            for start in range(0, lanes, count):
                given = ", ".join(values[start : start + count])
                address = f"{buffer} + {self.place(op, start)}"
                self.line(f"*reinterpret_cast<{type_}*>({address}) = make_{type_}({given});")
            return
        for n in range(lanes or 1):
            guard = self.guard(op, n)
            self.line(f"{f'if ({guard}) ' if guard else ''}{buffer}[{self.place(op, n)}] = {values[n]};")

    # -- values ------------------------------------------------------------------------------------------------------

    def define(self, value: SSAValue) -> list[str]:
        """A name for each lane of a value."""
        lanes = lanes_of(value.type)
        hint = value.name_hint or "v"
        names = [self.fresh(hint)] if lanes is None else [self.fresh(f"{hint}_{n}") for n in range(lanes)]
        self.lanes[value] = names
        return names

    def value(self, op: Operation) -> None:
        result = op.results[0]
        count = lanes_of(result.type) or 1
        if isinstance(op, arith.ConstantOp):
            self.lanes[result] = constant_lanes(op.value, result.type, op)
            return
        if isinstance(op, BroadcastOp):
            self.lanes[result] = self.lanes[op.value] * count
            return
        if isinstance(op, IndexOp):
            (form,) = over_values(op.map.data.results, op.operands)
            texts = [index(form, self.atom(n), self.ranges) for n in range(count)]
        elif isinstance(op, ConditionOp):
            found = op.set.data.conditions
            forms = over_values([c.form for c in found], op.operands)
            conditions = [Condition(f, c.equal) for f, c in zip(forms, found, strict=True)]
            texts = [condition(conditions, self.atom(n), self.ranges) for n in range(count)]
        elif isinstance(op, SelectOp):
            a, b, c = (self.lanes[o] for o in op.operands)
            texts = [f"({a[n]} ? {b[n]} : {c[n]})" for n in range(count)]
        else:
            given = [self.lanes[o] for o in op.operands]
            texts = [compute(op, [g[n] if len(g) > 1 else g[0] for g in given]) for n in range(count)]
        type_ = c_type(name_of(result.type), op)
        for name, text in zip(self.define(result), texts, strict=True):
            self.line(f"const {type_} {name} = {text};")


def _outputs(op: LaunchOp) -> int:
    """The number of a launch's arguments that its kernel writes."""
    module = op.parent_op()
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    name = op.callee.root_reference.data
    for top in module.ops if module is not None else ():
        if isinstance(top, FuncOp) and top.sym_name.data == name:
            return top.outputs.value.data
    raise InputError(f"cuda: there is no kernel @{name}", op=op)


__all__ = ["compile_device", "compile_module"]
