// RUN: opt-tool %s -p tir-alternate-direction | filecheck %s

tir.func @f(%w: memref<8xf32>, %y: memref<8xf32>, %z: memref<4x8xf32>, %n: index) {
  tir.for %j = 0 to 8 "y.j" attributes {alternate} {
    %x = tir.load %w[%j] : memref<8xf32>
    tir.store %x, %y[%j] : memref<8xf32>
  }
  tir.for %t = 0 to 4 "z.t" {
    tir.for %j = 0 to 8 min [%n] "z.j" attributes {alternate} {
      %x = tir.load %w[%j] : memref<8xf32>
      tir.store %x, %z[%t, %j] : memref<4x8xf32>
    }
  }
}
// CHECK:      tir.for %j = 0 to 8 "y.j" {
// CHECK-NEXT:   %x = tir.load %w[%j] : memref<8xf32>
// CHECK:      tir.for %t = 0 to 4 "z.t" {
// CHECK-NEXT:   tir.for %j = 0 to 8 min [%n] "z.j" {
// CHECK-NEXT:     %x = tir.load %w[%j] : memref<8xf32>
