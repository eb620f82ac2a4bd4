// RUN: opt-tool %s -p tir-unswitch-loop,tir-simplify | filecheck %s
// Parts of a concatenation that are computed: what the part not taken is made of goes, also what it uses twice, such as
// the element of an absolute value, and choices within it that the same condition decides.

tir.func @absolute(%A: memref<4x8xi64>, %B: memref<4x8xi64>, %y: memref<8x8xi64>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    tir.for %j = 0 to 8 "y.j" {
      %zero = arith.constant 0 : i64
      %a = tir.load %A[%i, %j] where [3 - %i >= 0] : memref<4x8xi64>
      %b = tir.load %B[%i - 4, %j] where [%i - 4 >= 0] : memref<4x8xi64>
      %below = arith.cmpi slt, %a, %zero : i64
      %minus = arith.subi %zero, %a : i64
      %abs = arith.select %below, %minus, %a : i64
      %in_a = tir.condition [3 - %i >= 0] : i1
      %part = arith.select %in_a, %abs, %zero : i64
      %v = arith.select %in_a, %part, %b : i64
      tir.store %v, %y[%i, %j] : memref<8x8xi64>
    }
  }
}

// CHECK-LABEL: tir.func @absolute
// CHECK:         tir.for %i = 0 to 8 parallel
// CHECK-NEXT:      tir.if [%i * -1 + 3 >= 0] {
// CHECK-NOT:         tir.load %B
// CHECK:             %abs = arith.select
// CHECK-NEXT:        tir.store %abs
// CHECK:           tir.if [%i - 4 >= 0] {
// CHECK-NEXT:        tir.for %j = 0 to 8
// CHECK-NEXT:          [[B:%b.*]] = tir.load %B[%i - 4, %j] : memref<4x8xi64>
// CHECK-NEXT:          tir.store [[B]]

tir.func @checked(%A: memref<4x8xf32>, %B: memref<4x8xf32>, %y: memref<8x8xf32>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    tir.for %j = 0 to 8 "y.j" {
      %a = tir.load %A[%i, %j] where [3 - %i >= 0] : memref<4x8xf32>
      %b = tir.load %B[%i - 4, %j] where [%i - 4 >= 0] : memref<4x8xf32>
      %holds = tir.condition [6 - %j >= 0] : i1
      %checked = tir.check %a, %holds "a column beyond the last" : f32
      %in_a = tir.condition [3 - %i >= 0] : i1
      %v = arith.select %in_a, %checked, %b : f32
      tir.store %v, %y[%i, %j] : memref<8x8xf32>
    }
  }
}

// A check is no value: it is made whichever part is taken.
// CHECK-LABEL: tir.func @checked
// CHECK-COUNT-2: tir.check
