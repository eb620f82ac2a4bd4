// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// What is multiplied by zero, or taken from itself, is no operand.

// CHECK: tir.load %x[%j] : memref<8xf32>
// CHECK: tir.store %a, %x[%j] where [-1 >= 0] : memref<8xf32>
tir.func @f(%x: memref<8xf32>) {
  tir.for %i = 0 to 8 "i" {
    tir.for %j = 0 to 8 "j" {
      %a = tir.load %x[%i * 0 + %j] : memref<8xf32>
      tir.store %a, %x[%j] where [%i - 1 >= %i] : memref<8xf32>
    }
  }
}
