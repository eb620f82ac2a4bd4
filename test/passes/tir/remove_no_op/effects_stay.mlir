// RUN: opt-tool %s -p tir-remove-no-op | filecheck %s
// A check may end the program, a prefetch saves time, a barrier makes threads wait.

tir.func @f(%X: memref<8xi32>, %y: memref<8xi32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
    tir.for %i = 0 to 8 thread "threadIdx.x" "y.i" {
      // CHECK: tir.prefetch
      tir.prefetch %X[%i] locality 3 : memref<8xi32>
      %x = tir.load %X[%i] : memref<8xi32>
      %ok = arith.cmpi ne, %x, %x : i32
      // CHECK: tir.check
      %c = tir.check %x, %ok "never" : i32
      // CHECK: tir.barrier
      tir.barrier "shared"
    }
  }
}
