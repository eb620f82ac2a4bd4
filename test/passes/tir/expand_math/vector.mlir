// RUN: opt-tool %s -p tir-expand-math --verify-roundtrip && opt-tool %s -p tir-expand-math | filecheck %s
// RUN: opt-tool %s -p tir-expand-math,tir-fuse-multiply-add,tir-to-llvm | filecheck %s --check-prefix=LLVM

// Vectors stay vectors: no call of the C library is left.
// CHECK-LABEL: tir.func @f
// CHECK: arith.constant dense<-1.000000e+01> : vector<16xf32>
// CHECK: arith.shli %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: %b = math.copysign %{{.*}}, %a : vector<16xf32>
// CHECK: %c = math.copysign %{{.*}}, %b : vector<16xf32>
// CHECK: %d = arith.mulf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: %e = arith.addf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: %g = arith.addf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK-NEXT: tir.store %g
// LLVM-NOT: llvm.call @{{erf|tanh|exp|log}}
// LLVM-NOT: llvm.intr.{{exp|log|tanh}}
// LLVM: llvm.store %{{.*}}, %y
tir.func @f(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
  %b = math.tanh %a : vector<16xf32>
  %c = math.erf %b : vector<16xf32>
  %d = math.exp %c : vector<16xf32>
  %e = math.log %d : vector<16xf32>
  %g = math.log2 %e : vector<16xf32>
  tir.store %g, %y[lane] : memref<16xf32>, vector<16xf32>
}
