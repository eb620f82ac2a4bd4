// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The buffer is padded when storage is laid out; until then its accesses and its shape stay.

te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %b = te.compute "B" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %a = te.read %A[%i, %j] : tensor<8x32xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %x = te.read %b[%i, %j] : tensor<8x32xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8x32xf32>
}
te.schedule @f {
  te.storage_align "B" axis 0 factor 32 offset 1
}

// CHECK:      %B = tir.alloc "B" scope "global" {storage_align = array<i64: 0, 32, 1>} : memref<8x32xf32>
// CHECK:      tir.store %n, %B[%i, %j] : memref<8x32xf32>
