// RUN: opt-tool %s -p tir-inject-virtual-thread | filecheck %s

tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
    %v = tir.load %x[%t] : memref<4xf32>
    tir.store %v, %y[%t] : memref<4xf32>
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
// CHECK-NEXT:     %v = tir.load %x[%t] : memref<4xf32>
// CHECK-NEXT:     tir.store %v, %y[%t] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
