// RUN: opt-tool %s -p tir-plan-memory | filecheck %s

// CHECK: tir.func @f(%n: index, %y: memref<8xf32>, %B: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>})
tir.func @f(%n: index, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %B = tir.alloc "B" scope "global" [%n] : memref<?xf32>
  tir.for %i = 0 to min [%n] "B.i" {
    %a = tir.load %y[0] : memref<8xf32>
    tir.store %a, %B[%i] : memref<?xf32>
  }
}
