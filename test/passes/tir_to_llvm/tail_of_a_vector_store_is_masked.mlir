// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// A lane is in where 9 - 4o - lane >= 0. A store without a guard has no mask.

tir.func @guarded(%x: memref<12xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.0" {
    %v = tir.load %x[%o * 4 + lane] : memref<12xf32>, vector<4xf32>
    tir.store %v, %y[%o * 4 + lane] where [%o * -4 + lane * -1 + 9 >= 0] : memref<10xf32>, vector<4xf32>
  }
}
tir.func @whole(%x: memref<12xf32>, %y: memref<12xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.0" {
    %v = tir.load %x[%o * 4 + lane] : memref<12xf32>, vector<4xf32>
    tir.store %v, %y[%o * 4 + lane] : memref<12xf32>, vector<4xf32>
  }
}

// CHECK-LABEL: llvm.func internal @guarded.body
// CHECK: [[LANES:%.+]] = llvm.mlir.constant(dense<[0, -1, -2, -3]> : vector<4xi64>)
// CHECK: [[ALL:%.+]] = llvm.shufflevector %{{.+}} [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT: [[LEFT:%.+]] = llvm.add [[ALL]], [[LANES]] : vector<4xi64>
// CHECK-NEXT: [[MASK:%.+]] = llvm.icmp "sge" [[LEFT]], %{{.+}} : vector<4xi64>
// CHECK: llvm.intr.masked.store %v, %{{.+}}, [[MASK]] {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr

// CHECK-LABEL: llvm.func internal @whole.body
// CHECK-NOT: masked
// CHECK: llvm.store %{{.+}} : vector<4xf32>, !llvm.ptr
