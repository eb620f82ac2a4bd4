// RUN: opt-tool %s | opt-tool | filecheck %s
// Comparisons and choice, of scalars, vectors and pointers.

// CHECK-LABEL: llvm.func @comparison
llvm.func @comparison(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.icmp "slt" %i, %j : i32
  %0 = llvm.icmp "slt" %i, %j : i32
  // CHECK-NEXT: %1 = llvm.icmp "uge" %n, %n : vector<16xi32>
  %1 = llvm.icmp "uge" %n, %n : vector<16xi32>
  // CHECK-NEXT: %2 = llvm.icmp "eq" %p, %q : !llvm.ptr
  %2 = llvm.icmp "eq" %p, %q : !llvm.ptr
  // CHECK-NEXT: %3 = llvm.fcmp "olt" %f, %f : f32
  %3 = llvm.fcmp "olt" %f, %f : f32
  // CHECK-NEXT: %4 = llvm.fcmp "uno" %v, %w {fastmathFlags = #llvm.fastmath<ninf>} : vector<16xf32>
  %4 = llvm.fcmp "uno" %v, %w {fastmathFlags = #llvm.fastmath<ninf>} : vector<16xf32>
  // CHECK-NEXT: %5 = llvm.fcmp "_true" %f, %f : f32
  %5 = llvm.fcmp "_true" %f, %f : f32
  // CHECK-NEXT: %6 = llvm.select %c, %v, %w : i1, vector<16xf32>
  %6 = llvm.select %c, %v, %w : i1, vector<16xf32>
  // CHECK-NEXT: %7 = llvm.select %m, %v, %w : vector<16xi1>, vector<16xf32>
  %7 = llvm.select %m, %v, %w : vector<16xi1>, vector<16xf32>
  // CHECK-NEXT: %8 = llvm.select %c, %f, %f {fastmathFlags = #llvm.fastmath<nsz>} : i1, f32
  %8 = llvm.select %c, %f, %f {fastmathFlags = #llvm.fastmath<nsz>} : i1, f32
  // CHECK-NEXT: %9 = llvm.freeze %v : vector<16xf32>
  %9 = llvm.freeze %v : vector<16xf32>
  llvm.return
}
