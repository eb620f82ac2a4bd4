// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// Nothing is written over an operand that the kernel reads again: @twice reads after it has written, @sums writes one
// element in several iterations, @neighbours reads what another iteration writes.

tir.func @twice(%a: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %a[%i] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
    %w = tir.load %a[%i] : memref<8xf32>
  }
}
tir.func @sums(%a: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    tir.for %k = 0 to 2 "y.k" {
      %v = tir.load %a[%i] : memref<8xf32>
      tir.store %v, %y[%i] : memref<8xf32>
    }
  }
}
tir.func @neighbours(%a: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %a[%i] : memref<8xf32>
    %w = tir.load %a[%i * -1 + 7] : memref<8xf32>
    %s = arith.addf %v, %w : f32
    tir.store %s, %y[%i] : memref<8xf32>
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {lamina.outputs = 1 : i64} {
  %a = tir.alloc "a" scope "global" : memref<8xf32>
  tir.call @sums(%x, %a) : memref<8xf32>, memref<8xf32>
  %b = tir.alloc "b" scope "global" : memref<8xf32>
  tir.call @twice(%a, %b) : memref<8xf32>, memref<8xf32>
  %c = tir.alloc "c" scope "global" : memref<8xf32>
  tir.call @sums(%b, %c) : memref<8xf32>, memref<8xf32>
  %d = tir.alloc "d" scope "global" : memref<8xf32>
  tir.call @neighbours(%c, %d) : memref<8xf32>, memref<8xf32>
  tir.call @sums(%d, %y) : memref<8xf32>, memref<8xf32>
  func.return
}
// CHECK-NOT: shared
// CHECK: %a = tir.view %arena[0]
// CHECK: %b = tir.view %arena[64]
// CHECK: %c = tir.view %arena[0]
// CHECK: %d = tir.view %arena[64]
