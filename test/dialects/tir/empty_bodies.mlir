// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Loops, conditions and blocks may be empty.

// CHECK:      tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:   tir.if [%i - 1 >= 0] {
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.block "y" init {
// CHECK-NEXT:   } do {
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: tir.for %j = 0 to 4 "y.j" {
// CHECK-NEXT: }
tir.func @f(%y: memref<4xf32>) {
  tir.for %i = 0 to 4 "y.i" {
    tir.if [%i - 1 >= 0] {}
    tir.block "y" init {} do {}
  }
  tir.for %j = 0 to 4 "y.j" {}
}
