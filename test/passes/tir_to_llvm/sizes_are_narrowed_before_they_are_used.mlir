// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Where pointers have 32 bits a size is narrowed before what is hoisted out of loops is computed from it.

builtin.module attributes {lamina.target = #lamina.target<triple = "wasm32-unknown-unknown", cpu = "generic", features = "+simd128", vector_bits = 128, registers = 16, threads = 1>} {
  tir.func @f(%n: index, %x: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0, 8)>}, %y: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0, 8)>}) attributes {outputs = 1 : i64} {
    tir.for %i = 0 to 8 "y.i" {
      tir.for %j = 0 to min [%n, 100] "y.j" {
        %a = tir.load %x[%n - %j - 1, %i] : memref<?x8xf32>
        tir.store %a, %y[%j, %i] : memref<?x8xf32>
      }
    }
  }
}

// CHECK:      llvm.func internal @f.body(%n: i64
// CHECK-NOT:  llvm.mul
// CHECK:      %[[N:.*]] = llvm.trunc %n : i64 to i32
// CHECK:      llvm.mul %[[N]], %{{.*}} : i32
