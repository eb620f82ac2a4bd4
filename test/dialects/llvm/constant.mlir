// RUN: opt-tool %s | opt-tool | filecheck %s
// Constants and addresses.

// CHECK-LABEL: llvm.func @constant
llvm.func @constant(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.mlir.constant(42 : i32) : i32
  %0 = llvm.mlir.constant(42 : i32) : i32
  // CHECK-NEXT: %1 = llvm.mlir.constant(42) : i64
  %1 = llvm.mlir.constant(42) : i64
  // CHECK-NEXT: %2 = llvm.mlir.constant(true) : i1
  %2 = llvm.mlir.constant(true) : i1
  // CHECK-NEXT: %3 = llvm.mlir.constant(1.500000e+00 : f32) : f32
  %3 = llvm.mlir.constant(1.500000e+00 : f32) : f32
  // CHECK-NEXT: %4 = llvm.mlir.constant(dense<0.000000e+00> : vector<16xf32>) : vector<16xf32>
  %4 = llvm.mlir.constant(dense<0.000000e+00> : vector<16xf32>) : vector<16xf32>
  // CHECK-NEXT: %5 = llvm.mlir.constant(dense<[1, 2]> : vector<2xi32>) : vector<2xi32>
  %5 = llvm.mlir.constant(dense<[1, 2]> : vector<2xi32>) : vector<2xi32>
  // CHECK-NEXT: %6 = llvm.mlir.undef : vector<16xf32>
  %6 = llvm.mlir.undef : vector<16xf32>
  // CHECK-NEXT: %7 = llvm.mlir.poison : vector<16xf32>
  %7 = llvm.mlir.poison : vector<16xf32>
  // CHECK-NEXT: %8 = llvm.mlir.zero : !llvm.ptr
  %8 = llvm.mlir.zero : !llvm.ptr
  llvm.return
}
