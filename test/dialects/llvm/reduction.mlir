// RUN: opt-tool %s | opt-tool | filecheck %s
// Reductions of a vector to a scalar.

// CHECK-LABEL: llvm.func @reduction
llvm.func @reduction(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = "llvm.intr.vector.reduce.add"(%n) : (vector<16xi32>) -> i32
  %0 = "llvm.intr.vector.reduce.add"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %1 = "llvm.intr.vector.reduce.mul"(%n) : (vector<16xi32>) -> i32
  %1 = "llvm.intr.vector.reduce.mul"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %2 = "llvm.intr.vector.reduce.and"(%n) : (vector<16xi32>) -> i32
  %2 = "llvm.intr.vector.reduce.and"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %3 = "llvm.intr.vector.reduce.or"(%n) : (vector<16xi32>) -> i32
  %3 = "llvm.intr.vector.reduce.or"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %4 = "llvm.intr.vector.reduce.xor"(%n) : (vector<16xi32>) -> i32
  %4 = "llvm.intr.vector.reduce.xor"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %5 = "llvm.intr.vector.reduce.smax"(%n) : (vector<16xi32>) -> i32
  %5 = "llvm.intr.vector.reduce.smax"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %6 = "llvm.intr.vector.reduce.smin"(%n) : (vector<16xi32>) -> i32
  %6 = "llvm.intr.vector.reduce.smin"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %7 = "llvm.intr.vector.reduce.umax"(%n) : (vector<16xi32>) -> i32
  %7 = "llvm.intr.vector.reduce.umax"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %8 = "llvm.intr.vector.reduce.umin"(%n) : (vector<16xi32>) -> i32
  %8 = "llvm.intr.vector.reduce.umin"(%n) : (vector<16xi32>) -> i32
  // CHECK-NEXT: %9 = llvm.intr.vector.reduce.fmax(%v) : (vector<16xf32>) -> f32
  %9 = llvm.intr.vector.reduce.fmax(%v) : (vector<16xf32>) -> f32
  // CHECK-NEXT: %10 = llvm.intr.vector.reduce.fmin(%v) : (vector<16xf32>) -> f32
  %10 = llvm.intr.vector.reduce.fmin(%v) : (vector<16xf32>) -> f32
  // CHECK-NEXT: %11 = llvm.intr.vector.reduce.fmaximum(%v) : (vector<16xf32>) -> f32
  %11 = llvm.intr.vector.reduce.fmaximum(%v) : (vector<16xf32>) -> f32
  // CHECK-NEXT: %12 = llvm.intr.vector.reduce.fminimum(%v) : (vector<16xf32>) -> f32
  %12 = llvm.intr.vector.reduce.fminimum(%v) : (vector<16xf32>) -> f32
  // CHECK-NEXT: %13 = "llvm.intr.vector.reduce.fadd"(%f, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<16xf32>) -> f32
  %13 = "llvm.intr.vector.reduce.fadd"(%f, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<16xf32>) -> f32
  // CHECK-NEXT: %14 = "llvm.intr.vector.reduce.fmul"(%f, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<16xf32>) -> f32
  %14 = "llvm.intr.vector.reduce.fmul"(%f, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<16xf32>) -> f32
  llvm.return
}
