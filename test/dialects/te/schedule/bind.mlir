// RUN: opt-tool %s -p 'te-to-tir{stop-after=1}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The loops are run by the threads of a grid and of its blocks.

te.func @f(%A: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c = te.compute "C" [8, 16] (%i, %j) : tensor<8x16xf32> {
    %a = te.read %A[%i, %j] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8x16xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  te.bind %i "blockIdx.x"
  te.bind %j "threadIdx.x"
}

// BEFORE-LABEL: tir.func @f(%A: memref<8x16xf32>, %c_out: memref<8x16xf32>) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:   tir.for %i = 0 to 8 "C.i" {
// BEFORE-NEXT:     tir.for %j = 0 to 16 "C.j" {
// BEFORE-NEXT:       tir.block "C" {
// BEFORE-NEXT:         %a = tir.load %A[%i, %j] : memref<8x16xf32>
// BEFORE-NEXT:         tir.store %a, %c_out[%i, %j] : memref<8x16xf32>
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }
// BEFORE-NEXT: }

// CHECK-LABEL: tir.func @f(%A: memref<8x16xf32>, %c_out: memref<8x16xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 8 thread "blockIdx.x" "C.i" {
// CHECK-NEXT:     tir.for %j = 0 to 16 thread "threadIdx.x" "C.j" {
// CHECK-NEXT:       tir.block "C" {
// CHECK-NEXT:         %a = tir.load %A[%i, %j] : memref<8x16xf32>
// CHECK-NEXT:         tir.store %a, %c_out[%i, %j] : memref<8x16xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
