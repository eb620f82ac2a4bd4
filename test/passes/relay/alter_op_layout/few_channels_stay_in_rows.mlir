// RUN: opt-tool %s -p relay-alter-op-layout | filecheck %s
// Three output channels would be padding for the most part, for which all the data would be transposed. Of 64 there is
// none; and nothing has to be transposed for what is on blocks already.

// CHECK:      %a = relay.nn.conv2d %x
// CHECK:      %b = relay.nn.contrib_conv2d_NCHWc
// CHECK:      %c = relay.nn.contrib_conv2d_NCHWc %b
builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f,+avx512vl", vector_bits = 512, registers = 32, threads = 1>} {
  func.func @main(%x: tensor<1x96x24x24xf32>) -> (tensor<1x3x24x24xf32>, tensor<1x3x24x24xf32>) {
    %u = relay.constant #relay.param<"u", "0123456789abcdef"> : tensor<3x96x3x3xf32>
    %v = relay.constant #relay.param<"v", "0123456789abcdef"> : tensor<64x96x3x3xf32>
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<3x64x1x1xf32>
    %a = relay.nn.conv2d %x, %u {padding = [1, 1]} : (tensor<1x96x24x24xf32>, tensor<3x96x3x3xf32>) -> tensor<1x3x24x24xf32>
    %b = relay.nn.conv2d %x, %v {padding = [1, 1]} : (tensor<1x96x24x24xf32>, tensor<64x96x3x3xf32>) -> tensor<1x64x24x24xf32>
    %c = relay.nn.conv2d %b, %w : (tensor<1x64x24x24xf32>, tensor<3x64x1x1xf32>) -> tensor<1x3x24x24xf32>
    return %a, %c : tensor<1x3x24x24xf32>, tensor<1x3x24x24xf32>
  }
}
