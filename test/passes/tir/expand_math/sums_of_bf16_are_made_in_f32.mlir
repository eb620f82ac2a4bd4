// RUN: opt-tool %s -p tir-expand-math | filecheck %s
// Where the machine does not round to bf16, LLVM would call a function for each lane.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3",
    features = "+avx,+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<16xbf16>, %y: memref<16xbf16>) attributes {outputs = 1 : i64} {
    %a = tir.load %x[lane] : memref<16xbf16>, vector<16xbf16>
    %p = arith.mulf %a, %a : vector<16xbf16>
    %s = arith.addf %p, %a : vector<16xbf16>
    %n = arith.negf %s : vector<16xbf16>
    tir.store %n, %y[lane] : memref<16xbf16>, vector<16xbf16>
  }
}
// CHECK:      %[[X:.*]] = arith.extf %a : vector<16xbf16> to vector<16xf32>
// CHECK:      %[[P:.*]] = arith.mulf %[[X]], %{{.*}} : vector<16xf32>
// CHECK-NEXT: %p = arith.truncf %[[P]] : vector<16xf32> to vector<16xbf16>
// CHECK:      arith.extf %p
// CHECK:      arith.addf {{.*}} : vector<16xf32>
// CHECK-NEXT: %s = arith.truncf
// CHECK-NEXT: arith.negf %s : vector<16xbf16>
