// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// An access of WebAssembly adds a constant to its address only where that is known not to wrap around: not where what
// stands before it may lie before the buffer.

builtin.module attributes {lamina.target = #lamina.target<triple = "wasm32-unknown-unknown", cpu = "mvp", features = "+simd128", vector_bits = 128, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<64xf32>, %y: memref<8xf32>) {
    tir.for %i = 0 to 8 "y.i" {
      %a = tir.load %x[%i * 4 + 9] : memref<64xf32>
      %b = tir.load %x[%i * -1 + 11] : memref<64xf32>
      %c = arith.addf %a, %b : f32
      tir.store %c, %y[%i] : memref<8xf32>
    }
  }
}
// CHECK-LABEL: llvm.func internal @f.body
// CHECK:         llvm.getelementptr nuw %{{.*}}[9] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK:         llvm.getelementptr %{{.*}}[11] : (!llvm.ptr) -> !llvm.ptr, f32
