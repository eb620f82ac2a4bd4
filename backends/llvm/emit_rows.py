"""The table of the LLVM emitter: one row an op, in LLVM's own words.

    llvm.FAddOp: "{r} = fadd{fastmathFlags} {t} {0}, {1}"

Slots: `{r}` the result, `{t}` its type, `{s}` the address space of what it points to where that is not 0, `{0}` an
operand, `{t0}` its type (`{2|poison}`: with a default when the operand is absent), `{f}` the intrinsic named by the
row, and properties of the op, as `{property}` or `{spelling:property}`. A property that no slot of its row names is an
error, as is an op without a row: nothing is dropped in silence.

An intrinsic row lists which types its name is mangled with: `r` the result, a digit an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, UnitAttr
from xdsl.dialects.llvm import ATOMIC_ORDERING_KEYWORDS
from xdsl.ir import Attribute, Operation

from lamina.backends.llvm.emit_values import EmitError, quoted, type_text
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.llvm_target.core import FCMP_PREDICATES, ICMP_PREDICATES
from lamina.dialects.llvm_target.memory import ATOMIC_BIN_OPS
from lamina.dialects.tir.intrinsics import INTRINSICS, Intrinsic


class Row(NamedTuple):
    """The spelling of an op. `overload` and `intrinsic` only for calls of intrinsics."""

    template: str
    intrinsic: str = ""
    overload: str = ""


class Signature(NamedTuple):
    """An intrinsic that `llvm.call_intrinsic` may name. Types are LLVM text; overloaded ones have none."""

    overload: str = ""
    result: str = ""
    arguments: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    """The target must have them: without, LLVM's code generator kills the process."""
    triple: str = ""
    """The beginning that the target's triple must have, for the same reason."""
    settings: tuple[str, ...] = ()
    """The last arguments as LLVM text, which may be no others, for the same reason."""


def _binary(word: str) -> Row:
    return Row(f"{{r}} = {word} {{t}} {{0}}, {{1}}")


def _wrapping(word: str) -> Row:
    return Row(f"{{r}} = {word}{{overflow:overflowFlags}} {{t}} {{0}}, {{1}}")


def _exact(word: str) -> Row:
    return Row(f"{{r}} = {word}{{exact:isExact}} {{t}} {{0}}, {{1}}")


def _float(word: str) -> Row:
    return Row(f"{{r}} = {word}{{fastmathFlags}} {{t}} {{0}}, {{1}}")


def _cast(word: str, flag: str = "") -> Row:
    return Row(f"{{r}} = {word}{flag} {{t0}} {{0}} to {{t}}")


def _call(name: str, operands: int, flags: str = "", overload: str = "r", tail: str = "") -> Row:
    arguments = ", ".join(f"{{t{i}}} {{{i}}}" for i in range(operands))
    return Row(f"{{r}} = call{flags} {{t}} {{f}}({arguments}{tail})", name, overload)


def _float_call(name: str, operands: int, overload: str = "r") -> Row:
    return _call(name, operands, "{fastmathFlags}", overload)


def _memory_call(name: str) -> Row:
    return Row(
        "call void {f}({t0} {0}, {t1} {1}, {t2} {2}, i1 {bool:isVolatile})",
        name,
        "02" if name == "llvm.memset" else "012",
    )


