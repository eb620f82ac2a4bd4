"""Kernels of the tir level as functions of C.

    static void relu(const float *restrict x, float *restrict y) {
      for (index_t i = 0; i < 64; ++i) {
        const float v = x[i];
        y[i] = lamina_maximum_f32(v, 0.0f);
      }
    }

Ops on scalars are written by the table of `rows.py`, statements by the rules below; what has neither is refused by
name. Loops stay loops: those that schedules mark as unrolled, vectorized or parallel have few iterations, or
independent ones, which a C compiler sees. A kernel with checks returns 0, or the code of the first one that fails.

Buffers of a kernel are arrays, large ones parts of memory that the caller gives (`work`): stacks are small on the
machines that only C reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, MemRefType, ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue

from lamina.backends.c.expressions import (
    INDEX_TYPE,
    bare,
    c_type,
    compute,
    condition,
    index,
    literal,
    name_of,
    number_of,
    without_rule,
)
from lamina.backends.c.prelude import MATH, PRELUDE, prelude_of
from lamina.backends.c.rows import IN_MEMORY
from lamina.backends.c.source import KEYWORDS, Names, SourceFunction
from lamina.dialects.dtypes import bytes_of_type, scalar_type
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.index_map import Condition
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.control import IfOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, type_of
from lamina.dialects.tir.ops import ConditionOp, ForOp, FuncOp, IndexOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.errors import UnsupportedError
from lamina.passes.tir.memory.plan_memory import SHARED

LOCAL_BYTES = 2048
"""The largest array on the stack."""
ALIGNMENT = 64
"""Of buffers, in bytes."""
TAKEN = KEYWORDS | MATH | frozenset(PRELUDE)


class KernelText(NamedTuple):
    """A kernel as a function of C, and what a caller has to know of it."""

    name: str
    text: str
    taken: tuple[int, ...]
    """The positions of the kernel's buffers that the function takes, in order."""
    checks: bool
    """Whether it returns a code."""
    work: int
    """Bytes of the memory that it takes as its last argument; 0 for none."""


def emit_module(module: ModuleOp) -> str:
    """The kernels of a module as C, each a function, and what they call. Raises UnsupportedError."""
    names, codes = Names(TAKEN), dict[str, int]()
    kernels = [kernel_text(op, names, codes) for op in module.ops if isinstance(op, FuncOp)]
    return head_of([k.text for k in kernels], module) + "\n" + "\n".join(k.text for k in kernels)


def head_of(texts: list[str], module: ModuleOp) -> str:
    """The includes, the type of indices and the functions that kernels need."""
    functions, math = prelude_of(texts)
    floats = any(f" {t} " in text for text in texts for t in ("float", "double"))
    lines = (
        ["#include <float.h>"] * floats + ["#include <math.h>"] * math + ["#include <stddef.h>", "#include <stdint.h>"]
    )
    if floats:
        lines += ["", *_FLOATS_AS_WRITTEN]
    # An index that data tells is a number of 64 bits first.
    told = any(isinstance(op, arith.IndexCastOp) for op in all_ops(module))
    lines += ["", f"typedef {'int64_t' if told else 'ptrdiff_t'} {INDEX_TYPE};", ""]
    if any(LANES in text or UNROLLED in text for text in texts):
        lines.append(_HINTS)
    return "\n".join([*lines, *functions])


_HINTS = """\
/* What schedules have marked, for GCC: loops to make vectors of, not to unroll before, and loops to unroll. A loop that
   fills or copies a tile is no call of memset or memcpy, which would keep the tile in memory. */
#if defined __GNUC__ && __GNUC__ >= 8 && !defined __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#define LAMINA_PRAGMA(text) _Pragma(#text)
#define LAMINA_LANES LAMINA_PRAGMA(GCC unroll 1)
#define LAMINA_UNROLLED(times) LAMINA_PRAGMA(GCC unroll times)
#else
#define LAMINA_LANES
#define LAMINA_UNROLLED(times)
#endif
"""
LANES, UNROLLED = "LAMINA_LANES", "LAMINA_UNROLLED"
MOST_UNROLLED = 32
"""Iterations of a loop that is worth a hint: longer ones make long code."""

_FLOATS_AS_WRITTEN = (
    "#if defined __FAST_MATH__ || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16)",
    '#error "compile without -ffast-math, and for floats that are computed in their own type"',
    "#endif",
)


