// RUN: opt-tool %s -p 'tir-unroll-loop{explicit-unroll=true}' --verify-diagnostics

tir.func @f(%x: memref<1048576xf32>, %y: memref<1048576xf32>) {
  // expected-error @below {{'y.i' unrolled 1048576 times is 3145728 ops long, the limit is 65536; split the loop first}}
  tir.for %i = 0 to 1048576 unrolled "y.i" {
    %a = tir.load %x[%i] : memref<1048576xf32>
    tir.store %a, %y[%i] : memref<1048576xf32>
  }
}
