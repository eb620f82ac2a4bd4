// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// In each step every element is computed from its neighbour, which another thread may have: they meet before.

tir.func @f(%x: memref<8xf32>, %h: memref<5x8xf32>) attributes {outputs = 1 : i64} {
  tir.team {
    tir.for %i = 0 to 8 parallel "x.i" {
      %v = tir.load %x[%i] : memref<8xf32>
      tir.store %v, %h[0, %i] : memref<5x8xf32>
    }
    tir.for %t = 0 to 4 "t" {
      tir.team_barrier
      tir.for %i = 0 to 8 parallel "i" {
        %v = tir.load %h[%t, (%i + 1) mod 8] : memref<5x8xf32>
        tir.store %v, %h[%t + 1, %i] : memref<5x8xf32>
      }
    }
  }
}

// CHECK:      tir.for %t = 0 to 4 "t" {
// CHECK-NEXT:   tir.team_barrier
// CHECK-NEXT:   tir.for %i = 0 to 8 parallel "i" {

// The number of barriers so far goes with the call: whoever is behind is waited for.
// LLVM:      %[[BEFORE:.*]] = llvm.load %[[TURN:.*]] {alignment = 8 : i64} : !llvm.ptr -> i64
// LLVM-NEXT: %[[NOW:.*]] = llvm.add %[[BEFORE]], %{{[0-9]+}} : i64
// LLVM-NEXT: llvm.store %[[NOW]], %[[TURN]] {alignment = 8 : i64} : i64, !llvm.ptr
// LLVM-NEXT: llvm.call %{{[0-9]+}}(%{{[0-9]+}}, %me, %size, %[[NOW]]) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
