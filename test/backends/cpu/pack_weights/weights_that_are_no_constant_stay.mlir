// RUN: opt-tool %s -p cpu-pack-weights | filecheck %s
// They would be packed at every run.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<8x64xf32>, %w: tensor<40x64xf32>) -> tensor<8x40xf32> {
    %y = relay.nn.dense %x, %w : (tensor<8x64xf32>, tensor<40x64xf32>) -> tensor<8x40xf32>
    return %y : tensor<8x40xf32>
  }
}

// CHECK-LABEL: func.func @main(%x: tensor<8x64xf32>, %w: tensor<40x64xf32>) -> tensor<8x40xf32> {
// CHECK-NEXT:   %y = relay.nn.dense %x, %w : (tensor<8x64xf32>, tensor<40x64xf32>) -> tensor<8x40xf32>
// CHECK-NEXT:   func.return %y : tensor<8x40xf32>
// CHECK-NEXT: }
