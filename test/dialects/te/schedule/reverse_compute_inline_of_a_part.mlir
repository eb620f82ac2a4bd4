// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Every other element is read: the producer's block runs for those only, and finds the consumer's element by division.

te.func @f(%A: tensor<9xf32>) -> tensor<4xf32> {
  %b = te.compute "B" [9] (%i) : tensor<9xf32> {
    %a = te.read %A[%i] : tensor<9xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [4] (%x) : tensor<4xf32> {
    %e = te.read %b[%x * 2 + 1] : tensor<9xf32>
    %s = arith.addf %e, %e : f32
    te.yield %s : f32
  }
  te.return %c : tensor<4xf32>
}
te.schedule @f {
  te.reverse_compute_inline "C"
}

// CHECK-LABEL: tir.func @f(%A: memref<9xf32>, %c_out: memref<4xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       tir.for %i = 0 to 9 "B.i" {
// CHECK-NEXT:         tir.block "B" where [(%i + 1) floordiv 2 * 2 + %i * -1 - 1 == 0] {
// CHECK-NEXT:           %a = tir.load %A[%i] : memref<9xf32>
// CHECK-NEXT:           %n = arith.negf %a : f32
// CHECK-NEXT:           %s = arith.addf %n, %n : f32
// CHECK-NEXT:           tir.store %s, %c_out[(%i + 1) floordiv 2 - 1] : memref<4xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
