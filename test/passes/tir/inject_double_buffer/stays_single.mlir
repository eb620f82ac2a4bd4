// RUN: opt-tool %s -p tir-inject-double-buffer | filecheck %s
// @recurrence fills from what the loop writes; the iterations of @parallel have no order; the size of the buffer of
// @its_size is known inside of the loop only.

tir.func @recurrence(%y: memref<9xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %B = tir.alloc "B" scope "global" {double_buffer} : memref<1xf32>
    %a = tir.load %y[%i] : memref<9xf32>
    tir.store %a, %B[0] : memref<1xf32>
    %b = tir.load %B[0] : memref<1xf32>
    tir.store %b, %y[%i + 1] : memref<9xf32>
  }
}
tir.func @parallel(%A: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 parallel "y.i" {
    %B = tir.alloc "B" scope "global" {double_buffer} : memref<1xf32>
    %a = tir.load %A[%i] : memref<8xf32>
    tir.store %a, %B[0] : memref<1xf32>
    %b = tir.load %B[0] : memref<1xf32>
    tir.store %b, %y[%i] : memref<8xf32>
  }
}
tir.func @its_size(%A: memref<8xf32>, %n: memref<8xindex>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %size = tir.load %n[%i] : memref<8xindex>
    %B = tir.alloc "B" scope "global" [%size] {double_buffer} : memref<?xf32>
    %a = tir.load %A[%i] : memref<8xf32>
    tir.store %a, %B[0] : memref<?xf32>
    %b = tir.load %B[0] : memref<?xf32>
    tir.store %b, %y[%i] : memref<8xf32>
  }
}

// CHECK-LABEL: tir.func @recurrence
// CHECK:         %B = tir.alloc "B" scope "global" : memref<1xf32>
// CHECK-LABEL: tir.func @parallel
// CHECK:         %B = tir.alloc "B" scope "global" : memref<1xf32>
// CHECK-LABEL: tir.func @its_size
// CHECK:         %B = tir.alloc "B" scope "global" [%size] : memref<?xf32>
