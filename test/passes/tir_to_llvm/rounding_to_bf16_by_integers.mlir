// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Without an instruction LLVM would call a function for each lane, as it does still from f64.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3",
    features = "+avx,+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  tir.func @lanes(%x: memref<8xf32>, %y: memref<8xbf16>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[lane] : memref<8xf32>, vector<8xf32>
    %b = arith.truncf %a : vector<8xf32> to vector<8xbf16>
    tir.store %b, %y[lane] : memref<8xbf16>, vector<8xbf16>
  }
  tir.func @number(%x: memref<1xf32>, %y: memref<1xbf16>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[0] : memref<1xf32>
    %b = arith.truncf %a : f32 to bf16
    tir.store %b, %y[0] : memref<1xbf16>
  }
  tir.func @double(%x: memref<1xf64>, %y: memref<1xbf16>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[0] : memref<1xf64>
    %b = arith.truncf %a : f64 to bf16
    tir.store %b, %y[0] : memref<1xbf16>
  }
}
// CHECK-LABEL: @lanes
// CHECK-NOT:     fptrunc
// CHECK:         llvm.bitcast %a : vector<8xf32> to vector<8xi32>
// CHECK:         llvm.fcmp "uno" %a, %a : vector<8xf32>
// CHECK:         %b = llvm.trunc {{.*}} : vector<8xi32> to vector<8xi16>
// CHECK-LABEL: @number
// CHECK-NOT:     fptrunc
// CHECK:         %b_{{.*}} = llvm.trunc {{.*}} : i32 to i16
// CHECK-LABEL: @double
// CHECK:         llvm.fptrunc %a{{.*}} : f64 to bf16
