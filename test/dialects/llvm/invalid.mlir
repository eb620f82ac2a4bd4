// RUN: opt-tool %s --split-input-file --verify-diagnostics
// What the ops of this level refuse.

llvm.func @compares_two_types(%a: i32, %b: i64) {
  // expected-error@+1 {{compares i32 with i64}}
  %0 = "llvm.icmp"(%a, %b) <{predicate = 0 : i64}> : (i32, i64) -> i1
  llvm.return
}
// -----
llvm.func @unknown_predicate(%a: i32) {
  // expected-error@+1 {{unknown predicate 'less'}}
  %0 = llvm.icmp "less" %a, %a : i32
  llvm.return
}
// -----
llvm.func @mask_of_another_length(%p: !llvm.ptr, %m: vector<8xi1>, %v: vector<16xf32>) {
  // expected-error@+1 {{vectors of different length}}
  llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<16xf32>, vector<8xi1> into !llvm.ptr
  llvm.return
}
// -----
llvm.func @reduces_to_another_type(%v: vector<16xf32>) {
  // expected-error@+1 {{reduces vector<16xf32> to f32, not f64}}
  %0 = llvm.intr.vector.reduce.fmax(%v) : (vector<16xf32>) -> f64
  llvm.return
}
// -----
llvm.func @condition_of_another_length(%m: vector<8xi1>, %v: vector<16xf32>) {
  // expected-error@+1 {{condition is i1 or vector<16xi1>}}
  %0 = llvm.select %m, %v, %v : vector<8xi1>, vector<16xf32>
  llvm.return
}
// -----
llvm.func @unknown_ordering(%p: !llvm.ptr) {
  // expected-error@+1 {{unknown atomic ordering 'strong'}}
  %0 = llvm.load %p atomic strong {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.return
}
// -----
llvm.func @unknown_atomic(%p: !llvm.ptr, %i: i32) {
  // expected-error@+1 {{unknown atomic operation 'times'}}
  %0 = llvm.atomicrmw times %p, %i monotonic : !llvm.ptr, i32
  llvm.return
}
// -----
llvm.func @index_into_a_scalar(%p: !llvm.ptr) {
  // expected-error@+1 {{cannot index into f32}}
  %0 = llvm.getelementptr %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.return
}
// -----
llvm.func @field_out_of_range(%p: !llvm.ptr) {
  // expected-error@+1 {{a struct with 2 fields}}
  %0 = llvm.getelementptr %p[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, i64)>
  llvm.return
}
// -----
llvm.func @element_of_a_scalar(%i: i32) {
  // expected-error@+1 {{expected a vector type, got i32}}
  %0 = llvm.extractelement %i[%i : i32] : i32
  llvm.return
}
