// RUN: opt-tool %s -p tir-inject-virtual-thread | filecheck %s
// Both statements go into one loop; the buffer that stands between them comes before it.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "vthread" "y.i" {
    %a = tir.alloc "a" scope "local" : memref<1xf32>
    %v = tir.load %x[%i] : memref<4xf32>
    tir.store %v, %a[0] : memref<1xf32>
    %b = tir.alloc "b" scope "local" : memref<1xf32>
    %w = tir.load %a[0] : memref<1xf32>
    tir.store %w, %b[0] : memref<1xf32>
    %u = tir.load %b[0] : memref<1xf32>
    tir.store %u, %y[%i] : memref<4xf32>
  }
}
// CHECK:      %b = tir.alloc "b" scope "local" : memref<4x1xf32>
// CHECK-NEXT: tir.for %i = 0 to 4 unrolled "y.i_1" {
// CHECK:        tir.store %w, %b[%i, 0] : memref<4x1xf32>
