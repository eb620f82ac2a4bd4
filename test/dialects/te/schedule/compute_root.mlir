// RUN: opt-tool %s -p te-to-tir | filecheck %s
// B was computed in tiles of C, whose loop was split afterwards: it is whole again, and C reads all of it.

te.func @f(%A: tensor<20xf32>) -> tensor<18xf32> {
  %b = te.compute "B" [20] (%i) : tensor<20xf32> {
    %a = te.read %A[%i] : tensor<20xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [18] (%i) : tensor<18xf32> {
    %x = te.read %b[%i] : tensor<20xf32>
    %y = te.read %b[%i + 2] : tensor<20xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<18xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 6]
  %t = te.compute_at "B" at %io [1]
  %ioo, %ioi = te.split %io [-1, 2]
  %to, %ti = te.split %t [-1, 4]
  %g = te.compute_root "B" [1]
}

// CHECK-LABEL: tir.func @f(%A: memref<20xf32>, %c_out: memref<18xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %B = tir.alloc "B" scope "global" : memref<20xf32>
// CHECK-NEXT:       tir.for %i = 0 to 20 "B.i" {
// CHECK-NEXT:         tir.block "B" {
// CHECK-NEXT:           %a = tir.load %A[%i] : memref<20xf32>
// CHECK-NEXT:           %n = arith.negf %a : f32
// CHECK-NEXT:           tir.store %n, %B[%i] : memref<20xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %ioo = 0 to 2 "C.i.0.0" {
// CHECK-NEXT:         tir.for %ioi = 0 to 2 min [%ioo * -2 + 3] "C.i.0.1" {
// CHECK-NEXT:           tir.for %ii = 0 to 6 "C.i.1" {
// CHECK-NEXT:             tir.block "C" {
// CHECK-NEXT:               %x = tir.load %B[%ii + %ioi * 6 + %ioo * 12] : memref<20xf32>
// CHECK-NEXT:               %y = tir.load %B[%ii + %ioi * 6 + %ioo * 12 + 2] : memref<20xf32>
// CHECK-NEXT:               %s = arith.addf %x, %y : f32
// CHECK-NEXT:               tir.store %s, %c_out[%ii + %ioi * 6 + %ioo * 12] : memref<18xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
