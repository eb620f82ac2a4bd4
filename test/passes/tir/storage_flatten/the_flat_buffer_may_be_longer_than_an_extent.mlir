// RUN: opt-tool %s -p tir-storage-flatten | filecheck %s
// An extent of a tensor is at most 2^40; a flat buffer has the elements of all of them.

// CHECK: tir.alloc "B" scope "global" : memref<2199023255552xi8>
tir.func @f(%y: memref<8xi8>) {
  %B = tir.alloc "B" scope "global" : memref<2097152x1048576xi8>
  tir.for %i = 0 to 8 "y.i" {
    %a = tir.load %y[%i] : memref<8xi8>
    tir.store %a, %B[%i, 0] : memref<2097152x1048576xi8>
  }
}
