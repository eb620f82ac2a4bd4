// RUN: opt-tool %s -p tir-demote-registers | filecheck %s
// Threads of a parallel loop do not see the registers of the thread that starts them; one's own they keep.

// CHECK-LABEL: tir.func @scaled
// CHECK-NEXT: %s = tir.alloc "s" scope "global" : memref<1xf32>
tir.func @scaled(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %s = tir.alloc "s" scope "register" : memref<1xf32>
  %first = tir.load %X[0] : memref<8xf32>
  tir.store %first, %s[0] : memref<1xf32>
  tir.for %i = 0 to 8 parallel "y.i" {
    // CHECK: tir.alloc "own" scope "register" : memref<1xf32>
    %own = tir.alloc "own" scope "register" : memref<1xf32>
    %x = tir.load %s[0] : memref<1xf32>
    tir.store %x, %own[0] : memref<1xf32>
    %z = tir.load %own[0] : memref<1xf32>
    tir.store %z, %y[%i] : memref<8xf32>
  }
}
