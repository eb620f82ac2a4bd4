// RUN: opt-tool %s | opt-tool | filecheck %s
// Elements of vectors and aggregates.

// CHECK-LABEL: llvm.func @vector
llvm.func @vector(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.extractelement %v[%i : i32] : vector<16xf32>
  %0 = llvm.extractelement %v[%i : i32] : vector<16xf32>
  // CHECK-NEXT: %1 = llvm.insertelement %f, %v[%i : i32] : vector<16xf32>
  %1 = llvm.insertelement %f, %v[%i : i32] : vector<16xf32>
  // CHECK-NEXT: %2 = llvm.shufflevector %v, %w [0, 16, 1, 17] : vector<16xf32>
  %2 = llvm.shufflevector %v, %w [0, 16, 1, 17] : vector<16xf32>
  // CHECK-NEXT: %3 = llvm.mlir.undef : !llvm.struct<(i64, !llvm.array<2 x f32>)>
  %3 = llvm.mlir.undef : !llvm.struct<(i64, !llvm.array<2 x f32>)>
  // CHECK-NEXT: %4 = llvm.insertvalue %f, %3[1, 0] : !llvm.struct<(i64, !llvm.array<2 x f32>)>
  %4 = llvm.insertvalue %f, %3[1, 0] : !llvm.struct<(i64, !llvm.array<2 x f32>)>
  // CHECK-NEXT: %5 = llvm.extractvalue %4[1, 0] : !llvm.struct<(i64, !llvm.array<2 x f32>)>
  %5 = llvm.extractvalue %4[1, 0] : !llvm.struct<(i64, !llvm.array<2 x f32>)>
  llvm.return
}
