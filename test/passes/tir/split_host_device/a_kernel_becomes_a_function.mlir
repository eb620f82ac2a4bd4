// RUN: opt-tool %s -p tir-split-host-device | filecheck %s
// The kernel takes the sizes that its buffers need; extents of the launch are forms of the sizes.

tir.func @f(%m: index, %n: index, %x: memref<?xf32> {te.shape = #te.map<(d0, d1) -> (d1)>}, %y: memref<?xf32> {te.shape = #te.map<(d0, d1) -> (d1)>}) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x" "y.0" {
    tir.for %t = 0 to 64 thread "threadIdx.x" "y.1" {
      tir.if [%n - %b * 64 - %t - 1 >= 0] {
        %v = tir.load %x[%b * 64 + %t] : memref<?xf32>
        tir.store %v, %y[%b * 64 + %t] : memref<?xf32>
      }
    }
  }
}

// CHECK-LABEL: tir.func @f_kernel0(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64, device} {
// CHECK-NEXT:   tir.for %b = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x" "y.0" {
// CHECK-NEXT:     tir.for %t = 0 to 64 thread "threadIdx.x" "y.1" {
// CHECK-NEXT:       tir.if [%n + %b * -64 + %t * -1 - 1 >= 0] {
// CHECK-NEXT:         %v = tir.load %x[%b * 64 + %t] : memref<?xf32>
// CHECK-NEXT:         tir.store %v, %y[%b * 64 + %t] : memref<?xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-LABEL: tir.func @f(%m: index, %n: index, %x: memref<?xf32> {te.shape = #te.map<(d0, d1) -> (d1)>}, %y: memref<?xf32> {te.shape = #te.map<(d0, d1) -> (d1)>}) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.launch @f_kernel0 grid [(%n + 63) floordiv 64] block [64] (%n, %x, %y) : index, memref<?xf32>, memref<?xf32>
// CHECK-NEXT: }
