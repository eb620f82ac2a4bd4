// RUN: opt-tool %s -p tir-unify-thread-binding --verify-diagnostics

tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    tir.for %i = 0 to min [%n] thread "threadIdx.x" "i" {
      %v = tir.load %x[%i] : memref<?xf32>
      tir.store %v, %y[%i] : memref<?xf32>
    }
    // expected-error@+1 {{'i' and 'j' are bound to "threadIdx.x" in one kernel, but nobody knows which of them is the longer}}
    tir.for %j = 0 to 4 thread "threadIdx.x" "j" {
      %v = tir.load %x[%j] : memref<?xf32>
      tir.store %v, %y[%j] : memref<?xf32>
    }
  }
}
