// RUN: opt-tool %s -p cpu-schedule | filecheck %s

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @f(%X: tensor<64x32xf32>) -> tensor<64x32xf32> {
    %y = te.compute "y" [64, 32] (%i, %j) : tensor<64x32xf32> {
      %x = te.read %X[%i, %j] : tensor<64x32xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<64x32xf32>
  }
  te.schedule @f {
    %i, %j = te.loops "y" [2]
    te.unroll %j
  }
}

// CHECK-LABEL: te.schedule @f {
// CHECK-NEXT:   %i, %j = te.loops "y" [2]
// CHECK-NEXT:   te.unroll %j
// CHECK-NEXT: }
// CHECK-NOT: te.schedule
