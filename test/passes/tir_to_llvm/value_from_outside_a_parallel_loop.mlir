// RUN: opt-tool %s -p tir-to-llvm --split-input-file --verify-diagnostics | filecheck %s
// Each phase is a function of its own: what is cheap is computed again, what is read from memory is not.

// CHECK:      llvm.func internal @f.body(
// CHECK:      %[[c:.*]] = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK:      llvm.store %[[c]],
// CHECK-NOT:  @f.1
tir.func @f(%y: memref<2xf32>) attributes {outputs = 1 : i64} {
  %one = arith.constant 1.0 : f32
  tir.for %i = 0 to 2 parallel "y.i" {
    tir.store %one, %y[%i] : memref<2xf32>
  }
}
// -----
tir.func @f(%x: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<2xf32>
  tir.for %i = 0 to 2 parallel "y.i" {
    // expected-error @below {{tir.load stands outside of a parallel loop, but what it gives is used in another part of the kernel; compute it there}}
    tir.store %a, %y[%i] : memref<2xf32>
  }
}