# fmt: off
ROWS: dict[type[Operation], Row] = {
    # integers
    llvm.AddOp: _wrapping("add"), llvm.SubOp: _wrapping("sub"), llvm.MulOp: _wrapping("mul"),
    llvm.ShlOp: _wrapping("shl"),
    llvm.UDivOp: _exact("udiv"), llvm.SDivOp: _exact("sdiv"), llvm.LShrOp: _exact("lshr"), llvm.AShrOp: _exact("ashr"),
    llvm.URemOp: _binary("urem"), llvm.SRemOp: _binary("srem"), llvm.AndOp: _binary("and"), llvm.XOrOp: _binary("xor"),
    llvm.OrOp: Row("{r} = or{disjoint:isDisjoint} {t} {0}, {1}"),
    llvm.ICmpOp: Row("{r} = icmp{icmp:predicate} {t0} {0}, {1}"),
    # floats
    llvm.FAddOp: _float("fadd"), llvm.FSubOp: _float("fsub"), llvm.FMulOp: _float("fmul"),
    llvm.FDivOp: _float("fdiv"), llvm.FRemOp: _float("frem"),
    llvm.FNegOp: Row("{r} = fneg{fastmathFlags} {t} {0}"),
    llvm.FCmpOp: Row("{r} = fcmp{fastmathFlags}{fcmp:predicate} {t0} {0}, {1}"),
    # conversions
    llvm.TruncOp: _cast("trunc", "{overflow:overflowFlags}"), llvm.ZExtOp: _cast("zext", "{nneg:nonNeg}"),
    llvm.SExtOp: _cast("sext"), llvm.BitcastOp: _cast("bitcast"), llvm.AddrSpaceCastOp: _cast("addrspacecast"),
    llvm.IntToPtrOp: _cast("inttoptr"), llvm.PtrToIntOp: _cast("ptrtoint"),
    llvm.SIToFPOp: _cast("sitofp"), llvm.UIToFPOp: _cast("uitofp", "{nneg:nonNeg}"),
    llvm.FPToSIOp: _cast("fptosi"), llvm.FPToUIOp: _cast("fptoui"),
    llvm.FPExtOp: _cast("fpext"), llvm.FPTruncOp: _cast("fptrunc"),
    # vectors, aggregates, choice
    llvm.InsertElementOp: Row("{r} = insertelement {t0} {0}, {t1} {1}, {t2} {2}"),
    llvm.ExtractElementOp: Row("{r} = extractelement {t0} {0}, {t1} {1}"),
    llvm.ShuffleVectorOp: Row("{r} = shufflevector {t0} {0}, {t1} {1}, {mask}"),
    llvm.InsertValueOp: Row("{r} = insertvalue {t0} {0}, {t1} {1}{position}"),
    llvm.ExtractValueOp: Row("{r} = extractvalue {t0} {0}{position}"),
    llvm.SelectOp: Row("{r} = select{fastmathFlags} {t0} {0}, {t1} {1}, {t2} {2}"),
    llvm.FreezeOp: Row("{r} = freeze {t0} {0}"),
    # memory
    llvm.AllocaOp: Row("{r} = alloca {type:elem_type}, {t0} {0}{alignment}{s}"),
    llvm.LoadOp: Row("{r} = load{atomic:ordering}{volatile_} {t}, {t0} {0}{syncscope}{ordering}"
                     "{alignment}{nontemporal}{invariant}"),
    llvm.StoreOp: Row("store{atomic:ordering}{volatile_} {t0} {0}, {t1} {1}{syncscope}{ordering}"
                      "{alignment}{nontemporal}"),
    llvm.AtomicRMWOp: Row("{r} = atomicrmw{volatile_}{rmw:bin_op} {t0} {0}, {t1} {1}{syncscope}{ordering}{alignment}"),
    llvm.CmpXchgOp: Row("{r} = cmpxchg{weak}{volatile_} {t0} {0}, {t1} {1}, {t2} {2}{syncscope}"
                        "{ordering:success_ordering}{ordering:failure_ordering}{alignment}"),
    llvm.FenceOp: Row("fence{syncscope}{ordering}"),
    llvm.MaskedLoadOp: Row("{r} = call {t} {f}({t0}{param:alignment} {0}, {t1} {1}, {t} {2|poison}){nontemporal}",
                           "llvm.masked.load", "r0"),
    llvm.MaskedStoreOp: Row("call void {f}({t0} {0}, {t1}{param:alignment} {1}, {t2} {2}){nontemporal}",
                            "llvm.masked.store", "01"),
    llvm.MaskedGatherOp: Row("{r} = call {t} {f}({t0}{param:alignment} {0}, {t1} {1}, {t} {2|poison})",
                             "llvm.masked.gather", "r0"),
    llvm.MaskedScatterOp: Row("call void {f}({t0} {0}, {t1}{param:alignment} {1}, {t2} {2})",
                              "llvm.masked.scatter", "01"),
    llvm.MemcpyOp: _memory_call("llvm.memcpy"), llvm.MemmoveOp: _memory_call("llvm.memmove"),
    llvm.MemsetOp: _memory_call("llvm.memset"),
    llvm.PrefetchOp: Row("call void {f}({t0} {0}, i32 {int:rw}, i32 {int:hint}, i32 {int:cache})",
                         "llvm.prefetch", "0"),
    llvm.StackSaveOp: Row("{r} = call {t} {f}()", "llvm.stacksave", "r"),
    llvm.StackRestoreOp: Row("call void {f}({t0} {0})", "llvm.stackrestore", "0"),
    # float functions
    llvm.FAbsOp: _float_call("llvm.fabs", 1), llvm.FCeilOp: _float_call("llvm.ceil", 1),
    llvm.FFloorOp: _float_call("llvm.floor", 1), llvm.FTruncOp: _float_call("llvm.trunc", 1),
    llvm.RoundOp: _float_call("llvm.round", 1), llvm.RoundEvenOp: _float_call("llvm.roundeven", 1),
    llvm.RintOp: _float_call("llvm.rint", 1), llvm.NearbyIntOp: _float_call("llvm.nearbyint", 1),
    llvm.FSqrtOp: _float_call("llvm.sqrt", 1), llvm.FExpOp: _float_call("llvm.exp", 1),
    llvm.FExp2Op: _float_call("llvm.exp2", 1), llvm.Exp10Op: _float_call("llvm.exp10", 1),
    llvm.FLogOp: _float_call("llvm.log", 1), llvm.FLog2Op: _float_call("llvm.log2", 1),
    llvm.Log10Op: _float_call("llvm.log10", 1), llvm.FSinOp: _float_call("llvm.sin", 1),
    llvm.FCosOp: _float_call("llvm.cos", 1), llvm.TanOp: _float_call("llvm.tan", 1),
    llvm.ASinOp: _float_call("llvm.asin", 1), llvm.ACosOp: _float_call("llvm.acos", 1),
    llvm.ATanOp: _float_call("llvm.atan", 1), llvm.SinhOp: _float_call("llvm.sinh", 1),
    llvm.CoshOp: _float_call("llvm.cosh", 1), llvm.TanhOp: _float_call("llvm.tanh", 1),
    llvm.ATan2Op: _float_call("llvm.atan2", 2), llvm.FPowOp: _float_call("llvm.pow", 2),
    llvm.FCopySignOp: _float_call("llvm.copysign", 2),
    llvm.VectorFMaxOp: _float_call("llvm.maxnum", 2), llvm.VectorFMinOp: _float_call("llvm.minnum", 2),
    llvm.MaximumOp: _float_call("llvm.maximum", 2), llvm.MinimumOp: _float_call("llvm.minimum", 2),
    llvm.FMAOp: _float_call("llvm.fma", 3), llvm.FMulAddOp: _float_call("llvm.fmuladd", 3),
    # integer functions
    llvm.AbsOp: _call("llvm.abs", 1, tail=", i1 {bool:is_int_min_poison}"),
    llvm.CtLzOp: _call("llvm.ctlz", 1, tail=", i1 {bool:is_zero_poison}"),
    llvm.CtTzOp: _call("llvm.cttz", 1, tail=", i1 {bool:is_zero_poison}"),
    llvm.CtPopOp: _call("llvm.ctpop", 1), llvm.BitReverseOp: _call("llvm.bitreverse", 1),
    llvm.ByteSwapOp: _call("llvm.bswap", 1),
    llvm.SMaxOp: _call("llvm.smax", 2), llvm.SMinOp: _call("llvm.smin", 2),
    llvm.UMaxOp: _call("llvm.umax", 2), llvm.UMinOp: _call("llvm.umin", 2),
    llvm.SAddSatOp: _call("llvm.sadd.sat", 2), llvm.UAddSatOp: _call("llvm.uadd.sat", 2),
    llvm.SSubSatOp: _call("llvm.ssub.sat", 2), llvm.USubSatOp: _call("llvm.usub.sat", 2),
    llvm.SShlSatOp: _call("llvm.sshl.sat", 2), llvm.UShlSatOp: _call("llvm.ushl.sat", 2),
    llvm.FShlOp: _call("llvm.fshl", 3), llvm.FShrOp: _call("llvm.fshr", 3),
    # reductions
    llvm.VectorReduceAddOp: _call("llvm.vector.reduce.add", 1, overload="0"),
    llvm.VectorReduceMulOp: _call("llvm.vector.reduce.mul", 1, overload="0"),
    llvm.VectorReduceAndOp: _call("llvm.vector.reduce.and", 1, overload="0"),
    llvm.VectorReduceOrOp: _call("llvm.vector.reduce.or", 1, overload="0"),
    llvm.VectorReduceXorOp: _call("llvm.vector.reduce.xor", 1, overload="0"),
    llvm.VectorReduceSMaxOp: _call("llvm.vector.reduce.smax", 1, overload="0"),
    llvm.VectorReduceSMinOp: _call("llvm.vector.reduce.smin", 1, overload="0"),
    llvm.VectorReduceUMaxOp: _call("llvm.vector.reduce.umax", 1, overload="0"),
    llvm.VectorReduceUMinOp: _call("llvm.vector.reduce.umin", 1, overload="0"),
    llvm.VectorReduceFMaxOp: _float_call("llvm.vector.reduce.fmax", 1, "0"),
    llvm.VectorReduceFMinOp: _float_call("llvm.vector.reduce.fmin", 1, "0"),
    llvm.VectorReduceFMaximumOp: _float_call("llvm.vector.reduce.fmaximum", 1, "0"),
    llvm.VectorReduceFMinimumOp: _float_call("llvm.vector.reduce.fminimum", 1, "0"),
    llvm.VectorReduceFAddOp: _float_call("llvm.vector.reduce.fadd", 2, "1"),
    llvm.VectorReduceFMulOp: _float_call("llvm.vector.reduce.fmul", 2, "1"),
    # control flow that needs no blocks
    llvm.UnreachableOp: Row("unreachable"),
}
# fmt: on

