// RUN: opt-tool %s -p tir-round-quotients,canonicalize | filecheck %s
// Bounds that no integer of 32 bits has bound nothing; one that is no number leaves the floats.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl,+fma", vector_bits = 512, registers = 32, threads = 1>} {
  tir.func @above(%x: memref<16xi8>, %y: memref<16xi8>) {
    %a = tir.load %x[lane] : memref<16xi8>, vector<16xi8>
    %f = tir.cast sitofp %a : vector<16xi8> to vector<16xf32>
    %r = math.roundeven %f : vector<16xf32>
    %most = arith.constant dense<1.0e10> : vector<16xf32>
    %b = arith.minimumf %r, %most : vector<16xf32>
    %least = arith.constant dense<0xFF800000> : vector<16xf32>
    %c = arith.maximumf %b, %least : vector<16xf32>
    %z = tir.cast fptosi %c : vector<16xf32> to vector<16xi8>
    tir.store %z, %y[lane] : memref<16xi8>, vector<16xi8>
  }
  tir.func @none(%x: memref<16xi8>, %y: memref<16xi8>) {
    %a = tir.load %x[lane] : memref<16xi8>, vector<16xi8>
    %f = tir.cast sitofp %a : vector<16xi8> to vector<16xf32>
    %r = math.roundeven %f : vector<16xf32>
    %most = arith.constant dense<0x7FC00000> : vector<16xf32>
    %b = arith.minimumf %r, %most : vector<16xf32>
    %z = tir.cast fptosi %b : vector<16xf32> to vector<16xi8>
    tir.store %z, %y[lane] : memref<16xi8>, vector<16xi8>
  }
}

// CHECK-LABEL: tir.func @above
// CHECK:         tir.intrinsic "llvm.lrint.v16i32.v16f32"
// CHECK-DAG:     [[MOST:%.+]] = arith.constant dense<2147483647> : vector<16xi32>
// CHECK-DAG:     arith.minsi %{{.+}}, [[MOST]]
// CHECK-DAG:     [[LEAST:%.+]] = arith.constant dense<-2147483648> : vector<16xi32>
// CHECK-DAG:     arith.maxsi %{{.+}}, [[LEAST]]
// CHECK-LABEL: tir.func @none
// CHECK:         math.roundeven
// CHECK:         tir.cast fptosi
