// RUN: opt-tool %s | opt-tool | filecheck %s
// Integer functions. MLIR gives abs, ctlz and cttz no custom syntax.

// CHECK-LABEL: llvm.func @integer_functions
llvm.func @integer_functions(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.intr.bitreverse(%i) : (i32) -> i32
  %0 = llvm.intr.bitreverse(%i) : (i32) -> i32
  // CHECK-NEXT: %1 = llvm.intr.bswap(%i) : (i32) -> i32
  %1 = llvm.intr.bswap(%i) : (i32) -> i32
  // CHECK-NEXT: %2 = llvm.intr.ctpop(%i) : (i32) -> i32
  %2 = llvm.intr.ctpop(%i) : (i32) -> i32
  // CHECK-NEXT: %3 = llvm.intr.smax(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %3 = llvm.intr.smax(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %4 = llvm.intr.smin(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %4 = llvm.intr.smin(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %5 = llvm.intr.umax(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %5 = llvm.intr.umax(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %6 = llvm.intr.umin(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %6 = llvm.intr.umin(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %7 = llvm.intr.sadd.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %7 = llvm.intr.sadd.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %8 = llvm.intr.uadd.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %8 = llvm.intr.uadd.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %9 = llvm.intr.ssub.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %9 = llvm.intr.ssub.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %10 = llvm.intr.usub.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %10 = llvm.intr.usub.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %11 = llvm.intr.sshl.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %11 = llvm.intr.sshl.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %12 = llvm.intr.ushl.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  %12 = llvm.intr.ushl.sat(%n, %n) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  // CHECK-NEXT: %13 = llvm.intr.fshl(%i, %j, %i) : (i32, i32, i32) -> i32
  %13 = llvm.intr.fshl(%i, %j, %i) : (i32, i32, i32) -> i32
  // CHECK-NEXT: %14 = llvm.intr.fshr(%i, %j, %i) : (i32, i32, i32) -> i32
  %14 = llvm.intr.fshr(%i, %j, %i) : (i32, i32, i32) -> i32
  // CHECK-NEXT: %15 = "llvm.intr.abs"(%i) <{is_int_min_poison = false}> : (i32) -> i32
  %15 = "llvm.intr.abs"(%i) <{is_int_min_poison = false}> : (i32) -> i32
  // CHECK-NEXT: %16 = "llvm.intr.ctlz"(%i) <{is_zero_poison = true}> : (i32) -> i32
  %16 = "llvm.intr.ctlz"(%i) <{is_zero_poison = true}> : (i32) -> i32
  // CHECK-NEXT: %17 = "llvm.intr.cttz"(%i) <{is_zero_poison = false}> : (i32) -> i32
  %17 = "llvm.intr.cttz"(%i) <{is_zero_poison = false}> : (i32) -> i32
  llvm.return
}
