// RUN: opt-tool %s | opt-tool | filecheck %s
// Atomic access.

// CHECK-LABEL: llvm.func @atomic
llvm.func @atomic(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
  %0 = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
  // CHECK-NEXT: %1 = llvm.load %p atomic syncscope("agent") monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %1 = llvm.load %p atomic syncscope("agent") monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  // CHECK-NEXT: llvm.store %k, %p atomic release {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.store %k, %p atomic release {alignment = 8 : i64} : i64, !llvm.ptr
  // CHECK-NEXT: %2 = llvm.atomicrmw add %p, %k monotonic : !llvm.ptr, i64
  %2 = llvm.atomicrmw add %p, %k monotonic : !llvm.ptr, i64
  // CHECK-NEXT: %3 = llvm.atomicrmw volatile _and %p, %k syncscope("agent") seq_cst {alignment = 8 : i64} : !llvm.ptr, i64
  %3 = llvm.atomicrmw volatile _and %p, %k syncscope("agent") seq_cst {alignment = 8 : i64} : !llvm.ptr, i64
  // CHECK-NEXT: %4 = llvm.atomicrmw fadd %p, %f acq_rel : !llvm.ptr, f32
  %4 = llvm.atomicrmw fadd %p, %f acq_rel : !llvm.ptr, f32
  // CHECK-NEXT: %5 = llvm.cmpxchg %p, %k, %k acq_rel monotonic : !llvm.ptr, i64
  %5 = llvm.cmpxchg %p, %k, %k acq_rel monotonic : !llvm.ptr, i64
  // CHECK-NEXT: %6 = llvm.cmpxchg weak volatile %p, %i, %j seq_cst acquire {alignment = 4 : i64} : !llvm.ptr, i32
  %6 = llvm.cmpxchg weak volatile %p, %i, %j seq_cst acquire {alignment = 4 : i64} : !llvm.ptr, i32
  // CHECK-NEXT: llvm.fence acquire
  llvm.fence acquire
  // CHECK-NEXT: llvm.fence syncscope("agent") seq_cst
  llvm.fence syncscope("agent") seq_cst
  llvm.return
}
