// RUN: opt-tool %s -p cpu-schedule,te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop | filecheck %s
// Five columns of a panel of sixteen are eight lanes, of which three are idle: not one vector of five and two beyond.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @dense(%X: tensor<8x64xf32>, %W: tensor<1x64x16xf32>) -> tensor<8x5xf32> {
    %y = te.compute "dense" [8, 5] sum [64] (%i, %j, %k) : tensor<8x5xf32>
        attributes {tag = "nn.contrib_dense_pack"} {
      %x = te.read %X[%i, %k] : tensor<8x64xf32>
      %w = te.read %W[0, %k, %j] : tensor<1x64x16xf32>
      %p = arith.mulf %x, %w : f32
      te.yield %p : f32
    }
    te.return %y : tensor<8x5xf32>
  }
}

// CHECK: tir.alloc {{.*}} : memref<8x8xf32>
// CHECK: tir.load %W[0, {{.*}}] : memref<1x64x16xf32>, vector<8xf32>
// CHECK: tir.store {{.*}} where [lane * -1 + 4 >= 0] : memref<8x5xf32>, vector<8xf32>
