// RUN: opt-tool %s -p tir-expand-math | filecheck %s
// LLVM would call a function for each lane where there is no instruction that multiplies and adds.

builtin.module attributes {lamina.target = #lamina.target<triple = "wasm32-unknown-unknown", cpu = "mvp", features = "+simd128", vector_bits = 128, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
    %a = tir.load %x[lane] : memref<4xf32>, vector<4xf32>
    %b = math.exp %a : vector<4xf32>
    tir.store %b, %y[lane] : memref<4xf32>, vector<4xf32>
  }
}
// CHECK-LABEL: tir.func @f
// CHECK-NOT:     math
// CHECK:         %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK:         %{{.*}} = arith.addf %[[P]], %{{.*}} : vector<4xf32>
// CHECK-NOT:     math
// CHECK:         tir.store
