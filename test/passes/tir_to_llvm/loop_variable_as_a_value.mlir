// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Stored, or computed with.

// CHECK:      ^bb1(%[[i:.*]]: i64):
// CHECK:        %[[d:.*]] = llvm.add %[[i]], %[[i]] : i64
// CHECK:        llvm.store %[[d]], %{{.*}} : i64, !llvm.ptr
// CHECK:        llvm.store %[[i]], %{{.*}} : i64, !llvm.ptr
tir.func @f(%y: memref<8xindex>, %z: memref<8xindex>) attributes {outputs = 2 : i64} {
  tir.for %i = 0 to 8 "y.i" {
    %d = arith.addi %i, %i : index
    tir.store %d, %y[%i] : memref<8xindex>
    tir.store %i, %z[%i] : memref<8xindex>
  }
}