def kernel_text(func: FuncOp, names: Names, codes: dict[str, int]) -> KernelText:
    """A kernel as a function; `codes` numbers the messages of checks from 1. Raises UnsupportedError."""
    return KernelFunction(func, names.fresh(func.sym_name.data, "kernel"), codes).made()


class KernelFunction(SourceFunction):
    """A kernel as text."""

    def __init__(self, func: FuncOp, symbol: str, codes: dict[str, int]) -> None:
        super().__init__(TAKEN)
        self.func = func
        self.symbol = symbol
        self.codes = codes
        self.live = set[Operation]()
        self.checks = False
        self.work = 0
        """Bytes of the work memory that buffers take here, and the most that they take anywhere."""
        self.most_work = 0
        self.given.fresh("work")

    def made(self) -> KernelText:
        func = self.func
        arguments = list(func.body.block.args)
        self.live = live_ops(func)
        mentioned = {v for op in self.live for v in op.operands}
        stored = {op.buffer for op in self.live if isinstance(op, StoreOp)}
        positions = func.attributes.get(SHARED)
        shared = set(positions.get_values()) if isinstance(positions, DenseArrayBase) else set[int]()
        taken = [n for n, a in enumerate(arguments) if a in mentioned]
        parameters = [self._parameter(arguments[n], arguments[n] in stored, n in shared) for n in taken]
        self.block(func.body.block)
        if self.most_work:
            parameters.append("unsigned char *restrict work")
        if self.checks:
            self.line("return 0;")
        result = "int32_t" if self.checks else "void"
        head = f"static {result} {self.symbol}({', '.join(parameters) or 'void'}) {{"
        text = "\n".join([head, *self.lines, "}", ""])
        return KernelText(self.symbol, text, tuple(taken), self.checks, self.most_work)

    def _parameter(self, argument: SSAValue, is_stored: bool, is_shared: bool) -> str:
        if not isinstance(argument.type, MemRefType) or DYNAMIC_INDEX in type_of(argument).get_shape():
            what = f"kernel @{self.func.sym_name.data} takes sizes that only a call tells"
            raise UnsupportedError(f"C source has no rule for it: {what}", op=self.func)
        const, restrict = "" if is_stored else "const ", "" if is_shared else "restrict "
        return f"{const}{element_type(argument, self.func)} *{restrict}{self.name(argument)}"

    def statement(self, op: Operation) -> None:
        if op not in self.live:
            return
        rule = RULES.get(type(op))
        if rule is not None:
            rule(self, op)
        elif any(isinstance(v.type, VectorType) for v in (*op.operands, *op.results)):
            raise without_rule(op, " of vectors")
        elif len(op.results) == 1 and not op.regions:
            self.define(op, compute(op, [self.value(v) for v in op.operands]))
        else:
            raise without_rule(op)

    def block(self, block: Any) -> None:
        before = self.work
        super().block(block)
        self.work = before  # its buffers end with it

    def value(self, value: SSAValue) -> str:
        """The name or the literal of a scalar."""
        return self.lanes[value][0] if value in self.lanes else self.name(value)

    def define(self, op: Operation, text: str) -> None:
        """A name for the result of an op."""
        result = op.results[0]
        if isinstance(result.type, VectorType):
            raise without_rule(op, " of vectors")
        self.line(f"const {c_type(name_of(result.type), op)} {self.name(result)} = {bare(text)};")


def live_ops(func: FuncOp) -> set[Operation]:
    """The ops that decide what a kernel stores into its arguments, and the loops and buffers that they need.

    C compilers warn of variables that nobody reads; LLVM drops them.
    """
    stores: dict[SSAValue, list[Operation]] = {}
    waiting: list[Operation] = []
    for op in all_ops(func):
        if isinstance(op, StoreOp):
            stores.setdefault(op.buffer, []).append(op)
        elif not op.regions and (isinstance(op, CheckOp) or not op.results):
            waiting.append(op)
    waiting += [op for argument in func.body.block.args for op in stores.pop(argument, ())]
    live: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        if op in live or op is func:
            continue
        live.add(op)
        waiting += [v.owner for v in op.operands if isinstance(v.owner, Operation)]
        if isinstance(op, LoadOp):
            waiting += stores.pop(op.buffer, ())
        if (around := op.parent_op()) is not None:
            waiting.append(around)
    return live


