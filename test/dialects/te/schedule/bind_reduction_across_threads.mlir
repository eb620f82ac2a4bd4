// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A reduction's loop may be run by the threads of one block, which then add up their parts.

te.func @f(%A: tensor<8x16xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] sum [16] (%i, %k) : tensor<8xf32> {
    %a = te.read %A[%i, %k] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  te.bind %i "blockIdx.x"
  te.bind %k "threadIdx.x"
}

// CHECK-LABEL: tir.func @f(%A: memref<8x16xf32>, %c_out: memref<8xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 8 thread "blockIdx.x" "C.i" {
// CHECK-NEXT:     tir.for %k = 0 to 16 thread "threadIdx.x" reduction "C.k" {
// CHECK-NEXT:       tir.block "C" init {
// CHECK-NEXT:         %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         tir.store %0, %c_out[%i] : memref<8xf32>
// CHECK-NEXT:       } do {
// CHECK-NEXT:         %1 = tir.load %c_out[%i] : memref<8xf32>
// CHECK-NEXT:         %a = tir.load %A[%i, %k] : memref<8x16xf32>
// CHECK-NEXT:         %2 = arith.addf %1, %a : f32
// CHECK-NEXT:         tir.store %2, %c_out[%i] : memref<8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
