// RUN: opt-tool %s | opt-tool | filecheck %s
// Loads, stores and addresses.

// CHECK-LABEL: llvm.func @memory
llvm.func @memory(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.load %p : !llvm.ptr -> f32
  %0 = llvm.load %p : !llvm.ptr -> f32
  // CHECK-NEXT: %1 = llvm.load volatile %p {alignment = 4 : i64, nontemporal} : !llvm.ptr -> f32
  %1 = llvm.load volatile %p {alignment = 4 : i64, nontemporal} : !llvm.ptr -> f32
  // CHECK-NEXT: %2 = llvm.load %p invariant {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
  %2 = llvm.load %p invariant {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK-NEXT: llvm.store %f, %p {alignment = 4 : i64} : f32, !llvm.ptr
  llvm.store %f, %p {alignment = 4 : i64} : f32, !llvm.ptr
  // CHECK-NEXT: llvm.store volatile %v, %p {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
  llvm.store volatile %v, %p {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
  // CHECK-NEXT: %3 = llvm.getelementptr %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %3 = llvm.getelementptr %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // CHECK-NEXT: %4 = llvm.getelementptr inbounds %p[0, %k, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x !llvm.array<8 x f32>>
  %4 = llvm.getelementptr inbounds %p[0, %k, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x !llvm.array<8 x f32>>
  // CHECK-NEXT: %5 = llvm.getelementptr inbounds|nuw %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
  %5 = llvm.getelementptr inbounds|nuw %p[1] : (!llvm.ptr) -> !llvm.ptr, f32
  // CHECK-NEXT: %6 = llvm.getelementptr nusw %p[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %6 = llvm.getelementptr nusw %p[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  // CHECK-NEXT: %7 = llvm.getelementptr %p[%n] : (!llvm.ptr, vector<16xi32>) -> vector<16x!llvm.ptr>, f32
  %7 = llvm.getelementptr %p[%n] : (!llvm.ptr, vector<16xi32>) -> vector<16x!llvm.ptr>, f32
  // CHECK-NEXT: %8 = llvm.alloca %k x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %8 = llvm.alloca %k x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  // CHECK-NEXT: %9 = llvm.intr.stacksave : !llvm.ptr
  %9 = llvm.intr.stacksave : !llvm.ptr
  // CHECK-NEXT: llvm.intr.stackrestore %9 : !llvm.ptr
  llvm.intr.stackrestore %9 : !llvm.ptr
  // CHECK-NEXT: "llvm.intr.memcpy"(%p, %q, %k) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%p, %q, %k) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  // CHECK-NEXT: "llvm.intr.memmove"(%p, %q, %k) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memmove"(%p, %q, %k) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  // CHECK-NEXT: "llvm.intr.prefetch"(%p) <{rw = 0 : i32, hint = 3 : i32, cache = 1 : i32}> : (!llvm.ptr) -> ()
  "llvm.intr.prefetch"(%p) <{rw = 0 : i32, hint = 3 : i32, cache = 1 : i32}> : (!llvm.ptr) -> ()
  llvm.return
}
