// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// A select that is decided leaves out what it does not choose, but no check: the program ends in an error where that fails.

// CHECK-LABEL: @f.body
// CHECK:         "llvm.intr.vector.reduce.and"
// CHECK:         llvm.intr.masked.store %{{.*}}, %status
// CHECK-NOT:     llvm.add
// CHECK-NOT:     llvm.select
// CHECK:         llvm.store %v, %y
tir.func @f(%x: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
  tir.for %e = 0 to 1 unrolled "y.e" {
    %v = tir.load %x[lane] : memref<4xi32>, vector<4xi32>
    %zero = arith.constant dense<0> : vector<4xi32>
    %ok = tir.compare ne, %v, %zero : vector<4xi32>
    %far = tir.condition [%e - 1 >= 0] : i1
    %c = tir.check %v, %ok "integer division by zero" : vector<4xi32>
    %q = arith.addi %c, %v : vector<4xi32>
    %w = arith.select %far, %q, %v : vector<4xi32>
    tir.store %w, %y[lane] : memref<4xi32>, vector<4xi32>
  }
}
func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%x, %y) : memref<4xi32>, memref<4xi32>
  func.return
}
