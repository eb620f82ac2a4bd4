// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// Iterations of a parallel loop come one after the other where there is one thread.

builtin.module attributes {lamina.target = #lamina.target<triple = "wasm32-unknown-unknown", cpu = "mvp", features = "+simd128", vector_bits = 128, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
    tir.for %j = 0 to 4 parallel "f.j" {
      %large = tir.alloc "large" scope "global" : memref<65537xf32>
      %small = tir.alloc "small" scope "global" : memref<4xf32>
      %b = tir.load %x[%j] : memref<4xf32>
      tir.store %b, %large[%j] : memref<65537xf32>
      tir.store %b, %small[%j] : memref<4xf32>
    }
    tir.for %k = 0 to 4 parallel "f.k" {
      %small = tir.alloc "small" scope "global" : memref<4xf32>
      %b = tir.load %x[%k] : memref<4xf32>
      tir.store %b, %small[%k] : memref<4xf32>
    }
  }
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
    tir.call @f(%x, %y) : memref<4xf32>, memref<4xf32>
    func.return
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %large: memref<65537xf32>)
// CHECK-NEXT:    tir.for %j = 0 to 4 "f.j" {
// CHECK-NEXT:      %small = tir.alloc "small" scope "global" : memref<4xf32>
// CHECK:         tir.for %k = 0 to 4 parallel "f.k" {
