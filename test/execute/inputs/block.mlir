// A convolution, batch normalisation, ReLU and residual addition at 8x8. All numbers are chosen so that every result
// is exact in f32, in whatever order it is computed: small integers, and variances that are powers of four.
#target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", features = "", vector_bits = 128, registers = 16, threads = 1>
builtin.module attributes {lamina.target = #target} {
  func.func @main(%x: tensor<1x2x8x8xf32> {lamina.name = "x"}, %r: tensor<1x4x8x8xf32> {lamina.name = "residual"})
      -> (tensor<1x4x8x8xf32> {lamina.name = "y"}) {
    %w = relay.constant dense<[[[[-2.0, 1.0, 1.0], [-2.0, -1.0, 1.0], [0.0, 2.0, 1.0]], [[-3.0, 1.0, -3.0], [3.0, 0.0, -1.0], [1.0, -2.0, -2.0]]],
    [[[2.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 2.0, 3.0]], [[-2.0, -2.0, 2.0], [-2.0, 3.0, 1.0], [0.0, 2.0, -3.0]]],
    [[[2.0, 3.0, -3.0], [-2.0, 3.0, 1.0], [-3.0, -1.0, 3.0]], [[-3.0, 3.0, 3.0], [-1.0, 0.0, 1.0], [2.0, 0.0, 2.0]]],
    [[[3.0, 0.0, 0.0], [2.0, 3.0, 1.0], [0.0, -2.0, -1.0]], [[-3.0, -3.0, -2.0], [0.0, -2.0, -1.0], [2.0, 0.0, 3.0]]]]> : tensor<4x2x3x3xf32>
    %gamma = relay.constant dense<[1.0, 2.0, -1.0, 4.0]> : tensor<4xf32>
    %beta = relay.constant dense<[0.0, -1.0, 3.0, 0.5]> : tensor<4xf32>
    %mean = relay.constant dense<[2.0, 0.0, -3.0, 1.0]> : tensor<4xf32>
    %variance = relay.constant dense<[1.0, 4.0, 16.0, 1.0]> : tensor<4xf32>
    %0 = relay.nn.conv2d %x, %w {padding = [1, 1, 1, 1]} : (tensor<1x2x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x8xf32>
    %1 = relay.nn.batch_norm %0, %gamma, %beta, %mean, %variance {epsilon = 0.0} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
    %2 = relay.nn.relu %1 : tensor<1x4x8x8xf32>
    %3 = relay.add %2, %r : tensor<1x4x8x8xf32>
    func.return %3 : tensor<1x4x8x8xf32>
  }
}
