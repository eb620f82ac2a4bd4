// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// RUN: opt-tool %s -p cpu-schedule,te-to-tir | filecheck %s --check-prefix LOOPS
// Six rows by two vectors; fifty columns leave a tail of two, which is a loop of its own, and thirty rows none. Twelve
// columns are two vectors, the second one not whole.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
te.func @f(%A: tensor<30x24xf32>, %B: tensor<24x50xf32>) -> tensor<30x50xf32> {
  %c = te.compute "C" [30, 50] sum [24] (%i, %j, %k) : tensor<30x50xf32> {
    %a = te.read %A[%i, %k] : tensor<30x24xf32>
    %b = te.read %B[%k, %j] : tensor<24x50xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<30x50xf32>
}
te.func @twelve(%A: tensor<30x24xf32>, %B: tensor<24x12xf32>) -> tensor<30x12xf32> {
  %c = te.compute "C" [30, 12] sum [24] (%i, %j, %k) : tensor<30x12xf32> {
    %a = te.read %A[%i, %k] : tensor<30x24xf32>
    %b = te.read %B[%k, %j] : tensor<24x12xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<30x12xf32>
}
te.func @twenty_rows(%A: tensor<20x24xf32>, %B: tensor<24x48xf32>) -> tensor<20x48xf32> {
  %c = te.compute "C" [20, 48] sum [24] (%i, %j, %k) : tensor<20x48xf32> {
    %a = te.read %A[%i, %k] : tensor<20x24xf32>
    %b = te.read %B[%k, %j] : tensor<24x48xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<20x48xf32>
}
te.func @twenty_two_rows(%A: tensor<22x24xf32>, %B: tensor<24x48xf32>) -> tensor<22x48xf32> {
  %c = te.compute "C" [22, 48] sum [24] (%i, %j, %k) : tensor<22x48xf32> {
    %a = te.read %A[%i, %k] : tensor<22x24xf32>
    %b = te.read %B[%k, %j] : tensor<24x48xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %c : tensor<22x48xf32>
}
}
// CHECK:      %jo, %ja, %jb = te.split %j [-1, 2, 8]
// CHECK-NEXT: %io, %ii = te.split %i [-1, 6]
// CHECK-NEXT: %ko, %ki = te.split %k [-1, 1]
// CHECK-NEXT: te.reorder %io, %jo, %ko, %ki, %ii, %ja, %jb
// CHECK:      te.reverse_compute_at "C.out" at %jo [2]
// CHECK-NEXT: te.parallel %io
// CHECK:      te.vectorize %jb
// CHECK:      te.partition %jo
// CHECK-LABEL: te.schedule @twelve
// CHECK:      te.split %j [-1, 2, 8]
// Five rows leave no tail of twenty; no number of rows down to half of six divides 22.
// CHECK-LABEL: te.schedule @twenty_rows
// CHECK:      te.split %i [-1, 5]
// CHECK-LABEL: te.schedule @twenty_two_rows
// CHECK:      te.split %i [-1, 6]

// LOOPS:      tir.for %io = 0 to 5 parallel "C.i.0" {
// LOOPS-NEXT:   tir.for %j0 = 0 to 3 "C.j.0" {
// LOOPS:          tir.for %ko = 0 to 24 reduction "C.k.0" {
// LOOPS-NEXT:       tir.for %ki = 0 to 1 unrolled reduction "C.k.1" {
// LOOPS-NEXT:         tir.for %ii = 0 to 6 unrolled "C.i.1" {
// LOOPS-NEXT:           tir.for %j1 = 0 to 2 unrolled "C.j.1" {
// LOOPS-NEXT:             tir.for %j2 = 0 to 8 vectorized "C.j.2" {
// LOOPS:        tir.for %ko = 0 to 24 reduction "C.k.0.tail" {
