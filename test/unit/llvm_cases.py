"""One case for each row of the LLVM emitter's table: text of the op, inputs, and what numpy says.

A case is `lines` that compute `%r` from `%a`, `%b`, `%c` of the given types; results are stored and compared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

DTYPES: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
}
V = "vector<8xf32>"
W = "vector<8xi32>"
F = np.array([0.5, -1.25, 2.0, -0.0, 3.5, -2.5, 1.5, 0.75], np.float32)
G = np.array([1.5, 2.0, -0.5, 4.0, 0.25, 2.5, -1.5, 3.0], np.float32)
P = np.array([0.1, 0.9, 0.5, 0.25, 0.75, 0.3, 0.6, 0.2], np.float32)
I = np.array([5, -7, 12, 0, 2**31 - 1, -(2**31), 3, 100], np.int32)  # noqa: E741
J = np.array([3, 2, -5, 7, 1, 1, 4, 9], np.int32)
U, UJ = I.view(np.uint32), J.view(np.uint32)
B = np.array([1, 0, 1, 1, 0, 0, 1, 0], np.int32)
ON = B != 0


class Case(NamedTuple):
    name: str
    lines: str
    inputs: list[tuple[str, Any]]
    result: str
    expected: Any
    tolerance: float = 0.0


CASES: list[Case] = []


def case(
    name: str, lines: str, inputs: list[tuple[str, Any]], result: str, expected: Any, tolerance: float = 0.0
) -> None:
    CASES.append(Case(name, lines, inputs, result, expected, tolerance))


def exp10(x: Any) -> Any:
    return 10.0**x


def unsigned(x: Any) -> Any:
    return np.asarray(x).astype(np.uint32).view(np.int32)


with np.errstate(all="ignore"):
    # integer and float arithmetic
    for op, value in {
        "add": I + J,
        "sub": I - J,
        "mul": I * J,
        "and": I & J,
        "or": I | J,
        "xor": I ^ J,
        "shl": I << (J & 7),
        "lshr": unsigned(U >> (UJ & 7)),
        "ashr": I >> (J & 7),
        "udiv": unsigned(U // UJ),
        "urem": unsigned(U % UJ),
        "sdiv": np.trunc(I.astype(np.float64) / J).astype(np.int64).astype(np.int32),
        "srem": np.fmod(I.astype(np.int64), J).astype(np.int32),
    }.items():
        right = J & 7 if op in ("shl", "lshr", "ashr") else J
        case(op, f"%r = llvm.{op} %a, %b : {W}", [(W, I), (W, right)], W, value)
    small = np.abs(J) % 50
    case("add_wrap_flags", f"%r = llvm.add %a, %b overflow<nsw, nuw> : {W}", [(W, small), (W, small)], W, small * 2)
    case("shl_nuw", f"%r = llvm.shl %a, %b overflow<nuw> : {W}", [(W, small), (W, B)], W, small << B)
    case("udiv_exact", f"%r = llvm.udiv exact %a, %b : {W}", [(W, small * 3), (W, B * 0 + 3)], W, small)
    case("ashr_exact", f"%r = llvm.ashr exact %a, %b : {W}", [(W, J * 2), (W, B * 0 + 1)], W, J)
    case("or_disjoint", f"%r = llvm.or disjoint %a, %b : {W}", [(W, small * 2), (W, B)], W, small * 2 + B)
    for op, value in {"fadd": F + G, "fsub": F - G, "fmul": F * G, "fdiv": F / G, "frem": np.fmod(F, G)}.items():
        case(op, f"%r = llvm.{op} %a, %b : {V}", [(V, F), (V, G)], V, value)
    case(
        "fadd_contract",
        f"%r = llvm.fadd %a, %b {{fastmathFlags = #llvm.fastmath<contract>}} : {V}",
        [(V, F), (V, G)],
        V,
        F + G,
    )
    case("fadd_bf16", "%r = llvm.fadd %a, %b : bf16", [("bf16", 1.5), ("bf16", 2.25)], "bf16", 3.75)
    case(
        "fmul_f16",
        "%r = llvm.fmul %a, %b : vector<8xf16>",
        [("vector<8xf16>", F), ("vector<8xf16>", G)],
        "vector<8xf16>",
        F * G,
    )
    case("fadd_f64", "%r = llvm.fadd %a, %b : f64", [("f64", 0.1), ("f64", 0.2)], "f64", 0.1 + 0.2)
    case("fneg", f"%r = llvm.fneg %a : {V}", [(V, F)], V, -F)

    # comparisons and choice
    for predicate, mask in {
        "eq": I == J,
        "ne": I != J,
        "slt": I < J,
        "sle": I <= J,
        "sgt": I > J,
        "sge": I >= J,
        "ult": U < UJ,
        "ule": U <= UJ,
        "ugt": U > UJ,
        "uge": U >= UJ,
    }.items():
        case(
            f"icmp_{predicate}",
            f'%m = llvm.icmp "{predicate}" %a, %b : {W}\n%r = llvm.zext %m : vector<8xi1> to {W}',
            [(W, I), (W, J)],
            W,
            mask.astype(np.int32),
        )
    N = F.copy()
    N[1] = np.nan
    ordered = ~np.isnan(N)
    for predicate, mask in {
        "_false": N != N + 0 * 0,
        "oeq": N == G,
        "ogt": N > G,
        "oge": N >= G,
        "olt": N < G,
        "ole": N <= G,
        "one": ordered & (N != G),
        "ord": ordered,
        "ueq": ~ordered | (N == G),
        "ugt": ~ordered | (N > G),
        "uge": ~ordered | (N >= G),
        "ult": ~ordered | (N < G),
        "ule": ~ordered | (N <= G),
        "une": N != G,
        "uno": ~ordered,
        "_true": N == N,
    }.items():
        mask = {"_false": ordered & False, "_true": ordered | True}.get(predicate, mask)
        case(
            f"fcmp_{predicate.strip('_')}",
            f'%m = llvm.fcmp "{predicate}" %a, %b : {V}\n%r = llvm.zext %m : vector<8xi1> to {W}',
            [(V, N), (V, G)],
            W,
            mask.astype(np.int32),
        )
    case(
        "fcmp_flags",
        '%m = llvm.fcmp "olt" %a, %b {fastmathFlags = #llvm.fastmath<ninf>} : f32\n%r = llvm.zext %m : i1 to i32',
        [("f32", 1.0), ("f32", 2.0)],
        "i32",
        1,
    )
    case(
        "select_vector",
        f'%m = llvm.icmp "slt" %a, %b : {W}\n%r = llvm.select %m, %a, %b : vector<8xi1>, {W}',
        [(W, I), (W, J)],
        W,
        np.minimum(I, J),
    )
    case(
        "select_scalar",
        f'%m = llvm.icmp "slt" %a, %b : i32\n%r = llvm.select %m, %c, %c : i1, {V}',
        [("i32", 1), ("i32", 2), (V, F)],
        V,
        F,
    )
    case("freeze", f"%r = llvm.freeze %a : {V}", [(V, F)], V, F)

    # conversions
    case("trunc", "%r = llvm.trunc %a : vector<8xi32> to vector<8xi8>", [(W, I)], "vector<8xi8>", I.astype(np.int8))
    case("trunc_nsw", "%r = llvm.trunc %a overflow<nsw> : i32 to i8", [("i32", -5)], "i8", -5)
    case("sext", "%r = llvm.sext %a : vector<8xi8> to vector<8xi32>", [("vector<8xi8>", J)], W, J)
    case("zext_nneg", "%r = llvm.zext nneg %a : i32 to i64", [("i32", 7)], "i64", 7)
    case("sitofp", f"%r = llvm.sitofp %a : {W} to {V}", [(W, I)], V, I.astype(np.float32))
    case("uitofp", f"%r = llvm.uitofp %a : {W} to {V}", [(W, I)], V, U.astype(np.float32))
    case("uitofp_nneg", "%r = llvm.uitofp nneg %a : i32 to f32", [("i32", 7)], "f32", 7)
    case("fptosi", f"%r = llvm.fptosi %a : {V} to {W}", [(V, F)], W, F.astype(np.int32))
    case("fptoui", "%r = llvm.fptoui %a : f32 to i32", [("f32", 3.9)], "i32", 3)
    case("fpext", f"%r = llvm.fpext %a : {V} to vector<8xf64>", [(V, F)], "vector<8xf64>", F)
    case("fptrunc", f"%r = llvm.fptrunc %a : {V} to vector<8xf16>", [(V, F)], "vector<8xf16>", F)
    case("bitcast", f"%r = llvm.bitcast %a : {V} to {W}", [(V, F)], W, F.view(np.int32))
    case(
        "ptrtoint",
        "%p = llvm.inttoptr %a : i64 to !llvm.ptr\n%q = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, i16\n"
        "%r = llvm.ptrtoint %q : !llvm.ptr to i64",
        [("i64", 100)],
        "i64",
        106,
    )
    case(
        "addrspacecast",
        "%p = llvm.inttoptr %a : i64 to !llvm.ptr\n%q = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<256>\n"
        "%z = llvm.addrspacecast %q : !llvm.ptr<256> to !llvm.ptr\n%r = llvm.ptrtoint %z : !llvm.ptr to i64",
        [("i64", 100)],
        "i64",
        100,
    )

    # vectors and aggregates
    case(
        "insert_extract",
        f"%e = llvm.extractelement %a[%b : i32] : {V}\n%r = llvm.insertelement %e, %a[%c : i32] : {V}",
        [(V, F), ("i32", 2), ("i32", 5)],
        V,
        np.where(np.arange(8) == 5, F[2], F),
    )
    case(
        "shuffle",
        f"%r = llvm.shufflevector %a, %b [7, 8, 0, 15, 1, 1, 2, 9] : {V}",
        [(V, F), (V, G)],
        V,
        np.concatenate([F, G])[[7, 8, 0, 15, 1, 1, 2, 9]],
    )
    case(
        "broadcast",
        f"%i = llvm.mlir.constant(0 : i32) : i32\n%p = llvm.mlir.poison : {V}\n"
        f"%e = llvm.insertelement %a, %p[%i : i32] : {V}\n"
        f"%r = llvm.shufflevector %e, %p [0, 0, 0, 0, 0, 0, 0, 0] : {V}",
        [("f32", 2.5)],
        V,
        np.full(8, 2.5),
    )
    case("splat_lane", f"%r = llvm.shufflevector %a, %a [3, 3, 3, 3, 3, 3, 3, 3] : {V}", [(V, F)], V, np.full(8, F[3]))
    case(
        "aggregate",
        "%s = llvm.mlir.undef : !llvm.struct<(f32, array<2 x i32>)>\n"
        "%t = llvm.insertvalue %a, %s[1, 1] : !llvm.struct<(f32, array<2 x i32>)>\n"
        "%r = llvm.extractvalue %t[1, 1] : !llvm.struct<(f32, array<2 x i32>)>",
        [("i32", 9)],
        "i32",
        9,
    )

    # constants
    for type_, text, value in [
        ("f32", "0.1 : f32", 0.1),
        ("f32", "0xFF800000 : f32", -np.inf),
        ("f32", "0x7FC00000 : f32", np.nan),
        ("f64", "0.1 : f64", 0.1),
        ("f16", "0.1 : f16", 0.1),
        ("bf16", "0.1 : bf16", 0.1),
        ("i8", "-128 : i8", -128),
        ("i64", "-9223372036854775808 : i64", -(2**63)),
        (V, f"dense<-0.0> : {V}", np.full(8, -0.0)),
        (V, f"dense<0.0> : {V}", np.zeros(8)),
        (V, f"dense<1.5> : {V}", np.full(8, 1.5)),
        (W, f"dense<[1, -2, 3, 4, 5, 6, 7, 8]> : {W}", np.array([1, -2, 3, 4, 5, 6, 7, 8])),
    ]:
        case(f"constant_{text}", f"%r = llvm.mlir.constant({text}) : {type_}", [], type_, value)
    case("constant_bool", "%t = llvm.mlir.constant(true) : i1\n%r = llvm.zext %t : i1 to i32", [], "i32", 1)
    case("zero", "%z = llvm.mlir.zero : !llvm.ptr\n%r = llvm.ptrtoint %z : !llvm.ptr to i64", [], "i64", 0)

    # float functions
    unary = {
        "fabs": np.abs(F),
        "ceil": np.ceil(F),
        "floor": np.floor(F),
        "trunc": np.trunc(F),
        "roundeven": np.round(F),
        "rint": np.rint(F),
        "nearbyint": np.rint(F),
        "round": np.copysign(np.floor(np.abs(F) + 0.5), F),
    }
    for op, value in unary.items():
        case(op, f"%r = llvm.intr.{op}(%a) : ({V}) -> {V}", [(V, F)], V, value)
    inexact: dict[str, Any] = {
        "sqrt": np.sqrt,
        "exp": np.exp,
        "exp2": np.exp2,
        "exp10": exp10,
        "log": np.log,
        "log2": np.log2,
        "log10": np.log10,
        "sin": np.sin,
        "cos": np.cos,
        "tan": np.tan,
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "sinh": np.sinh,
        "cosh": np.cosh,
        "tanh": np.tanh,
    }
    for op, function in inexact.items():
        case(op, f"%r = llvm.intr.{op}(%a) : ({V}) -> {V}", [(V, P)], V, function(P.astype(np.float64)), 1e-6)
    for op, value in {
        "copysign": np.copysign(F, G),
        "maxnum": np.fmax(N, G),
        "minnum": np.fmin(N, G),
        "maximum": np.maximum(N, G),
        "minimum": np.minimum(N, G),
    }.items():
        left = F if op == "copysign" else N
        case(op, f"%r = llvm.intr.{op}(%a, %b) : ({V}, {V}) -> {V}", [(V, left), (V, G)], V, value)
    case("pow", "%r = llvm.intr.pow(%a, %b) : (f32, f32) -> f32", [("f32", 2.5), ("f32", 1.5)], "f32", 2.5**1.5, 1e-6)
    case(
        "atan2",
        "%r = llvm.intr.atan2(%a, %b) : (f32, f32) -> f32",
        [("f32", 2.5), ("f32", -1.5)],
        "f32",
        np.arctan2(2.5, -1.5),
        1e-6,
    )
    fused = (F.astype(np.float64) * G + P).astype(np.float32)
    for op in ("fma", "fmuladd"):
        case(op, f"%r = llvm.intr.{op}(%a, %b, %c) : ({V}, {V}, {V}) -> {V}", [(V, F), (V, G), (V, P)], V, fused, 1e-6)

    # integer functions
    case(
        "abs",
        '%r = "llvm.intr.abs"(%a) <{is_int_min_poison = false}> : (vector<8xi32>) -> vector<8xi32>',
        [(W, I)],
        W,
        np.abs(I),
    )
    bits = [f"{x:032b}" for x in U]
    case(
        "ctlz",
        '%r = "llvm.intr.ctlz"(%a) <{is_zero_poison = false}> : (vector<8xi32>) -> vector<8xi32>',
        [(W, I)],
        W,
        np.array([32 - len(b.lstrip("0")) for b in bits]),
    )
    case(
        "cttz",
        '%r = "llvm.intr.cttz"(%a) <{is_zero_poison = false}> : (vector<8xi32>) -> vector<8xi32>',
        [(W, I)],
        W,
        np.array([32 - len(b.rstrip("0")) for b in bits]),
    )
    case("ctpop", f"%r = llvm.intr.ctpop(%a) : ({W}) -> {W}", [(W, I)], W, np.array([b.count("1") for b in bits]))
    case(
        "bitreverse",
        f"%r = llvm.intr.bitreverse(%a) : ({W}) -> {W}",
        [(W, I)],
        W,
        unsigned([int(b[::-1], 2) for b in bits]),
    )
    case("bswap", f"%r = llvm.intr.bswap(%a) : ({W}) -> {W}", [(W, I)], W, I.byteswap())
    wide, other = I.astype(np.int64), J.astype(np.int64)
    uwide, uother = U.astype(np.int64), UJ.astype(np.int64)
    low, high = -(2**31), 2**31 - 1
    for op, value in {
        "smax": np.maximum(I, J),
        "smin": np.minimum(I, J),
        "umax": unsigned(np.maximum(U, UJ)),
        "umin": unsigned(np.minimum(U, UJ)),
        "sadd.sat": np.clip(wide + other, low, high),
        "ssub.sat": np.clip(wide - other, low, high),
        "uadd.sat": unsigned(np.clip(uwide + uother, 0, 2**32 - 1)),
        "usub.sat": unsigned(np.clip(uwide - uother, 0, 2**32 - 1)),
    }.items():
        case(op, f"%r = llvm.intr.{op}(%a, %b) : ({W}, {W}) -> {W}", [(W, I), (W, J)], W, value)
    case(
        "sshl.sat",
        f"%r = llvm.intr.sshl.sat(%a, %b) : ({W}, {W}) -> {W}",
        [(W, I), (W, B)],
        W,
        np.clip(wide << B, low, high),
    )
    case(
        "ushl.sat",
        f"%r = llvm.intr.ushl.sat(%a, %b) : ({W}, {W}) -> {W}",
        [(W, I), (W, B)],
        W,
        unsigned(np.clip(uwide << B, 0, 2**32 - 1)),
    )
    case(
        "fshl",
        f"%r = llvm.intr.fshl(%a, %b, %c) : ({W}, {W}, {W}) -> {W}",
        [(W, I), (W, J), (W, B)],
        W,
        np.where(ON, (I << 1) | unsigned(UJ >> 31), I),
    )
    case(
        "fshr",
        f"%r = llvm.intr.fshr(%a, %b, %c) : ({W}, {W}, {W}) -> {W}",
        [(W, I), (W, J), (W, B)],
        W,
        np.where(ON, (I << 31) | unsigned(UJ >> 1), J),
    )

    # reductions
    for op, value in {
        "add": np.add.reduce(I, dtype=np.int32),
        "mul": np.multiply.reduce(J, dtype=np.int32),
        "and": np.bitwise_and.reduce(I),
        "or": np.bitwise_or.reduce(I),
        "xor": np.bitwise_xor.reduce(I),
        "smax": I.max(),
        "smin": I.min(),
        "umax": unsigned(U.max()),
        "umin": unsigned(U.min()),
    }.items():
        given = J if op == "mul" else I
        case(f"reduce_{op}", f'%r = "llvm.intr.vector.reduce.{op}"(%a) : ({W}) -> i32', [(W, given)], "i32", value)
    for op, value in {"fmax": G.max(), "fmin": G.min(), "fmaximum": G.max(), "fminimum": G.min()}.items():
        case(f"reduce_{op}", f"%r = llvm.intr.vector.reduce.{op}(%a) : ({V}) -> f32", [(V, G)], "f32", value)
    for op, value in {"fadd": 10 + G.sum(dtype=np.float64), "fmul": 10 * np.prod(G, dtype=np.float64)}.items():
        for flags in ("", " <{fastmathFlags = #llvm.fastmath<reassoc>}>"):
            case(
                f"reduce_{op}{'_reassoc' if flags else ''}",
                f'%r = "llvm.intr.vector.reduce.{op}"(%b, %a){flags} : (f32, {V}) -> f32',
                [(V, G), ("f32", 10.0)],
                "f32",
                value,
                1e-6,
            )

    # calls by name
    case(
        "fptosi.sat",
        f'%r = llvm.call_intrinsic "llvm.fptosi.sat"(%a) : ({V}) -> {W}',
        [(V, F * 1e10)],
        W,
        np.clip(F.astype(np.float64) * 1e10, low, high),
    )
    case(
        "fptoui.sat",
        f'%r = llvm.call_intrinsic "llvm.fptoui.sat"(%a) : ({V}) -> {W}',
        [(V, F)],
        W,
        np.clip(F, 0, None).astype(np.int32),
    )
    case(
        "pause",
        'llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()\n%r = llvm.freeze %a : i32',
        [("i32", 4)],
        "i32",
        4,
    )
    case(
        "inline_asm",
        '%r = llvm.inline_asm asm_dialect = att "bswap $0", "=r,0" %a : (i32) -> i32',
        [("i32", 1)],
        "i32",
        1 << 24,
    )
