// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Its functions bear the kernel's own name.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    %v = tir.load %x[%i] : memref<4xf32>
    tir.store %v, %y[%i] : memref<4xf32>
  }
}

// CHECK-LABEL: llvm.func internal @f.body(
// CHECK: llvm.br ^bb1(%{{.+}} : i64)
// CHECK-NEXT: ^bb1(%i: i64):
// CHECK-LABEL: llvm.func @f(%args
// CHECK-NOT: llvm.func
