// RUN: opt-tool %s | opt-tool | filecheck %s
// Conversions between types.

// CHECK-LABEL: llvm.func @conversion
llvm.func @conversion(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.trunc %k : i64 to i32
  %0 = llvm.trunc %k : i64 to i32
  // CHECK-NEXT: %1 = llvm.trunc %k overflow<nsw> : i64 to i32
  %1 = llvm.trunc %k overflow<nsw> : i64 to i32
  // CHECK-NEXT: %2 = llvm.zext nneg %i : i32 to i64
  %2 = llvm.zext nneg %i : i32 to i64
  // CHECK-NEXT: %3 = llvm.sext %i : i32 to i64
  %3 = llvm.sext %i : i32 to i64
  // CHECK-NEXT: %4 = llvm.sitofp %n : vector<16xi32> to vector<16xf32>
  %4 = llvm.sitofp %n : vector<16xi32> to vector<16xf32>
  // CHECK-NEXT: %5 = llvm.uitofp nneg %i : i32 to f32
  %5 = llvm.uitofp nneg %i : i32 to f32
  // CHECK-NEXT: %6 = llvm.uitofp %i : i32 to f32
  %6 = llvm.uitofp %i : i32 to f32
  // CHECK-NEXT: %7 = llvm.fptosi %v : vector<16xf32> to vector<16xi32>
  %7 = llvm.fptosi %v : vector<16xf32> to vector<16xi32>
  // CHECK-NEXT: %8 = llvm.fptoui %f : f32 to i32
  %8 = llvm.fptoui %f : f32 to i32
  // CHECK-NEXT: %9 = llvm.fpext %f : f32 to f64
  %9 = llvm.fpext %f : f32 to f64
  // CHECK-NEXT: %10 = llvm.fptrunc %f : f32 to bf16
  %10 = llvm.fptrunc %f : f32 to bf16
  // CHECK-NEXT: %11 = llvm.bitcast %v : vector<16xf32> to vector<16xi32>
  %11 = llvm.bitcast %v : vector<16xf32> to vector<16xi32>
  // CHECK-NEXT: %12 = llvm.ptrtoint %p : !llvm.ptr to i64
  %12 = llvm.ptrtoint %p : !llvm.ptr to i64
  // CHECK-NEXT: %13 = llvm.inttoptr %k : i64 to !llvm.ptr
  %13 = llvm.inttoptr %k : i64 to !llvm.ptr
  // CHECK-NEXT: %14 = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<1>
  %14 = llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<1>
  // CHECK-NEXT: %15 = llvm.call_intrinsic "llvm.fptosi.sat"(%f) : (f32) -> i8
  %15 = llvm.call_intrinsic "llvm.fptosi.sat"(%f) : (f32) -> i8
  llvm.return
}
