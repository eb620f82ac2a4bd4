// RUN: opt-tool %s -p tir-inject-virtual-thread | filecheck %s
// The fetch into the shared buffer does not know the virtual thread.

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %s = tir.alloc "s" scope "shared" : memref<4xf32>
  tir.for %v = 0 to 4 thread "vthread" "y.0" {
    tir.for %i = 0 to 4 "s.i" {
      %p = tir.load %x[%i] : memref<4xf32>
      tir.store %p, %s[%i] : memref<4xf32>
    }
    %q = tir.load %s[%v * -1 + 3] : memref<4xf32>
    tir.store %q, %y[%v] : memref<4xf32>
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   %s = tir.alloc "s" scope "shared" : memref<4xf32>
// CHECK-NEXT:   tir.for %i = 0 to 4 "s.i" {
// CHECK-NEXT:     %p = tir.load %x[%i] : memref<4xf32>
// CHECK-NEXT:     tir.store %p, %s[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %v = 0 to 4 unrolled "y.0_1" {
// CHECK-NEXT:     %q = tir.load %s[%v * -1 + 3] : memref<4xf32>
// CHECK-NEXT:     tir.store %q, %y[%v] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
