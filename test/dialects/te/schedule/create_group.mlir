// RUN: opt-tool %s -p te-to-tir | filecheck %s
// P and Q move into a tile of C, Q first: P then knows what of it Q's tile needs.

te.func @f(%A: tensor<18xf32>) -> tensor<16xf32> {
  %p = te.compute "P" [18] (%i) : tensor<18xf32> {
    %a = te.read %A[%i] : tensor<18xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %q = te.compute "Q" [17] (%i) : tensor<17xf32> {
    %x = te.read %p[%i] : tensor<18xf32>
    %y = te.read %p[%i + 1] : tensor<18xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  %c = te.compute "C" [16] (%i) : tensor<16xf32> {
    %x = te.read %q[%i] : tensor<17xf32>
    %y = te.read %q[%i + 1] : tensor<17xf32>
    %s = arith.mulf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<16xf32>
}
te.schedule @f {
  te.create_group "front" ["P", "Q"]
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 4]
  %a, %b = te.compute_at "front" at %io [2]
}

// CHECK-LABEL: tir.func @f(%A: memref<18xf32>, %c_out: memref<16xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       tir.for %io = 0 to 4 "C.i.0" {
// CHECK-NEXT:         %P = tir.alloc "P" scope "global" : memref<6xf32>
// CHECK-NEXT:         tir.for %i = 0 to 6 "P.i" {
// CHECK-NEXT:           tir.block "P" {
// CHECK-NEXT:             %a = tir.load %A[%io * 4 + %i] : memref<18xf32>
// CHECK-NEXT:             %n = arith.negf %a : f32
// CHECK-NEXT:             tir.store %n, %P[%i] : memref<6xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         %Q = tir.alloc "Q" scope "global" : memref<5xf32>
// CHECK-NEXT:         tir.for %i = 0 to 5 "Q.i" {
// CHECK-NEXT:           tir.block "Q" {
// CHECK-NEXT:             %x = tir.load %P[%i] : memref<6xf32>
// CHECK-NEXT:             %y = tir.load %P[%i + 1] : memref<6xf32>
// CHECK-NEXT:             %s = arith.addf %x, %y : f32
// CHECK-NEXT:             tir.store %s, %Q[%i] : memref<5xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.for %ii = 0 to 4 "C.i.1" {
// CHECK-NEXT:           tir.block "C" {
// CHECK-NEXT:             %x = tir.load %Q[%ii] : memref<5xf32>
// CHECK-NEXT:             %y = tir.load %Q[%ii + 1] : memref<5xf32>
// CHECK-NEXT:             %s = arith.mulf %x, %y : f32
// CHECK-NEXT:             tir.store %s, %c_out[%ii + %io * 4] : memref<16xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
