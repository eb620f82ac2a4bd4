// RUN: opt-tool %s -p tir-unify-thread-binding --verify-diagnostics

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    tir.for %i = 0 to 8 thread "threadIdx.x" "i" {
      %v = tir.load %x[%i] : memref<8xf32>
      tir.store %v, %y[%i] : memref<8xf32>
    }
    // expected-error@+1 {{'i' and 'j' are bound to "threadIdx.x" in one kernel, but have different extents}}
    tir.for %j = 0 to 4 thread "threadIdx.x" "j" {
      %v = tir.load %x[%j] : memref<8xf32>
      tir.store %v, %y[%j] : memref<8xf32>
    }
  }
}
