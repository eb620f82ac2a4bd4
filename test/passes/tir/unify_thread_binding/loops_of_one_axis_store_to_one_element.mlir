// RUN: opt-tool %s -p tir-unify-thread-binding --verify-diagnostics
// Run whole by each thread, the inner loop would store to the elements of all; shared out, each would not know %i.

tir.func @f(%x: memref<8xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 thread "threadIdx.x" "i" {
    // expected-error@+1 {{'j' stands in a loop that is bound to "threadIdx.x" too, and what stands inside depends on both}}
    tir.for %j = 0 to 4 thread "threadIdx.x" "j" {
      %v = tir.load %x[%i + %j] : memref<8xf32>
      tir.store %v, %y[%j] : memref<4xf32>
    }
  }
}
