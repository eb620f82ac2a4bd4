// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// What @main calls, on tensors; te-to-tir gives each result a buffer.

te.func @neg(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    %n = arith.negf %x : f32
    te.yield %n : f32
  }
  te.return %y : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = te.call @neg(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = te.call @neg(%a) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// CHECK: %a = te.call @neg(%x) : (tensor<8xf32>) -> tensor<8xf32>
// AFTER: func.func @main(%x: memref<8xf32>, %{{[0-9]+}}: memref<8xf32>) attributes {lamina.outputs = 1 : i64}
// AFTER: %a = tir.alloc "neg" scope "global" : memref<8xf32>
// AFTER: tir.call @neg(%x, %a) : memref<8xf32>, memref<8xf32>
// AFTER: tir.call @neg(%a, %{{[0-9]+}}) : memref<8xf32>, memref<8xf32>
