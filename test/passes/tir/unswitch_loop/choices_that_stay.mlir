// RUN: opt-tool %s -p tir-unswitch-loop | filecheck %s
// A choice that differs within the loop, one of a number that is not read, and sums in registers stay what they are; so
// does everything where loops may hold less.
// RUN: sed 's/3 - %%j >= 0/3 - %%i >= 0/' %s | opt-tool - -p 'tir-unswitch-loop{ops=5}' | filecheck %s --check-prefix=FEW

tir.func @by_column(%A: memref<8x4xf32>, %B: memref<8x4xf32>, %y: memref<8x8xf32>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    tir.for %j = 0 to 8 "y.j" {
      %a = tir.load %A[%i, %j] where [3 - %j >= 0] : memref<8x4xf32>
      %b = tir.load %B[%i, %j - 4] where [%j - 4 >= 0] : memref<8x4xf32>
      %c = tir.condition [3 - %j >= 0] : i1
      %v = arith.select %c, %a, %b : f32
      tir.store %v, %y[%i, %j] : memref<8x8xf32>
    }
  }
}
tir.func @padding(%A: memref<6x8xf32>, %y: memref<8x8xf32>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    tir.for %j = 0 to 8 "y.j" {
      %a = tir.load %A[%i - 2, %j] where [%i - 2 >= 0] : memref<6x8xf32>
      %one = arith.constant 1.0 : f32
      %c = tir.condition [%i - 2 >= 0] : i1
      %v = arith.select %c, %a, %one : f32
      tir.store %v, %y[%i, %j] : memref<8x8xf32>
    }
  }
}
tir.func @sum(%A: memref<4x8xf32>, %B: memref<4x8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    %s = tir.alloc "s" scope "register" : memref<1xf32>
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %s[0] : memref<1xf32>
    tir.for %k = 0 to 8 reduction "y.k" {
      %a = tir.load %A[%i, %k] where [3 - %i >= 0] : memref<4x8xf32>
      %b = tir.load %B[%i - 4, %k] where [%i - 4 >= 0] : memref<4x8xf32>
      %c = tir.condition [3 - %i >= 0] : i1
      %v = arith.select %c, %a, %b : f32
      %o = tir.load %s[0] : memref<1xf32>
      %n = arith.addf %o, %v : f32
      tir.store %n, %s[0] : memref<1xf32>
    }
    %r = tir.load %s[0] : memref<1xf32>
    tir.store %r, %y[%i] : memref<8xf32>
  }
}

// CHECK-NOT:     tir.if
// CHECK-LABEL: tir.func @by_column
// CHECK-NOT:     tir.if
// CHECK:         %v = arith.select %c, %a, %b
// CHECK-NOT:     tir.if
// CHECK-LABEL: tir.func @padding
// CHECK-NOT:     tir.if
// CHECK:         %v = arith.select %c, %a, %one
// CHECK-NOT:     tir.if
// CHECK-LABEL: tir.func @sum
// CHECK-NOT:     tir.if
// CHECK:         %v = arith.select %c, %a, %b
// CHECK-NOT:     tir.if

// FEW-NOT:     tir.if
// FEW-COUNT-3: %v = arith.select %c
// FEW-NOT:     tir.if
