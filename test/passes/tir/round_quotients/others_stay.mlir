// RUN: opt-tool %s -p tir-round-quotients | filecheck %s
// A float of any size; a scale whose mantissa is all ones; a quotient that somebody sees as a float.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+fma,+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @any_size
  // CHECK: arith.divf
  tir.func @any_size(%x: memref<1xf32>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<1xf32>
    %u = arith.constant 3.7 : f32
    %q = arith.divf %a, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }

  // CHECK-LABEL: tir.func @all_ones
  // CHECK: arith.divf
  tir.func @all_ones(%x: memref<1xi32>, %z: memref<1xi32>) {
    %a = tir.load %x[0] : memref<1xi32>
    %af = arith.sitofp %a : i32 to f32
    %u = arith.constant 0x3fffffff : f32
    %q = arith.divf %af, %u : f32
    %r = math.roundeven %q : f32
    %i = arith.fptosi %r : f32 to i32
    tir.store %i, %z[0] : memref<1xi32>
  }

  // CHECK-LABEL: tir.func @float
  // CHECK: arith.divf
  // CHECK: math.roundeven
  tir.func @float(%x: memref<1xi32>, %z: memref<1xf32>) {
    %a = tir.load %x[0] : memref<1xi32>
    %af = arith.sitofp %a : i32 to f32
    %u = arith.constant 3.7 : f32
    %q = arith.divf %af, %u : f32
    %r = math.roundeven %q : f32
    tir.store %r, %z[0] : memref<1xf32>
  }

  // Bounds that are no whole numbers stay behind rounding.
  // CHECK-LABEL: tir.func @half
  // CHECK: math.roundeven
  // CHECK: tir.cast fptosi
  tir.func @half(%x: memref<16xf32>, %z: memref<16xi32>) {
    %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
    %r = math.roundeven %a : vector<16xf32>
    %h = arith.constant dense<2.5> : vector<16xf32>
    %m = arith.minimumf %r, %h : vector<16xf32>
    %i = tir.cast fptosi %m : vector<16xf32> to vector<16xi32>
    tir.store %i, %z[lane] : memref<16xi32>, vector<16xi32>
  }

  // Taken for unsigned, an integer that may be -5 is large: the bounds of what it is rounded to are those of floats.
  // CHECK-LABEL: tir.func @unsigned
  // CHECK: arith.minimumf
  // CHECK-NOT: arith.minsi
  tir.func @unsigned(%x: memref<16xi32>, %z: memref<16xi8>) {
    %a = tir.load %x[lane] : memref<16xi32>, vector<16xi32>
    %l = arith.constant dense<-5> : vector<16xi32>
    %m = arith.maxsi %a, %l : vector<16xi32>
    %u = arith.constant dense<255> : vector<16xi32>
    %n = arith.minsi %m, %u : vector<16xi32>
    %f = tir.cast uitofp %n : vector<16xi32> to vector<16xf32>
    %s = arith.constant dense<0.16> : vector<16xf32>
    %q = arith.divf %f, %s : vector<16xf32>
    %r = math.roundeven %q : vector<16xf32>
    %t = arith.constant dense<255.0> : vector<16xf32>
    %c = arith.minimumf %r, %t : vector<16xf32>
    %i = tir.cast fptoui %c : vector<16xf32> to vector<16xi8>
    tir.store %i, %z[lane] : memref<16xi8>, vector<16xi8>
  }
}
