// RUN: opt-tool %s -p te-to-tir | filecheck %s
// What the threads of a block share stands outside of their loops, as large as they all need it; they fetch it together.

te.func @f(%A: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c = te.compute "C" [8, 16] (%i, %j) : tensor<8x16xf32> {
    %a = te.read %A[%i, %j] : tensor<8x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<8x16xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %jo, %ji = te.split %j [4, 4]
  te.bind %i "blockIdx.x"
  te.bind %jo "threadIdx.x"
  %s = te.cache_read "A" in "C" at %jo scope "shared" [1]
  %so, %si = te.split %s [4, 4]
  te.bind %so "threadIdx.x"
}

// CHECK-LABEL: tir.func @f(%A: memref<8x16xf32>, %c_out: memref<8x16xf32>) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %i = 0 to 8 thread "blockIdx.x" "C.i" {
// CHECK-NEXT:     %A_shared = tir.alloc "A.shared" scope "shared" : memref<16xf32>
// CHECK-NEXT:     tir.for %jo = 0 to 4 thread "threadIdx.x" "C.j.0" {
// CHECK-NEXT:       tir.for %A1o = 0 to 4 thread "threadIdx.x" "A.shared.1.0" {
// CHECK-NEXT:         tir.for %A1i = 0 to 4 "A.shared.1.1" {
// CHECK-NEXT:           tir.block "A.shared" {
// CHECK-NEXT:             %0 = tir.load %A[%i, %A1i + %A1o * 4] : memref<8x16xf32>
// CHECK-NEXT:             tir.store %0, %A_shared[%A1i + %A1o * 4] : memref<16xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %ji = 0 to 4 "C.j.1" {
// CHECK-NEXT:         tir.block "C" {
// CHECK-NEXT:           %a = tir.load %A_shared[%ji + %jo * 4] : memref<16xf32>
// CHECK-NEXT:           tir.store %a, %c_out[%i, %ji + %jo * 4] : memref<8x16xf32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
