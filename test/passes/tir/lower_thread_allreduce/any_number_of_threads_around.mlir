// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// There are as many parts as there are rows: they lie in global memory, each block's apart from the others'.

tir.func @f(%n: index, %X: memref<3x?x4xf32> {te.shape = #te.map<(d0) -> (3, d0, 4)>}, %y: memref<3x?xf32> {te.shape = #te.map<(d0) -> (3, d0)>}) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 3 thread "blockIdx.x" "y.b" {
    tir.for %i = 0 to min [%n] thread "threadIdx.y" "y.i" {
      tir.for %k = 0 to 4 thread "threadIdx.x" reduction "y.k" {
        tir.block "y" init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%b, %i] : memref<3x?xf32>
        } do {
          %s = tir.load %y[%b, %i] : memref<3x?xf32>
          %x = tir.load %X[%b, %i, %k] : memref<3x?x4xf32>
          %t = arith.addf %s, %x : f32
          tir.store %t, %y[%b, %i] : memref<3x?xf32>
        }
      }
    }
  }
}

// CHECK:      %y_parts = tir.alloc "y.parts" scope "global" [3, %n, 4] : memref<3x?x4xf32>
// CHECK-NEXT: tir.for %b = 0 to 3 thread "blockIdx.x" "y.b" {
// CHECK-NEXT:   tir.for %i = 0 to min [%n] thread "threadIdx.y" "y.i" {
// CHECK:          tir.store %0, %y_parts[%b, %i, %k] : memref<3x?x4xf32>
// CHECK:          tir.for %k = 0 to 4 thread "threadIdx.x" "y.k.fold2" {
// CHECK:            tir.load %y_parts[%b, %i, %k + 2] : memref<3x?x4xf32>
