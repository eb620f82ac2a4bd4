// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// A row of the program table: which kernel, on which buffers.

tir.func @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %x[%i] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  func.return
}

// CHECK: tir.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
// LLVM: lamina.program = {name = "main", arena = 0 : i64,
// LLVM: %{{[0-9]+}} = llvm.mlir.addressof @k : !llvm.ptr
// LLVM: llvm.mlir.global external constant @main.arguments(dense<{{\[\[}}2, 0], [3, 0{{\]\]}}> : tensor<2x2xi64>)
