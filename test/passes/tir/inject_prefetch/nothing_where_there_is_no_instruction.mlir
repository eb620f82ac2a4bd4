// RUN: opt-tool %s -p tir-inject-prefetch | filecheck %s
// What a schedule has asked for is dropped.

builtin.module attributes {lamina.target = #lamina.target<triple = "wasm32-unknown-unknown", cpu = "mvp", features = "+simd128", vector_bits = 128, registers = 16, threads = 1>} {
  tir.func @f(%A: memref<8x32xf32>, %C: memref<8x32xf32>) {
    tir.for %i = 0 to 8 "C.i" attributes {prefetch = [{tensor = "A", offset = 1 : i64}]} {
      tir.for %j = 0 to 32 "C.j" {
        %a = tir.load %A[%i, %j] : memref<8x32xf32>
        tir.store %a, %C[%i, %j] : memref<8x32xf32>
      }
    }
  }
}
// CHECK-LABEL: tir.func @f
// CHECK-NEXT:    tir.for %i = 0 to 8 "C.i" {
// CHECK-NEXT:      tir.for %j = 0 to 32 "C.j" {
// CHECK-NEXT:        %a = tir.load
