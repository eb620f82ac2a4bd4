// RUN: opt-tool %s -p tir-unify-thread-binding | filecheck %s
// A scan of no steps leaves loops of threads around nothing.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %t = 0 to 3 thread "threadIdx.y" "t" {
    %s = tir.alloc "s" scope "global" : memref<7xf32>
  }
}
// CHECK:      tir.func @f
// CHECK-NEXT: }
