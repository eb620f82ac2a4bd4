// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// A getelementptr has constant indices of 32 bits: a place beyond these, on either side, is a value of 64.

// CHECK-DAG: %[[FAR:.*]] = llvm.mlir.constant(2147483648) : i64
// CHECK-DAG: %[[END:.*]] = llvm.mlir.constant(5000000000) : i64
// CHECK:     llvm.getelementptr %[[X:.*]][2147483647] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK:     llvm.getelementptr %[[X]][%[[FAR]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:     llvm.getelementptr %{{.*}}[%[[END]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
tir.func @f(%x: memref<6000000000xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    %0 = tir.load %x[%i * 8 + 2147483647] : memref<6000000000xf32>
    %1 = tir.load %x[%i * 8 + 2147483648] : memref<6000000000xf32>
    %2 = arith.addf %0, %1 : f32
    tir.store %2, %y[%i] : memref<8xf32>
  }
  tir.for %k = 0 to 4 "y.k" {
    %3 = tir.load %x[5000000000 - %k * 1000000000] : memref<6000000000xf32>
    tir.store %3, %y[%k + 4] : memref<8xf32>
  }
}
