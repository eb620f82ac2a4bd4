// RUN: opt-tool %s -p tir-round-quotients | filecheck %s
// RUN: lamina debug compare --quiet %s -p tir-round-quotients
// 32 bits times a thousand are no integers of 32 bits: the bounds stay floats, before the conversion.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+fma,+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @large
  // CHECK:      %[[A:.*]] = arith.maximumf
  // CHECK:      %[[B:.*]] = arith.minimumf %[[A]]
  // CHECK-NEXT: %[[W:.*]] = tir.intrinsic "llvm.lrint.v16i32.v16f32"(%[[B]])
  // CHECK-NEXT: tir.cast trunci %[[W]]
  tir.func @large(%x: memref<16xi32>, %z: memref<16xui8>) {
    %a = tir.load %x[lane] : memref<16xi32>, vector<16xi32>
    %af = tir.cast sitofp %a : vector<16xi32> to vector<16xf32>
    %s = arith.constant dense<1000.0> : vector<16xf32>
    %p = arith.mulf %af, %s : vector<16xf32>
    %r = math.roundeven %p : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %most = arith.constant dense<255.0> : vector<16xf32>
    %low = arith.maximumf %r, %zero : vector<16xf32>
    %high = arith.minimumf %low, %most : vector<16xf32>
    %i = tir.cast fptoui %high : vector<16xf32> to vector<16xi8>
    tir.store %i, %z[lane] : memref<16xui8>, vector<16xi8>
  }
}
