// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// The slot that the branch writes is an argument of the join block and of the loop; the other one is not.

// CHECK-LABEL: llvm.func internal @f.body
// CHECK:       llvm.cond_br %{{.*}}, ^[[THEN:bb[0-9]+]], ^[[JOIN:bb[0-9]+]](%[[OLD:.*]] : f32)
// CHECK-NEXT:  ^[[THEN]]:
// CHECK:         %[[SUM:.*]] = llvm.fadd
// CHECK-NEXT:    llvm.br ^[[JOIN]](%[[SUM]] : f32)
// CHECK-NEXT:  ^[[JOIN]](%{{.*}}: f32):
tir.func @f(%x: memref<8xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
  %acc = tir.alloc "acc" scope "register" : memref<2xf32>
  %zero = arith.constant 0.0 : f32
  tir.store %zero, %acc[0] : memref<2xf32>
  tir.store %zero, %acc[1] : memref<2xf32>
  tir.for %k = 0 to 8 reduction "y.k" {
    tir.if [%k mod 2 == 0] {
      %v = tir.load %x[%k] : memref<8xf32>
      %a = tir.load %acc[1] : memref<2xf32>
      %s = arith.addf %a, %v : f32
      tir.store %s, %acc[1] : memref<2xf32>
    }
  }
  tir.for %i = 0 to 2 unrolled "y.i" {
    %r = tir.load %acc[%i] : memref<2xf32>
    tir.store %r, %y[%i] : memref<2xf32>
  }
}
