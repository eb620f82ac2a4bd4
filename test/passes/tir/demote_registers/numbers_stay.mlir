// RUN: opt-tool %s -p tir-demote-registers | filecheck %s
// Constants, unrolled loops and lanes name registers.

// CHECK-LABEL: tir.func @copied
// CHECK-NEXT: %t = tir.alloc "t" scope "register" : memref<8xf32>
tir.func @copied(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %t = tir.alloc "t" scope "register" : memref<8xf32>
  tir.for %i = 0 to 2 unrolled "t.i" {
    %x = tir.load %X[%i * 4 + lane] : memref<8xf32>, vector<4xf32>
    tir.store %x, %t[%i * 4 + lane] : memref<8xf32>, vector<4xf32>
  }
  tir.for %i = 0 to 8 "y.i" {
    %x = tir.load %t[7] : memref<8xf32>
    tir.store %x, %y[%i] : memref<8xf32>
  }
}
