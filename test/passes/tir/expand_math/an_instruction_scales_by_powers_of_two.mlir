// RUN: opt-tool %s -p tir-expand-math --verify-roundtrip && opt-tool %s -p tir-expand-math | filecheck %s
// RUN: opt-tool %s -p tir-expand-math,tir-fuse-multiply-add,tir-to-llvm | filecheck %s --check-prefix=CHECK-LLVM
// Where the target has one for as many lanes: AVX512's is there for vectors of 512 bits, and for shorter ones with VL.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "skylake-avx512",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @exponential
  // CHECK:         %[[S:.*]] = math.fma %{{.*}}, %{{.*}}, %[[MAGIC:.*]] : vector<16xf32>
  // CHECK-NEXT:    %[[N:.*]] = arith.subf %[[S]], %[[MAGIC]] : vector<16xf32>
  // CHECK-NOT:     arith.shli
  // CHECK:         %b = tir.intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %[[N]])
  // CHECK-SAME:      : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  // CHECK-LLVM-LABEL: llvm.func internal @exponential.body
  // CHECK-LLVM-DAG:     %[[NONE:.*]] = llvm.mlir.constant(dense<0.000000e+00> : vector<16xf32>) : vector<16xf32>
  // CHECK-LLVM-DAG:     %[[ALL:.*]] = llvm.mlir.constant(-1 : i16) : i16
  // CHECK-LLVM-DAG:     %[[NEAREST:.*]] = llvm.mlir.constant(4 : i32) : i32
  // CHECK-LLVM:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %{{.*}}, %[[NONE]], %[[ALL]], %[[NEAREST]])
  tir.func @exponential(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
    %b = math.exp %a : vector<16xf32>
    tir.store %b, %y[lane] : memref<16xf32>, vector<16xf32>
  }

  // CHECK-LABEL: tir.func @sigmoid
  // CHECK:         %[[FIRST:.*]] = tir.intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK:         %[[T:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<16xf32>
  // CHECK-NEXT:    %d = arith.divf %[[FIRST]], %[[T]] : vector<16xf32>
  tir.func @sigmoid(%x: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
    %one = arith.constant dense<1.0> : vector<16xf32>
    %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
    %b = math.exp %a : vector<16xf32>
    %c = arith.addf %one, %b : vector<16xf32>
    %d = arith.divf %one, %c : vector<16xf32>
    tir.store %d, %y[lane] : memref<16xf32>, vector<16xf32>
  }

  // CHECK-LABEL: tir.func @half_a_vector
  // CHECK-NOT:     tir.intrinsic
  // CHECK:         arith.shli %{{.*}}, %{{.*}} : vector<8xi32>
  tir.func @half_a_vector(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
    %b = math.exp2 %a : vector<8xf32>
    tir.store %b, %y[lane] : memref<8xf32>, vector<8xf32>
  }

  // CHECK-LABEL: tir.func @number
  // CHECK-NOT:     tir.intrinsic
  // CHECK:         arith.shli %{{.*}}, %{{.*}} : i32
  tir.func @number(%x: memref<1xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[0] : memref<1xf32>
    %b = math.exp %a : f32
    tir.store %b, %y[0] : memref<1xf32>
  }
}
