// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The consumer reads the transposed producer, whose loops are tiled: it is computed there, and the buffer is gone.

te.func @f(%A: tensor<6x8xf32>, %D: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %b = te.compute "B" [6, 8] (%i, %j) : tensor<6x8xf32> {
    %a = te.read %A[%i, %j] : tensor<6x8xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 6] (%x, %y) : tensor<8x6xf32> {
    %e = te.read %b[%y, %x] : tensor<6x8xf32>
    %d = te.read %D[%x, %y] : tensor<8x6xf32>
    %s = arith.addf %e, %d : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8x6xf32>
}
te.schedule @f {
  %i, %j = te.loops "B" [2]
  %jo, %ji = te.split %j [-1, 3]
  te.reverse_compute_inline "C"
}

// CHECK-LABEL: tir.func @f(%A: memref<6x8xf32>, %D: memref<8x6xf32>, %c_out: memref<8x6xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       tir.for %i = 0 to 6 "B.i" {
// CHECK-NEXT:         tir.for %jo = 0 to 3 "B.j.0" {
// CHECK-NEXT:           tir.for %ji = 0 to 3 min [%jo * -3 + 8] "B.j.1" {
// CHECK-NEXT:             tir.block "B" {
// CHECK-NEXT:               %a = tir.load %A[%i, %ji + %jo * 3] : memref<6x8xf32>
// CHECK-NEXT:               %n = arith.negf %a : f32
// CHECK-NEXT:               %d = tir.load %D[%ji + %jo * 3, %i] : memref<8x6xf32>
// CHECK-NEXT:               %s = arith.addf %n, %d : f32
// CHECK-NEXT:               tir.store %s, %c_out[%ji + %jo * 3, %i] : memref<8x6xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
