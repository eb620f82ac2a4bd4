// RUN: opt-tool %s | opt-tool | filecheck %s
// Access by mask, and by a vector of addresses.

// CHECK-LABEL: llvm.func @masked
llvm.func @masked(%i: i32, %j: i32, %k: i64, %f: f32, %d: f64, %h: f16, %v: vector<16xf32>, %w: vector<16xf32>, %n: vector<16xi32>, %m: vector<16xi1>, %p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %ps: vector<16x!llvm.ptr>) {
  // CHECK-NEXT: %0 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  %0 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: %1 = llvm.intr.masked.load %p, %m {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>) -> vector<16xf32>
  %1 = llvm.intr.masked.load %p, %m {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>) -> vector<16xf32>
  // CHECK-NEXT: llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
  llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
  // CHECK-NEXT: llvm.intr.masked.store %n, %p, %m {alignment = 4 : i32} : vector<16xi32>, vector<16xi1> into !llvm.ptr
  llvm.intr.masked.store %n, %p, %m {alignment = 4 : i32} : vector<16xi32>, vector<16xi1> into !llvm.ptr
  // CHECK-NEXT: %2 = llvm.intr.masked.gather %ps, %m, %v {alignment = 4 : i32} : (vector<16x!llvm.ptr>, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  %2 = llvm.intr.masked.gather %ps, %m, %v {alignment = 4 : i32} : (vector<16x!llvm.ptr>, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  // CHECK-NEXT: llvm.intr.masked.scatter %v, %ps, %m {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into vector<16x!llvm.ptr>
  llvm.intr.masked.scatter %v, %ps, %m {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into vector<16x!llvm.ptr>
  llvm.return
}
