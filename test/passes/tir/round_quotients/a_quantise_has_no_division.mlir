// RUN: opt-tool %s -p tir-round-quotients | filecheck %s
// RUN: lamina debug compare --quiet %s -p tir-round-quotients
// Bytes of two scales are added, and the sum is brought to a third.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+fma,+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @sum
  // CHECK:      %[[X:.*]] = math.fma
  // CHECK-NOT:  divf
  // CHECK-DAG:  %[[I:.*]] = arith.constant dense<6.25
  // CHECK-DAG:  %[[S:.*]] = arith.constant dense<-1.6
  // CHECK:      %[[P:.*]] = arith.mulf %[[X]], %[[I]]
  // CHECK-NEXT: %[[E:.*]] = math.fma %[[P]], %[[S]], %[[X]]
  // CHECK-NEXT: %[[Q:.*]] = math.fma %[[E]], %[[I]], %[[P]]
  // CHECK-NOT:  roundeven
  // CHECK:      %[[W:.*]] = tir.intrinsic "llvm.lrint.v16i32.v16f32"(%[[Q]])
  // CHECK:      %[[A:.*]] = arith.maxsi %[[W]]
  // CHECK:      %[[B:.*]] = arith.minsi %[[A]]
  // CHECK-NEXT: tir.cast trunci %[[B]]
  tir.func @sum(%x: memref<16xui8>, %y: memref<16xi8>, %z: memref<16xui8>) {
    %a = tir.load %x[lane] : memref<16xui8>, vector<16xi8>
    %b = tir.load %y[lane] : memref<16xi8>, vector<16xi8>
    %af = tir.cast uitofp %a : vector<16xi8> to vector<16xf32>
    %bf = tir.cast sitofp %b : vector<16xi8> to vector<16xf32>
    %s = arith.constant dense<0.3> : vector<16xf32>
    %t = arith.constant dense<0.7> : vector<16xf32>
    %p = arith.mulf %af, %s : vector<16xf32>
    %sum = math.fma %bf, %t, %p : vector<16xf32>
    %u = arith.constant dense<0.16> : vector<16xf32>
    %q = arith.divf %sum, %u : vector<16xf32>
    %r = math.roundeven %q : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %most = arith.constant dense<255.0> : vector<16xf32>
    %low = arith.maximumf %r, %zero : vector<16xf32>
    %high = arith.minimumf %low, %most : vector<16xf32>
    %i = tir.cast fptoui %high : vector<16xf32> to vector<16xi8>
    tir.store %i, %z[lane] : memref<16xui8>, vector<16xi8>
  }
}
