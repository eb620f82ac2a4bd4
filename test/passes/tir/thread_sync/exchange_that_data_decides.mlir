// RUN: opt-tool %s -p tir-thread-sync --verify-diagnostics
// How often a thread goes round is in memory: nobody knows how often the others have to wait.
// The message has the name of the stage whose values the buffer keeps, whatever its value is called.

tir.func @f(%count: memref<64xi64>, %x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    %rows = tir.alloc "s" scope "shared" : memref<64xf32>
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      %c = tir.load %count[%t] : memref<64xi64>
      %n = arith.index_cast %c : i64 to index
      tir.for %i = 0 to min [%n] "i" {
        %v = tir.load %x[%t] : memref<64xf32>
        // expected-error@+1 {{threads exchange elements of 's' in a statement that not all of them run}}
        tir.store %v, %rows[%t] : memref<64xf32>
        %w = tir.load %rows[%t floordiv 8] : memref<64xf32>
        tir.store %w, %y[%t] : memref<64xf32>
      }
    }
  }
}
