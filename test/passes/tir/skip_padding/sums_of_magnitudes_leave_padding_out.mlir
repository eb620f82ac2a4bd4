// RUN: opt-tool %s -p tir-skip-padding | filecheck %s

tir.func @f(%X: memref<4x8x16xf32>, %Y: memref<8x16xf32>) {
  tir.for %x = 0 to 8 "Y.x" {
    %acc = tir.alloc "Y" scope "register" : memref<16xf32>
    tir.for %c = 0 to 4 unrolled reduction "Y.c" {
      tir.for %v = 0 to 16 vectorized "Y.v" {
        %a = tir.load %acc[%v] : memref<16xf32>
        %d = tir.load %X[%c, %x - 1, %v] where [%x - 1 >= 0] : memref<4x8x16xf32>
        %m = math.absf %d : f32
        %t = arith.addf %a, %m : f32
        tir.store %t, %acc[%v] : memref<16xf32>
      }
    }
  }
}

// CHECK:      tir.if [%x - 1 >= 0] {
// CHECK-NEXT:   tir.for %c = 0 to 4 unrolled reduction "Y.c" {
// CHECK-NEXT:     tir.for %v = 0 to 16 vectorized "Y.v" {
// CHECK-NEXT:       tir.load %acc[%v]
// CHECK-NEXT:       tir.load %X[%c, %x - 1, %v] : memref<4x8x16xf32>
