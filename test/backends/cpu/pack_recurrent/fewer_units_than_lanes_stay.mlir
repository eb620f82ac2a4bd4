// RUN: opt-tool %s -p cpu-pack-recurrent | filecheck %s

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<3x1x8xf32>, %w: tensor<1x8x8xf32>, %h: tensor<1x8xf32>) -> tensor<3x1x8xf32> {
    // CHECK-NOT: relay.layout_transform
    // CHECK:     relay.nn.rnn %x, %w, %h :
    %y:2 = relay.nn.rnn %x, %w, %h : (tensor<3x1x8xf32>, tensor<1x8x8xf32>, tensor<1x8xf32>) -> (tensor<3x1x8xf32>, tensor<1x8xf32>)
    func.return %y#0 : tensor<3x1x8xf32>
  }
}
