// RUN: opt-tool %s -p tir-rescale-integers | filecheck %s
// RUN: lamina debug compare --quiet %s -p tir-rescale-integers
// Rounded numbers within bounds and bytes are added; the sum goes through bytes to another scale, which are no bytes now.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+fma,+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @sum
  // CHECK:      %[[I:.*]] = tir.cast fptosi
  // CHECK-NOT:  addi
  // CHECK:      %[[LOW:.*]] = arith.constant dense<-114>
  // CHECK-NEXT: %[[A:.*]] = arith.maxsi %[[I]], %[[LOW]]
  // CHECK-NEXT: %[[HIGH:.*]] = arith.constant dense<141>
  // CHECK-NEXT: %[[B:.*]] = arith.minsi %[[A]], %[[HIGH]]
  // CHECK:      %[[F:.*]] = tir.cast sitofp %[[B]]
  // CHECK:      %[[P:.*]] = arith.mulf %[[F]], %{{.*}}
  // CHECK-NEXT: %[[Q:.*]] = math.fma %{{.*}}, %{{.*}}, %[[P]]
  // CHECK-NEXT: %[[R:.*]] = math.roundeven %[[Q]]
  // CHECK-NOT:  tir.cast
  // CHECK:      %[[M:.*]] = arith.mulf %[[R]]
  // CHECK-NEXT: math.roundeven %[[M]]
  tir.func @sum(%x: memref<16xf32>, %y: memref<16xui8>, %z: memref<16xui8>) {
    %a = tir.load %x[lane] : memref<16xf32>, vector<16xf32>
    %b = tir.load %y[lane] : memref<16xui8>, vector<16xi8>
    %whole = math.roundeven %a : vector<16xf32>
    %int = tir.cast fptosi %whole : vector<16xf32> to vector<16xi32>
    %point = arith.constant dense<114> : vector<16xi32>
    %from = arith.addi %int, %point : vector<16xi32>
    %none = arith.constant dense<0> : vector<16xi32>
    %byte = arith.constant dense<255> : vector<16xi32>
    %low = arith.maxsi %from, %none : vector<16xi32>
    %high = arith.minsi %low, %byte : vector<16xi32>
    %back = arith.subi %high, %point : vector<16xi32>
    %af = tir.cast sitofp %back : vector<16xi32> to vector<16xf32>
    %bf = tir.cast uitofp %b : vector<16xi8> to vector<16xf32>
    %s = arith.constant dense<0.28> : vector<16xf32>
    %t = arith.constant dense<0.12> : vector<16xf32>
    %p = arith.mulf %af, %s : vector<16xf32>
    %o = arith.mulf %bf, %t : vector<16xf32>
    %sum = arith.addf %p, %o : vector<16xf32>
    %u = arith.constant dense<0.29> : vector<16xf32>
    %q = arith.divf %sum, %u : vector<16xf32>
    %r = math.roundeven %q : vector<16xf32>
    %other = arith.constant dense<112.0> : vector<16xf32>
    %moved = arith.addf %r, %other : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %most = arith.constant dense<255.0> : vector<16xf32>
    %l = arith.maximumf %moved, %zero : vector<16xf32>
    %h = arith.minimumf %l, %most : vector<16xf32>
    %i = tir.cast fptoui %h : vector<16xf32> to vector<16xi8>
    %e = tir.cast extui %i : vector<16xi8> to vector<16xi32>
    %minus = arith.constant dense<112> : vector<16xi32>
    %c = arith.subi %e, %minus : vector<16xi32>
    %cf = tir.cast sitofp %c : vector<16xi32> to vector<16xf32>
    %v = arith.mulf %cf, %u : vector<16xf32>
    %w = arith.constant dense<0.16> : vector<16xf32>
    %k = arith.divf %v, %w : vector<16xf32>
    %g = math.roundeven %k : vector<16xf32>
    %m = arith.maximumf %g, %zero : vector<16xf32>
    %n = arith.minimumf %m, %most : vector<16xf32>
    %done = tir.cast fptoui %n : vector<16xf32> to vector<16xi8>
    tir.store %done, %z[lane] : memref<16xui8>, vector<16xi8>
  }
}
