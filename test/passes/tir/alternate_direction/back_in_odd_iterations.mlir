// RUN: opt-tool %s -p tir-alternate-direction | filecheck %s

tir.func @f(%w: memref<8xf32>, %y: memref<4x8xf32>) {
  tir.for %t = 0 to 4 "y.t" {
    tir.for %j = 0 to 8 "y.j" attributes {alternate} {
      %x = tir.load %w[%j] : memref<8xf32>
      tir.store %x, %y[%t, %j] : memref<4x8xf32>
    }
  }
}
// CHECK:      tir.for %t = 0 to 4 "y.t" {
// CHECK-NEXT:   %0 = tir.condition [%t mod 2 - 1 == 0] : i1
// CHECK-NEXT:   tir.for %j = 0 to 8 "y.j" {
// CHECK-NEXT:     %1 = tir.index [%j * -1 + 7] : index
// CHECK-NEXT:     %2 = tir.index [%j] : index
// CHECK-NEXT:     %j_1 = arith.select %0, %1, %2 : index
// CHECK-NEXT:     %x = tir.load %w[%j_1] : memref<8xf32>
// CHECK-NEXT:     tir.store %x, %y[%t, %j_1] : memref<4x8xf32>
