func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x2x4x4xui8> {
  %zero = relay.constant dense<0> : tensor<i32>
  %zx = relay.constant dense<128> : tensor<i32>
  %sx = relay.constant dense<0.0625> : tensor<f32>
  %w = relay.constant dense<[[[[4, 1], [-12, 5], [2, 1]], [[-2, 2], [6, -6], [4, -1]]], [[[8, -3], [0, 7], [-4, 3]], [[1, 4], [16, -8], [-8, 6]]]]> : tensor<2x2x3x2xi8>
  %sw = relay.constant dense<[0.125, 0.25]> : tensor<2xf32>
  %b = relay.constant dense<[100, -200]> : tensor<2xi32>
  %sp = relay.constant dense<[0.0078125, 0.015625]> : tensor<2xf32>
  %so = relay.constant dense<0.3> : tensor<f32>
  %zo = relay.constant dense<121> : tensor<i32>
  %p = relay.qnn.quantize %x, %sx, %zx {out_dtype = "uint8"} : (tensor<1x3x8x8xf32>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xui8>
  %q = relay.transpose %p {axes = [0, 2, 3, 1]} : (tensor<1x3x8x8xui8>) -> tensor<1x8x8x3xui8>
  %c = relay.qnn.conv2d %q, %w, %zx, %zero, %sx, %sw {strides = [2, 2], padding = [0, 0, 1, 1], channels = 2, kernel_size = [2, 2], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x8x8x3xui8>, tensor<2x2x3x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<2xf32>) -> tensor<1x4x4x2xi32>
  %d = relay.nn.bias_add %c, %b {axis = 3} : (tensor<1x4x4x2xi32>, tensor<2xi32>) -> tensor<1x4x4x2xi32>
  %e = relay.qnn.requantize %d, %sp, %zero, %so, %zo {axis = 3, rounding = "TFLITE", out_dtype = "uint8"} : (tensor<1x4x4x2xi32>, tensor<2xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x4x2xui8>
  %y = relay.transpose %e {axes = [0, 3, 1, 2]} : (tensor<1x4x4x2xui8>) -> tensor<1x2x4x4xui8>
  return %y : tensor<1x2x4x4xui8>
}
