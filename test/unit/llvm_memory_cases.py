"""Cases of the LLVM emitter that touch memory or jump. `CASES` holds those of `llvm_cases.py` as well."""

from __future__ import annotations

import numpy as np

from .llvm_cases import CASES, ON, B, F, G, I, J, V, W, case

__all__ = ["CASES"]

# memory; %out is the result's place, big enough to play in
case(
    "alloca",
    "%n = llvm.mlir.constant(1 : i64) : i64\n%p = llvm.alloca %n x f32 {alignment = 16 : i64} : (i64) -> !llvm.ptr\n"
    "llvm.store %a, %p {alignment = 4 : i64} : f32, !llvm.ptr\n"
    "%r = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32",
    [("f32", 3.5)],
    "f32",
    3.5,
)
case(
    "volatile_nontemporal",
    "llvm.store volatile %a, %out {alignment = 4 : i64, nontemporal} : f32, !llvm.ptr\n"
    "%r = llvm.load volatile %out {alignment = 4 : i64, nontemporal} : !llvm.ptr -> f32",
    [("f32", 3.5)],
    "f32",
    3.5,
)
case(
    "invariant",
    "llvm.store %a, %out : f32, !llvm.ptr\n%r = llvm.load %out invariant : !llvm.ptr -> f32",
    [("f32", 3.5)],
    "f32",
    3.5,
)
case(
    "atomics",
    'llvm.store %a, %out atomic syncscope("agent") release {alignment = 4 : i64} : i32, !llvm.ptr\n'
    "%o = llvm.atomicrmw add %out, %b acq_rel {alignment = 4 : i64} : !llvm.ptr, i32\n"
    "%o2 = llvm.atomicrmw volatile _xor %out, %b seq_cst : !llvm.ptr, i32\nllvm.fence seq_cst\n"
    "%r = llvm.load %out atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32",
    [("i32", 40), ("i32", 2)],
    "i32",
    42 ^ 2,
)
case(
    "cmpxchg",
    "llvm.store %a, %out : i32, !llvm.ptr\n"
    "%x = llvm.cmpxchg %out, %a, %b acq_rel monotonic : !llvm.ptr, i32\n"
    "%o = llvm.extractvalue %x[0] : !llvm.struct<(i32, i1)>\n%n = llvm.load %out : !llvm.ptr -> i32\n"
    "%r = llvm.add %o, %n : i32",
    [("i32", 40), ("i32", 2)],
    "i32",
    42,
)
case(
    "getelementptr",
    "llvm.store %a, %out : vector<8xf32>, !llvm.ptr\n"
    "%p = llvm.getelementptr inbounds %out[0, %b, 1] : (!llvm.ptr, i32) -> !llvm.ptr, !llvm.array<4 x array<2 x f32>>\n"
    "%q = llvm.getelementptr inbounds|nuw %p[2] : (!llvm.ptr) -> !llvm.ptr, f32\n"
    "%r = llvm.load %q : !llvm.ptr -> f32",
    [(V, F), ("i32", 1)],
    "f32",
    F[5],
)
on = f'%zv = llvm.mlir.constant(dense<0> : {W}) : {W}\n%m = llvm.icmp "ne" %b, %zv : {W}\n'
case(
    "masked_load",
    f"llvm.store %a, %out : {V}, !llvm.ptr\n{on}"
    f"%r = llvm.intr.masked.load %out, %m, %c {{alignment = 4 : i32}} : (!llvm.ptr, vector<8xi1>, {V}) -> {V}",
    [(V, F), (W, B), (V, G)],
    V,
    np.where(ON, F, G),
)
case(
    "masked_load_poison",
    f"llvm.store %a, %out : {V}, !llvm.ptr\n{on}"
    f"%l = llvm.intr.masked.load %out, %m {{alignment = 4 : i32}} : (!llvm.ptr, vector<8xi1>) -> {V}\n"
    f"%r = llvm.select %m, %l, %c : vector<8xi1>, {V}",
    [(V, F), (W, B), (V, G)],
    V,
    np.where(ON, F, G),
)
case(
    "masked_store",
    f"llvm.store %a, %out : {V}, !llvm.ptr\n{on}"
    f"llvm.intr.masked.store %c, %out, %m {{alignment = 4 : i32}} : {V}, vector<8xi1> into !llvm.ptr\n"
    f"%r = llvm.load %out {{alignment = 4 : i64}} : !llvm.ptr -> {V}",
    [(V, F), (W, B), (V, G)],
    V,
    np.where(ON, G, F),
)
case(
    "masked_store_int",
    f"llvm.store %c, %out : {W}, !llvm.ptr\n{on}"
    f"llvm.intr.masked.store %a, %out, %m {{alignment = 4 : i32}} : {W}, vector<8xi1> into !llvm.ptr\n"
    f"%r = llvm.load %out {{alignment = 4 : i64}} : !llvm.ptr -> {W}",
    [(W, I), (W, B), (W, J)],
    W,
    np.where(ON, I, J),
)
order = np.array([3, 1, 0, 7, 2, 2, 5, 4], np.int32)
ptrs = f"%ps = llvm.getelementptr %out[%b] : (!llvm.ptr, {W}) -> vector<8x!llvm.ptr>, f32\n"
full = "%m = llvm.mlir.constant(dense<true> : vector<8xi1>) : vector<8xi1>\n"
case(
    "masked_gather",
    f"llvm.store %a, %out : {V}, !llvm.ptr\n{full}{ptrs}"
    "%r = llvm.intr.masked.gather %ps, %m, %a {alignment = 4 : i32}"
    f" : (vector<8x!llvm.ptr>, vector<8xi1>, {V}) -> {V}",
    [(V, F), (W, order)],
    V,
    F[order],
)
once = np.array([3, 1, 0, 7, 2, 6, 5, 4], np.int32)
case(
    "masked_scatter",
    f"{full}{ptrs}"
    f"llvm.intr.masked.scatter %a, %ps, %m {{alignment = 4 : i32}} : {V}, vector<8xi1> into vector<8x!llvm.ptr>\n"
    f"%r = llvm.load %out {{alignment = 4 : i64}} : !llvm.ptr -> {V}",
    [(V, F), (W, once)],
    V,
    F[np.argsort(once)],
)
case(
    "memory_intrinsics",
    f"llvm.store %a, %out : {V}, !llvm.ptr\n%n = llvm.mlir.constant(8 : i64) : i64\n"
    "%z = llvm.mlir.constant(0 : i8) : i8\n%q = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, f32\n"
    "%s = llvm.getelementptr %out[6] : (!llvm.ptr) -> !llvm.ptr, f32\n"
    '"llvm.intr.memcpy"(%q, %out, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()\n'
    '"llvm.intr.memset"(%out, %z, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()\n'
    '"llvm.intr.memmove"(%s, %q, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()\n'
    '"llvm.intr.prefetch"(%out) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()\n'
    f"%r = llvm.load %out {{alignment = 4 : i64}} : !llvm.ptr -> {V}",
    [(V, F)],
    V,
    np.array([0, 0, F[0], F[1], F[4], F[5], F[0], F[1]]),
)
case(
    "stack",
    "%s = llvm.intr.stacksave : !llvm.ptr\nllvm.intr.stackrestore %s : !llvm.ptr\n%r = llvm.freeze %a : i32",
    [("i32", 4)],
    "i32",
    4,
)

