// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Ten rows in blocks of four: the last two rows of the last block are padding that nobody touches.

te.func @f(%A: tensor<10x3xf32>) -> tensor<10x3xf32> {
  %b = te.compute "B" [10, 3] (%i, %j) : tensor<10x3xf32> {
    %a = te.read %A[%i, %j] : tensor<10x3xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [10, 3] (%i, %j) : tensor<10x3xf32> {
    %x = te.read %b[%i, %j] : tensor<10x3xf32>
    %y = te.read %b[9 - %i, %j] : tensor<10x3xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<10x3xf32>
}
te.schedule @f {
  te.transform_layout "B" #te.map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>
}

// CHECK-LABEL: tir.func @f(%A: memref<10x3xf32>, %c_out: memref<10x3xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %B = tir.alloc "B" scope "global" {padded} : memref<3x3x4xf32>
// CHECK-NEXT:       tir.for %i = 0 to 10 "B.i" {
// CHECK-NEXT:         tir.for %j = 0 to 3 "B.j" {
// CHECK-NEXT:           tir.block "B" {
// CHECK-NEXT:             %a = tir.load %A[%i, %j] : memref<10x3xf32>
// CHECK-NEXT:             %n = arith.negf %a : f32
// CHECK-NEXT:             tir.store %n, %B[%i floordiv 4, %j, %i mod 4] : memref<3x3x4xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to 10 "C.i" {
// CHECK-NEXT:         tir.for %j = 0 to 3 "C.j" {
// CHECK-NEXT:           tir.block "C" {
// CHECK-NEXT:             %x = tir.load %B[%i floordiv 4, %j, %i mod 4] : memref<3x3x4xf32>
// CHECK-NEXT:             %y = tir.load %B[(%i * -1 + 1) floordiv 4 + 2, %j, (%i * -1 + 1) mod 4] : memref<3x3x4xf32>
// CHECK-NEXT:             %s = arith.addf %x, %y : f32
// CHECK-NEXT:             tir.store %s, %c_out[%i, %j] : memref<10x3xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
