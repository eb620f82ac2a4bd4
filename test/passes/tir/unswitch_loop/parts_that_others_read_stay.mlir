// RUN: opt-tool %s -p tir-unswitch-loop | filecheck %s
// Computed where they stand: a part that is read behind the choice too, one that is made of what changes in between. An
// integer stays in the loop that writes it, and one that is not there when the loop has no iterations.

tir.func @read_again(%far: memref<8xi32>, %A: memref<8x16xf32>, %B: memref<8x16xf32>, %y: memref<8x16xf32>, %z: memref<8xf32>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    %p = tir.alloc "p" scope "global" : memref<16xf32>
    tir.for %k = 0 to 16 "p.k" {
      %a = tir.load %A[%i, %k] : memref<8x16xf32>
      tir.store %a, %p[%k] : memref<16xf32>
    }
    tir.for %j = 0 to 16 "y.j" {
      %n = tir.load %far[%i] : memref<8xi32>
      %m = arith.index_cast %n : i32 to index
      %c = tir.condition [%m - 1 >= 0] : i1
      %d = tir.load %p[%j] : memref<16xf32>
      %e = tir.load %B[%i, %j] : memref<8x16xf32>
      %v = arith.select %c, %d, %e : f32
      tir.store %v, %y[%i, %j] : memref<8x16xf32>
    }
    %w = tir.load %p[3] : memref<16xf32>
    tir.store %w, %z[%i] : memref<8xf32>
  }
}
tir.func @changes(%far: memref<8xi32>, %A: memref<16xf32>, %B: memref<8x16xf32>, %y: memref<8x16xf32>) {
  tir.for %i = 0 to 8 "y.i" {
    %p = tir.alloc "p" scope "global" : memref<16xf32>
    tir.for %k = 0 to 16 "p.k" {
      %a = tir.load %A[%k] : memref<16xf32>
      tir.store %a, %p[%k] : memref<16xf32>
    }
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %A[%i] : memref<16xf32>
    tir.for %j = 0 to 16 "y.j" {
      %n = tir.load %far[%i] : memref<8xi32>
      %m = arith.index_cast %n : i32 to index
      %c = tir.condition [%m - 1 >= 0] : i1
      %d = tir.load %p[%j] : memref<16xf32>
      %e = tir.load %B[%i, %j] : memref<8x16xf32>
      %v = arith.select %c, %d, %e : f32
      tir.store %v, %y[%i, %j] : memref<8x16xf32>
    }
  }
}
tir.func @written(%far: memref<8xi32>, %A: memref<8x16xf32>, %B: memref<8x16xf32>, %y: memref<8x16xf32>) {
  tir.for %i = 0 to 8 parallel "y.i" {
    tir.for %j = 0 to 16 "y.j" {
      %n = tir.load %far[%i] : memref<8xi32>
      %m = arith.index_cast %n : i32 to index
      %c = tir.condition [%m - 1 >= 0] : i1
      %d = tir.load %A[%i, %j] : memref<8x16xf32>
      %e = tir.load %B[%i, %j] : memref<8x16xf32>
      %v = arith.select %c, %d, %e : f32
      tir.store %v, %y[%i, %j] : memref<8x16xf32>
      %one = arith.constant 1 : i32
      tir.store %one, %far[%i] : memref<8xi32>
    }
  }
}
tir.func @not_there(%s: index, %far: memref<8xi32>, %A: memref<8x16xf32>, %B: memref<8x16xf32>, %y: memref<8x16xf32>) {
  tir.for %i = 0 to 9 "y.i" {
    tir.for %j = 0 to 16 min [%s - %i] "y.j" {
      %n = tir.load %far[%i] : memref<8xi32>
      %m = arith.index_cast %n : i32 to index
      %c = tir.condition [%m - 1 >= 0] : i1
      %d = tir.load %A[%i, %j] : memref<8x16xf32>
      %e = tir.load %B[%i, %j] : memref<8x16xf32>
      %v = arith.select %c, %d, %e : f32
      tir.store %v, %y[%i, %j] : memref<8x16xf32>
    }
  }
}

// CHECK-LABEL: tir.func @read_again
// CHECK:         %p = tir.alloc "p"
// CHECK:         tir.if
// CHECK-NOT:       tir.alloc
// CHECK-LABEL: tir.func @changes
// CHECK:         %p = tir.alloc "p"
// CHECK:         tir.store %zero, %A[%i]
// CHECK:         tir.if
// CHECK-NOT:       tir.alloc
// CHECK-LABEL: tir.func @written
// CHECK-NOT:     tir.if
// CHECK-LABEL: tir.func @not_there
// CHECK-NOT:     tir.if