# control flow
case(
    "two_edges_to_one_block",
    '%one = llvm.mlir.constant(1 : i32) : i32\n%c1 = llvm.icmp "slt" %a, %one : i32\n'
    "llvm.cond_br %c1, ^bb1(%a : i32), ^bb1(%b : i32)\n^bb1(%r: i32):\nllvm.br ^end\n^end:",
    [("i32", 5), ("i32", 77)],
    "i32",
    77,
)
case(
    "two_equal_edges_to_one_block",
    '%one = llvm.mlir.constant(1 : i32) : i32\n%c1 = llvm.icmp "slt" %a, %one : i32\n'
    "llvm.cond_br %c1, ^bb1(%b : i32), ^bb1(%b : i32)\n^bb1(%r: i32):",
    [("i32", 5), ("i32", 77)],
    "i32",
    77,
)
case(
    "use_before_definition_in_the_text",
    "llvm.br ^first\n^second:\n%r = llvm.add %x, %b : i32\nllvm.br ^end\n"
    "^first:\n%x = llvm.mul %a, %b : i32\nllvm.br ^second\n^end:",
    [("i32", 5), ("i32", 7)],
    "i32",
    42,
)
case(
    "switch",
    "llvm.switch %a : i32, ^other(%a : i32) [ 4: ^other(%b : i32), -5: ^other(%c : i32) ]\n^other(%r: i32):",
    [("i32", -5), ("i32", 7), ("i32", 8)],
    "i32",
    8,
)
case(
    "loop",
    "%z = llvm.mlir.constant(0 : i32) : i32\n%one = llvm.mlir.constant(1 : i32) : i32\n"
    "llvm.br ^body(%z, %z : i32, i32)\n"
    "^body(%i: i32, %s: i32):\n%r = llvm.add %s, %i : i32\n%n = llvm.add %i, %one : i32\n"
    '%go = llvm.icmp "slt" %n, %a : i32\nllvm.cond_br %go, ^body(%n, %r : i32, i32), ^exit\n^exit:',
    [("i32", 10)],
    "i32",
    45,
)
case(
    "dead_block",
    "llvm.br ^end\n^dead(%q: i32):\n%w = llvm.add %q, %a : i32\nllvm.unreachable\n^end:\n%r = llvm.freeze %a : i32",
    [("i32", 3)],
    "i32",
    3,
)
case(
    "call",
    "%p = llvm.mlir.addressof @twice : !llvm.ptr\n%x = llvm.call @twice(%a) : (i32) -> i32\n"
    "%r = llvm.call %p(%x) : !llvm.ptr, (i32) -> i32",
    [("i32", 3)],
    "i32",
    12,
)
case(
    "global",
    "%p = llvm.mlir.addressof @numbers : !llvm.ptr\n"
    "%q = llvm.getelementptr %p[0, 1, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<2 x array<3 x i32>>\n"
    "%r = llvm.load %q : !llvm.ptr -> i32",
    [],
    "i32",
    6,
)
case(
    "global_with_addresses",
    "%p = llvm.mlir.addressof @table : !llvm.ptr\n"
    "%q = llvm.getelementptr %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, ptr)>\n"
    "%f = llvm.load %q : !llvm.ptr -> !llvm.ptr\n%r = llvm.call %f(%a) : !llvm.ptr, (i32) -> i32",
    [("i32", 21)],
    "i32",
    42,
)