def element_type(buffer: SSAValue, op: Operation) -> str:
    """The C type of the elements of a buffer."""
    name = name_of(scalar_type(type_of(buffer).element_type))
    c_type(name, op)
    return IN_MEMORY[name]


# -- statements ----------------------------------------------------------------------------------------------------


def _loop(k: KernelFunction, op: ForOp) -> None:
    if op.kind.data == "thread":
        raise without_rule(op, " of threads")
    limits = [index(f, k.atom(), k.ranges) for f in op.limits()]
    limit = limits[0]
    for other in limits[1:]:
        limit = f"lamina_min({limit}, {other})"
    variable = k.name(op.var)
    if len(limits) > 1:
        end = k.fresh(f"{variable}_end")
        k.line(f"const {INDEX_TYPE} {end} = ({INDEX_TYPE}){limit};")
        limit = end
    if op.kind.data == "vectorized":
        k.line(LANES)
    elif op.is_unrolled and not op.is_reduction and 1 < op.trip <= MOST_UNROLLED:
        k.line(f"{UNROLLED}({op.trip})")
    k.inside(f"for ({INDEX_TYPE} {variable} = 0; {variable} < {limit}; ++{variable})", op.body.block)


def _if(k: KernelFunction, op: IfOp) -> None:
    k.inside(f"if ({condition(op.conditions(), k.atom(), k.ranges)})", op.body.block)


def _alloc(k: KernelFunction, op: AllocOp) -> None:
    type_ = op.result.type
    if DYNAMIC_INDEX in type_.get_shape():
        raise without_rule(op, " of a size that only a call tells")
    element, name, size = element_type(op.result, op), k.name(op.result), bytes_of_type(type_)
    if size <= LOCAL_BYTES:
        k.line(f"_Alignas({ALIGNMENT}) {element} {name}[{max(prod(type_.get_shape()), 1)}];")
        return
    k.line(f"{element} *restrict const {name} = ({element} *)(void *)(work + {k.work});")
    k.work += -(-size // ALIGNMENT) * ALIGNMENT
    k.most_work = max(k.most_work, k.work)


def _load(k: KernelFunction, op: LoadOp) -> None:
    text, guard = f"{k.value(op.buffer)}[{bare(k.place(op))}]", k.guard(op)
    name = name_of(op.result.type)
    if name == "i1":
        text = f"({text} & 1)"
    k.define(op, f"({guard}) ? {text} : {literal(0, name)}" if guard else text)


def _store(k: KernelFunction, op: StoreOp) -> None:
    if isinstance(op.value.type, VectorType):
        raise without_rule(op, " of vectors")
    guard = k.guard(op)
    k.line(f"{f'if ({guard}) ' if guard else ''}{k.value(op.buffer)}[{bare(k.place(op))}] = {k.value(op.value)};")


def _constant(k: KernelFunction, op: arith.ConstantOp) -> None:
    number = number_of(op)
    if number is None:
        raise without_rule(op, " of vectors")
    k.lanes[op.result] = [literal(number, name_of(op.result.type))]


def _check(k: KernelFunction, op: CheckOp) -> None:
    code = k.codes.setdefault(op.message.data, len(k.codes) + 1)
    k.checks = True
    k.line(f"if (!{k.value(op.condition)}) return {code};")
    k.lanes[op.result] = [k.value(op.value)]


def _index(k: KernelFunction, op: IndexOp) -> None:
    (form,) = over_values(op.map.data.results, op.operands)
    k.define(op, index(form, k.atom(), k.ranges))


def _condition(k: KernelFunction, op: ConditionOp) -> None:
    found = op.set.data.conditions
    forms = over_values([c.form for c in found], op.operands)
    conditions = [Condition(f, c.equal) for f, c in zip(forms, found, strict=True)]
    k.define(op, condition(conditions, k.atom(), k.ranges) if conditions else "1")


def _nothing(k: KernelFunction, op: Operation) -> None:
    """Changes nothing but the time that later accesses take."""


RULES: dict[type[Operation], Callable[[KernelFunction, Any], None]] = {
    ForOp: _loop,
    IfOp: _if,
    AllocOp: _alloc,
    LoadOp: _load,
    StoreOp: _store,
    PrefetchOp: _nothing,
    arith.ConstantOp: _constant,
    CheckOp: _check,
    IndexOp: _index,
    ConditionOp: _condition,
}
"""Rules of statements; all other ops are values, by the rows of `rows.py`."""

__all__ = ["KernelText", "emit_module", "head_of", "kernel_text"]
