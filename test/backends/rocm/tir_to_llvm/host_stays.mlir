// RUN: opt-tool %s -p rocm-tir-to-llvm | filecheck %s
// A function that is not of the device is none of this pass's business.

// CHECK-LABEL: tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>)
// CHECK-NEXT:    tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:      %v = tir.load %x[%i] : memref<8xf32>
tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %x[%i] : memref<8xf32>
    tir.store %v, %y[%i] : memref<8xf32>
  }
}
