// RUN: opt-tool %s -p tir-skip-padding | filecheck %s
// What the row decides leaves the loops over the pixels; what a pixel decides stays with it. A mask stays a mask.

tir.func @f(%X: memref<8x8x16xf32>, %w: memref<3x3xf32>, %Y: memref<8x8x16xf32>) {
  tir.for %y = 0 to 8 parallel "Y.y" {
    %acc = tir.alloc "Y" scope "register" : memref<8x16xf32>
    tir.for %r = 0 to 3 reduction "Y.r" {
      tir.for %x = 0 to 8 unrolled "Y.x" {
        tir.for %s = 0 to 3 unrolled reduction "Y.s" {
          tir.for %v = 0 to 16 vectorized "Y.v" {
            %a = tir.load %acc[%x, %v] : memref<8x16xf32>
            %d = tir.load %X[%y + %r - 1, %x + %s - 1, %v] where [%y + %r - 1 >= 0, 8 - %y - %r >= 0, %x + %s - 1 >= 0, 8 - %x - %s >= 0, 12 - %v >= 0] : memref<8x8x16xf32>
            %k = tir.load %w[%r, %s] : memref<3x3xf32>
            %p = arith.mulf %d, %k : f32
            %t = arith.addf %a, %p : f32
            tir.store %t, %acc[%x, %v] : memref<8x16xf32>
          }
        }
      }
    }
  }
}

// CHECK:      tir.for %r = 0 to 3 reduction "Y.r" {
// CHECK-NEXT:   tir.if [%y + %r - 1 >= 0, %y * -1 + %r * -1 + 8 >= 0] {
// CHECK-NEXT:     tir.for %x = 0 to 8 unrolled "Y.x" {
// CHECK-NEXT:       tir.for %s = 0 to 3 unrolled reduction "Y.s" {
// CHECK-NEXT:         tir.if [%x + %s - 1 >= 0, %x * -1 + %s * -1 + 8 >= 0] {
// CHECK-NEXT:           tir.for %v = 0 to 16 vectorized "Y.v" {
// CHECK-NEXT:             %a = tir.load %acc[%x, %v]
// CHECK-NEXT:             %d = tir.load %X[{{.*}}] where [%v * -1 + 12 >= 0]
