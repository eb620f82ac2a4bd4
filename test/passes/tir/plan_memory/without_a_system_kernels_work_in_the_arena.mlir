// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// The stack is small where there is no system, and iterations of parallel loops run one after the other: what is more
// than a few numbers is placed in the arena.

builtin.module attributes {lamina.target = #lamina.target<triple = "thumbv7em-unknown-none-eabihf", cpu = "cortex-m4", features = "+vfp4d16sp", vector_bits = 32, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
    tir.for %j = 0 to 4 parallel "f.j" {
      %each = tir.alloc "each" scope "global" : memref<33xf32>
      %few = tir.alloc "few" scope "global" : memref<32xf32>
      %b = tir.load %x[%j] : memref<4xf32>
      tir.store %b, %each[%j] : memref<33xf32>
      tir.store %b, %few[%j] : memref<32xf32>
    }
  }
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {lamina.outputs = 1 : i64} {
    tir.call @f(%x, %y) : memref<4xf32>, memref<4xf32>
    func.return
  }
}

// CHECK-LABEL: tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %each: memref<33xf32>) attributes {outputs = 1 : i64, workspaces = 1 : i64} {
// CHECK-NEXT:   tir.for %j = 0 to 4 "f.j" {
// CHECK-NEXT:     %few = tir.alloc "few" scope "global" : memref<32xf32>
// CHECK-LABEL: func.func @main
// CHECK-NEXT:   %arena = tir.alloc "arena" scope "global" : memref<192xi8>
