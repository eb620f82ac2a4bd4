// RUN: opt-tool %s -p tir-inject-virtual-thread | filecheck %s
// The value that is loaded first is stored after a barrier: the virtual threads take turns.

tir.func @f(%x: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
  tir.for %t = 0 to 1 thread "threadIdx.x" "t" {
    tir.for %v = 0 to 2 thread "vthread" "y.0" {
      %p = tir.load %x[%v] : memref<2xf32>
      tir.barrier "shared"
      tir.store %p, %y[%v] : memref<2xf32>
    }
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %t = 0 to 1 thread "threadIdx.x" "t" {
// CHECK-NEXT:     tir.for %v = 0 to 2 "y.0" {
// CHECK-NEXT:       %p = tir.load %x[%v] : memref<2xf32>
// CHECK-NEXT:       tir.barrier "shared"
// CHECK-NEXT:       tir.store %p, %y[%v] : memref<2xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
