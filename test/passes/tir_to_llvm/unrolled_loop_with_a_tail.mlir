// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%x: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.0" {
    // expected-error@+1 {{the unrolled loop 'y.1' has a tail; partition the loop it depends on}}
    tir.for %i = 0 to 4 min [%o * -4 + 10] unrolled "y.1" {
      %v = tir.load %x[%o * 4 + %i] : memref<10xf32>
      tir.store %v, %y[%o * 4 + %i] : memref<10xf32>
    }
  }
}
