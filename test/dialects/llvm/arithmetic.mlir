// RUN: opt-tool %s | opt-tool | filecheck %s
// Integer and float arithmetic with its flags.

// CHECK-LABEL: llvm.func @arithmetic
llvm.func @arithmetic(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.add %i, %j : i32
  %0 = llvm.add %i, %j : i32
  // CHECK-NEXT: %1 = llvm.add %i, %j overflow<nsw,nuw> : i32
  %1 = llvm.add %i, %j overflow<nsw,nuw> : i32
  // CHECK-NEXT: %2 = llvm.sub %n, %n : vector<16xi32>
  %2 = llvm.sub %n, %n : vector<16xi32>
  // CHECK-NEXT: %3 = llvm.mul %i, %j overflow<nuw> : i32
  %3 = llvm.mul %i, %j overflow<nuw> : i32
  // CHECK-NEXT: %4 = llvm.udiv exact %i, %j : i32
  %4 = llvm.udiv exact %i, %j : i32
  // CHECK-NEXT: %5 = llvm.sdiv %i, %j : i32
  %5 = llvm.sdiv %i, %j : i32
  // CHECK-NEXT: %6 = llvm.urem %i, %j : i32
  %6 = llvm.urem %i, %j : i32
  // CHECK-NEXT: %7 = llvm.srem %i, %j : i32
  %7 = llvm.srem %i, %j : i32
  // CHECK-NEXT: %8 = llvm.and %i, %j : i32
  %8 = llvm.and %i, %j : i32
  // CHECK-NEXT: %9 = llvm.or disjoint %i, %j : i32
  %9 = llvm.or disjoint %i, %j : i32
  // CHECK-NEXT: %10 = llvm.xor %i, %j : i32
  %10 = llvm.xor %i, %j : i32
  // CHECK-NEXT: %11 = llvm.shl %i, %j overflow<nsw> : i32
  %11 = llvm.shl %i, %j overflow<nsw> : i32
  // CHECK-NEXT: %12 = llvm.lshr exact %i, %j : i32
  %12 = llvm.lshr exact %i, %j : i32
  // CHECK-NEXT: %13 = llvm.ashr %i, %j : i32
  %13 = llvm.ashr %i, %j : i32
  // CHECK-NEXT: %14 = llvm.fadd %v, %w : vector<16xf32>
  %14 = llvm.fadd %v, %w : vector<16xf32>
  // CHECK-NEXT: %15 = llvm.fsub %f, %f {fastmathFlags = #llvm.fastmath<contract>} : f32
  %15 = llvm.fsub %f, %f {fastmathFlags = #llvm.fastmath<contract>} : f32
  // CHECK-NEXT: %16 = llvm.fmul %h, %h : f16
  %16 = llvm.fmul %h, %h : f16
  // CHECK-NEXT: %17 = llvm.fdiv %d, %d {fastmathFlags = #llvm.fastmath<reassoc>} : f64
  %17 = llvm.fdiv %d, %d {fastmathFlags = #llvm.fastmath<reassoc>} : f64
  // CHECK-NEXT: %18 = llvm.frem %f, %f : f32
  %18 = llvm.frem %f, %f : f32
  // CHECK-NEXT: %19 = llvm.fneg %v : vector<16xf32>
  %19 = llvm.fneg %v : vector<16xf32>
  llvm.return
}
