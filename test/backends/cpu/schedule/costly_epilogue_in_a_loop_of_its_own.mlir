// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// A tile's sums are stored, and the exponentials follow in a loop: unrolled they would find no registers free.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @dense(%X: tensor<14x64xf32>, %W: tensor<2x64x32xf32>) -> tensor<14x64xf32> {
    %y = te.compute "dense" [14, 64] sum [64] (%i, %j, %k) : tensor<14x64xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<14x64xf32>
      %w = te.read %W[%j floordiv 32, %k, %j mod 32] : tensor<2x64x32xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    %z = te.compute "z" [14, 64] (%i, %j) : tensor<14x64xf32> {
      %e = te.read %y[%i, %j] : tensor<14x64xf32>
      %f = math.exp %e : f32
      te.yield %f : f32
    }
    te.return %z : tensor<14x64xf32>
  }
}

// CHECK-LABEL: te.schedule @dense {
// CHECK-NEXT:    te.cache_write "dense" scope "register"
// CHECK:         te.reverse_compute_at "dense.out" at %[[TILE:.*]] [2]
// CHECK-NEXT:    %{{.*}}, %[[ALONG:.*]] = te.reverse_compute_at "z" at %[[TILE]] [2]
// CHECK-NEXT:    %{{.*}}, %[[LANE:.*]] = te.split %[[ALONG]] [-1, 16]
// CHECK-NEXT:    te.vectorize %[[LANE]]
