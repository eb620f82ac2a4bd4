// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The inner tile is one block; the loops around it are those of the block "C_o".

te.func @f(%A: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c = te.compute "C" [8, 6] (%i, %j) : tensor<8x6xf32> {
    %x = te.read %A[%i, %j] : tensor<8x6xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8x6xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %io, %jo, %ii, %ji = te.tile %i, %j [4, 3]
  te.blockize %ii "C_o"
  %a, %b = te.loops "C_o" [2]
  te.reorder %b, %a
}

// CHECK-LABEL: tir.func @f(%A: memref<8x6xf32>, %c_out: memref<8x6xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       tir.for %jo = 0 to 2 "C.j.0" {
// CHECK-NEXT:         tir.for %io = 0 to 2 "C.i.0" {
// CHECK-NEXT:           tir.block "C_o" {
// CHECK-NEXT:             tir.for %ii = 0 to 4 "C.i.1" {
// CHECK-NEXT:               tir.for %ji = 0 to 3 "C.j.1" {
// CHECK-NEXT:                 tir.block "C" {
// CHECK-NEXT:                   %x = tir.load %A[%ii + %io * 4, %ji + %jo * 3] : memref<8x6xf32>
// CHECK-NEXT:                   %s = arith.addf %x, %x : f32
// CHECK-NEXT:                   tir.store %s, %c_out[%ii + %io * 4, %ji + %jo * 3] : memref<8x6xf32>
// CHECK-NEXT:                 }
// CHECK-NEXT:               }
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
