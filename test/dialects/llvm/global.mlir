// RUN: opt-tool %s | opt-tool | filecheck %s
// Globals with dense data, and with an initializer that takes addresses.

// CHECK: llvm.mlir.global internal constant @numbers(dense<{{\[}}[0, 1], [2, 3]]> : tensor<2x2xi64>) {{.*}} : !llvm.array<2 x !llvm.array<2 x i64>>
llvm.mlir.global internal constant @numbers(dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>)
    {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x array<2 x i64>>

// CHECK: llvm.mlir.global external constant @table() {addr_space = 0 : i32} : !llvm.struct<(!llvm.ptr, i64)> {
llvm.mlir.global constant @table() {addr_space = 0 : i32} : !llvm.struct<(ptr, i64)> {
  // CHECK: %[[START:.*]] = llvm.mlir.poison
  %0 = llvm.mlir.poison : !llvm.struct<(ptr, i64)>
  %1 = llvm.mlir.addressof @numbers : !llvm.ptr
  // CHECK: llvm.insertvalue %{{.*}}, %[[START]][0]
  %2 = llvm.insertvalue %1, %0[0] : !llvm.struct<(ptr, i64)>
  llvm.return %2 : !llvm.struct<(ptr, i64)>
}
