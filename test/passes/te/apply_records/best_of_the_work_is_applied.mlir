// RUN: opt-tool %s -p 'te-apply-records{file="%S/inputs/records.jsonl"}' | filecheck %s
// RUN: opt-tool %s -p 'te-apply-records{file="%S/inputs/records.jsonl"},te-to-tir' -o %t
// Its upper end counts: 0.7 that may be 1.01 is no gain. Other names do not matter; what has a schedule keeps it.
// If nothing is found any more, the canonical text of kernels has changed, and with it the key of everybody's records.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
    %b = te.compute "B" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %a = te.read %A[%i, %j] : tensor<8x32xf32>
      %n = arith.negf %a : f32
      te.yield %n : f32
    }
    %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %x = te.read %b[%i, %j] : tensor<8x32xf32>
      %s = arith.addf %x, %x : f32
      te.yield %s : f32
    }
    te.return %c : tensor<8x32xf32>
  }
  te.func @g(%input: tensor<8x32xf32>) -> tensor<8x32xf32> {
    %b = te.compute "neg.v" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %a = te.read %input[%i, %j] : tensor<8x32xf32>
      %n = arith.negf %a : f32
      te.yield %n : f32
    }
    %c = te.compute "sum" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %x = te.read %b[%i, %j] : tensor<8x32xf32>
      %s = arith.addf %x, %x : f32
      te.yield %s : f32
    }
    te.return %c : tensor<8x32xf32>
  }
  te.func @h(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
    %b = te.compute "B" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %a = te.read %A[%i, %j] : tensor<8x32xf32>
      %n = arith.negf %a : f32
      te.yield %n : f32
    }
    %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %x = te.read %b[%i, %j] : tensor<8x32xf32>
      %s = arith.addf %x, %x : f32
      te.yield %s : f32
    }
    te.return %c : tensor<8x32xf32>
  }
  te.schedule @h {
    %i, %j = te.loops "B" [2]
    te.unroll %i
  }
}

// CHECK:      te.schedule @f {
// CHECK-NEXT:   %i, %j = te.loops "C" [2]
// CHECK-NEXT:   te.vectorize %j
// CHECK-NEXT:   %bi, %bj = te.compute_at "B" at %i [2]
// CHECK-NEXT:   %a = te.cache_read "A" in "B" at %bi scope "local" [1]
// CHECK-NEXT: }
// CHECK:      te.schedule @g {
// CHECK-NEXT:   %i, %j = te.loops "sum" [2]
// CHECK-NEXT:   te.vectorize %j
// CHECK-NEXT:   %bi, %bj = te.compute_at "neg.v" at %i [2]
// CHECK-NEXT:   %a = te.cache_read "input" in "neg.v" at %bi scope "local" [1]
// CHECK-NEXT: }
// CHECK:      te.schedule @h {
// CHECK-NEXT:   %i, %j = te.loops "B" [2]
// CHECK-NEXT:   te.unroll %i
// CHECK-NEXT: }
