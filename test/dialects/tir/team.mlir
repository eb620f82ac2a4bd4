// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Threads take pieces of both loops, and wait for each other between: the second one reads backwards.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {outputs = 2 : i64} {
  tir.team {
    tir.for %i = 0 to 8 parallel "y.i" {
      %v = tir.load %x[%i] : memref<8xf32>
      tir.store %v, %y[%i] : memref<8xf32>
    }
    tir.team_barrier
    tir.for %j = 0 to 8 parallel "z.j" {
      %v = tir.load %y[%j * -1 + 7] : memref<8xf32>
      tir.store %v, %z[%j] : memref<8xf32>
    }
  }
}

// CHECK:      tir.team {
// CHECK-NEXT:   tir.for %i = 0 to 8 parallel "y.i" {
// CHECK:        tir.team_barrier
// CHECK-NEXT:   tir.for %j = 0 to 8 parallel "z.j" {

// LLVM:      llvm.func internal @f.body(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr, %z: !llvm.ptr, %team: !llvm.ptr {llvm.noalias}, %me: i64, %size: i64)
// LLVM:        llvm.mul %{{[0-9]+}}, %me : i64
// LLVM:        llvm.udiv %{{[0-9]+}}, %size : i64
// LLVM:        llvm.call %{{[0-9]+}}(%{{[0-9]+}}, %me, %size, %{{[0-9]+}}) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
