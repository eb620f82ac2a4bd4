// RUN: opt-tool %s -p tir-storage-flatten | filecheck %s

tir.func @f(%n: index, %A: memref<8x4xf32>, %y: memref<8x4xf32>) attributes {outputs = 1 : i64} {
  // CHECK: %B = tir.alloc "B" scope "global" [%n, 4] : memref<?x4xf32>
  %B = tir.alloc "B" scope "global" [%n, 4] : memref<?x4xf32>
  // CHECK-NEXT: %C = tir.alloc "C" scope "global" : memref<8x4xf32>
  %C = tir.alloc "C" scope "global" : memref<8x4xf32>
  tir.copy %A to %C : memref<8x4xf32>, memref<8x4xf32>
  tir.copy %C to %y : memref<8x4xf32>, memref<8x4xf32>
}
