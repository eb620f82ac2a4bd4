// RUN: opt-tool %s -p rocm-tir-to-llvm --verify-diagnostics

tir.func @f_kernel0(%x: memref<4xf64>, %y: memref<4xf64>) attributes {outputs = 1 : i64, device} {
  tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
    %v = tir.load %x[%t] : memref<4xf64>
    // expected-error@+1 {{rocm-tir-to-llvm: @f_kernel0: llvm.intr.exp of f64 has no code for AMD GPUs}}
    %w = math.exp %v : f64
    tir.store %w, %y[%t] : memref<4xf64>
  }
}