_NVPTX = "nvptx64"
_AMDGCN = "amdgcn"
_REGISTERS = [f"{what}.{axis}" for what in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz"]


def _signature(row: Intrinsic) -> Signature:
    settings = [
        f"{type_text(type_)} {value if isinstance(type_, IntegerType) else 'zeroinitializer'}"
        for type_, value in row.settings
    ]
    arguments = (*row.operands, *(type_ for type_, _ in row.settings))
    types = tuple(map(type_text, arguments))
    return Signature("", type_text(row.result), types, row.features, settings=tuple(settings))


CALLABLE: dict[str, Signature] = {
    **{f"llvm.nvvm.read.ptx.sreg.{r}": Signature("", "i32", triple=_NVPTX) for r in _REGISTERS},
    "llvm.nvvm.barrier.cta.sync.aligned.all": Signature("", "void", ("i32",), triple=_NVPTX),
    "llvm.nvvm.bar.warp.sync": Signature("", "void", ("i32",), triple=_NVPTX),
    **{
        f"llvm.amdgcn.{what}.id.{axis}": Signature("", "i32", triple=_AMDGCN)
        for what in ("workitem", "workgroup")
        for axis in "xyz"
    },
    "llvm.amdgcn.s.barrier": Signature("", "void", triple=_AMDGCN),
    "llvm.fptosi.sat": Signature(overload="r0"),
    "llvm.fptoui.sat": Signature(overload="r0"),
    "llvm.x86.sse2.pause": Signature("", "void", triple="x86_64"),
    "llvm.aarch64.hint": Signature("", "void", ("i32",), triple="aarch64", settings=("i32 1",)),
    "llvm.arm.hint": Signature("", "void", ("i32",), triple="arm", settings=("i32 1",)),
    "llvm.riscv.pause": Signature("", "void", triple="riscv"),
    **{row.name: _signature(row) for row in INTRINSICS.values()},
}

Spelling = Callable[[Attribute | None], str]
"""Text of a property; None when the op does not have it."""


def _number(value: Attribute | None) -> int:
    if not isinstance(value, IntegerAttr):
        raise EmitError(f"expected an integer, got {value}")
    return cast("IntegerAttr[Any]", value).value.data


def _flag(word: str) -> Spelling:
    def spell(value: Attribute | None) -> str:
        if value is not None and not isinstance(value, UnitAttr):
            raise EmitError(f"expected a unit attribute, got {value}")
        return "" if value is None else word

    return spell


def _choice(words: tuple[str, ...]) -> Spelling:
    def spell(value: Attribute | None) -> str:
        number = _number(value)
        if not 0 <= number < len(words):
            raise EmitError(f"{number} is not one of {', '.join(words)}")
        return " " + words[number].lstrip("_")

    return spell


_FAST_MATH_ORDER = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")


def _fast_math(value: Attribute | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, llvm.FastMathAttr):
        raise EmitError(f"expected fast-math flags, got {value}")
    flags = {str(flag) for flag in value.data}
    return "".join(f" {word}" for word in _FAST_MATH_ORDER if word in flags)


def _overflow(value: Attribute | None) -> str:
    bits = value.to_int() if isinstance(value, llvm.OverflowAttr) else 0 if value is None else _number(value)
    if not 0 <= bits <= 3:
        raise EmitError(f"unknown overflow flags {bits}")
    return (" nuw" if bits & 2 else "") + (" nsw" if bits & 1 else "")


def _ordering(value: Attribute | None) -> str:
    number = 0 if value is None else _number(value)
    if number and number not in ATOMIC_ORDERING_KEYWORDS:
        raise EmitError(f"unknown atomic ordering {number}")
    return f" {ATOMIC_ORDERING_KEYWORDS[number]}" if number else ""


def _alignment(value: Attribute | None) -> str:
    if value is None:
        return ""
    align = _number(value)
    if align < 1 or align & (align - 1) or align > 1 << 32:
        raise EmitError(f"alignment {align} is not a power of two")
    return f"align {align}"


def _aligned(before: str) -> Spelling:
    def spell(value: Attribute | None) -> str:
        text = _alignment(value)
        return before + text if text else ""

    return spell


def _numbers(value: Attribute | None) -> tuple[int, ...]:
    if not isinstance(value, DenseArrayBase):
        raise EmitError(f"expected an array of integers, got {value}")
    return tuple(cast("DenseArrayBase[Any]", value).iter_values())


def _mask(value: Attribute | None) -> str:
    lanes = _numbers(value)
    if len(set(lanes)) == 1 and lanes[0] >= 0:
        text = f"splat (i32 {lanes[0]})" if lanes[0] else "zeroinitializer"
    else:
        text = "<" + ", ".join(f"i32 {n}" if n >= 0 else "i32 poison" for n in lanes) + ">"
    return f"<{len(lanes)} x i32> {text}"


def _scope(value: Attribute | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, StringAttr):
        raise EmitError(f"expected a string, got {value}")
    return f" syncscope({quoted(value.data)})"


def _type(value: Attribute | None) -> str:
    if value is None:
        raise EmitError("the element type is missing")
    return type_text(value)


def _boolean(value: Attribute | None) -> str:
    return "true" if _number(value) else "false"


SPELLINGS: dict[str, Spelling] = {
    "fastmathFlags": _fast_math,
    "overflow": _overflow,
    "exact": _flag(" exact"),
    "disjoint": _flag(" disjoint"),
    "nneg": _flag(" nneg"),
    "icmp": _choice(ICMP_PREDICATES),
    "fcmp": _choice(FCMP_PREDICATES),
    "rmw": _choice(ATOMIC_BIN_OPS),
    "mask": _mask,
    "position": lambda value: "".join(f", {n}" for n in _numbers(value)),
    "type": _type,
    "alignment": _aligned(", "),
    "param": _aligned(" "),
    "volatile_": _flag(" volatile"),
    "weak": _flag(" weak"),
    "nontemporal": _flag(", !nontemporal !1"),
    "invariant": _flag(", !invariant.load !0"),
    "atomic": lambda value: " atomic" if _ordering(value) else "",
    "ordering": _ordering,
    "syncscope": _scope,
    "bool": _boolean,
    "int": lambda value: str(_number(value)),
}

METADATA = "!0 = !{}\n!1 = !{i32 1}\n"
"""The nodes that !invariant.load and !nontemporal refer to."""
