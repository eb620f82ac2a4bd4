// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// The caller gives a buffer of unknown size behind all else: status block, arena, size, input, output, parameter. The
// kernel does not read its parameter, and is not given it.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %w: memref<64xf32>,
              %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
    tir.for %i = 0 to min [%n] "y.i" {
      %v = tir.load %x[%i] : memref<?xf32>
      tir.store %v, %y[%i] : memref<?xf32>
    }
  }
  func.func @main(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>},
                  %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {lamina.outputs = 1 : i64} {
    %w = tir.param #relay.param<"w", "00"> : memref<64xf32>
    %t = tir.alloc "t" scope "global" [%n] : memref<?xf32>
    tir.call @f(%n, %x, %w, %t) : index, memref<?xf32>, memref<64xf32>, memref<?xf32>
    tir.call @f(%n, %t, %w, %y) : index, memref<?xf32>, memref<64xf32>, memref<?xf32>
    func.return
  }
}

// CHECK: workspaces = [{
// CHECK: llvm.mlir.global external constant @main.arguments(dense<{{\[\[}}2, 0], [3, 0], [6, 0], [2, 0], [6, 0], [4, 0{{\]\]}}>
