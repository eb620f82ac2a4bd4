// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// Where the pragma asks for it, seven iterations are eight lanes of which the last is idle; else seven lanes. What an
// idle lane leaves in a register that is never looked at needs no mask.

tir.func @f(%X: memref<7xf32>, %Y: memref<7xf32>) {
  %acc = tir.alloc "acc" scope "register" : memref<8xf32>
  // CHECK:      %x = tir.load %X[lane] where [lane * -1 + 6 >= 0] : memref<7xf32>, vector<8xf32>
  // CHECK-NEXT: tir.store %x, %acc[lane] : memref<8xf32>, vector<8xf32>
  tir.for %i = 0 to 7 vectorized "acc.i" attributes {pragma_masked_lanes = 1 : i64} {
    %x = tir.load %X[%i] : memref<7xf32>
    tir.store %x, %acc[%i] : memref<8xf32>
  }
  // CHECK-NEXT: %x_1 = tir.load %acc[lane] : memref<8xf32>, vector<8xf32>
  // CHECK-NEXT: tir.store %x_1, %Y[lane] where [lane * -1 + 6 >= 0] : memref<7xf32>, vector<8xf32>
  tir.for %i = 0 to 7 vectorized "Y.i" attributes {pragma_masked_lanes = 1 : i64} {
    %x = tir.load %acc[%i] : memref<8xf32>
    tir.store %x, %Y[%i] : memref<7xf32>
  }
  // CHECK-NEXT: %x_2 = tir.load %X[lane] : memref<7xf32>, vector<7xf32>
  tir.for %i = 0 to 7 vectorized "Y.j" {
    %x = tir.load %X[%i] : memref<7xf32>
    tir.store %x, %Y[%i] : memref<7xf32>
  }
}
