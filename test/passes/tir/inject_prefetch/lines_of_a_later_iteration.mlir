// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s

tir.func @f(%A: memref<8x40xf32>, %b: memref<8xf32>, %y: memref<8x40xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" attributes {prefetch = [{tensor = "A", offset = 2 : i64}, {tensor = "b", offset = 1 : i64}]} {
    tir.for %j = 0 to 40 "y.j" {
      %a = tir.load %A[%i, %j] : memref<8x40xf32>
      %c = tir.load %b[%i] : memref<8xf32>
      %s = arith.addf %a, %c : f32
      tir.store %s, %y[%i, %j] : memref<8x40xf32>
    }
  }
}

// CHECK:      tir.for %i = 0 to 8 "y.i" {
// CHECK-NEXT:   tir.for %l = 0 to 3 "y.i.prefetch.1" {
// CHECK-NEXT:     tir.prefetch %A[%i + 2, %l * 16] locality 3 : memref<8x40xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.prefetch %b[%i + 1] locality 3 : memref<8xf32>
// CHECK-NEXT:   tir.for %j = 0 to 40 "y.j" {
