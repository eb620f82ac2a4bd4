func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x2x4x4xui8> {
  %zero = relay.constant dense<0> : tensor<i32>
  %zx = relay.constant dense<128> : tensor<i32>
  %sx = relay.constant dense<0.0625> : tensor<f32>
  %w = relay.constant dense<[[[[0.5, -0.25], [1.0, 0.125]], [[-1.5, 0.75], [0.0, 2.0]], [[0.25, 0.5], [-0.5, -1.0]]], [[[0.25, 0.5], [-0.75, 1.0]], [[1.25, -1.5], [1.75, -2.0]], [[0.25, -0.25], [0.75, 1.5]]]]> : tensor<2x3x2x2xf32>
  %sw = relay.constant dense<[0.125, 0.25]> : tensor<2xf32>
  %b = relay.constant dense<[100, -200]> : tensor<2xi32>
  %sp = relay.constant dense<[0.0078125, 0.015625]> : tensor<2xf32>
  %so = relay.constant dense<0.3> : tensor<f32>
  %zo = relay.constant dense<121> : tensor<i32>
  %q = relay.qnn.quantize %x, %sx, %zx {out_dtype = "uint8", axis = 1} : (tensor<1x3x8x8xf32>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xui8>
  %k = relay.qnn.quantize %w, %sw, %zero {out_dtype = "int8", axis = 0} : (tensor<2x3x2x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2x3x2x2xi8>
  %p = relay.nn.pad %q {pad_value = 128.0, pad_width = [0, 0, 0, 0, 0, 1, 0, 1]} : (tensor<1x3x8x8xui8>) -> tensor<1x3x9x9xui8>
  %c = relay.qnn.conv2d %p, %k, %zx, %zero, %sx, %sw {strides = [2, 2], padding = [0, 0, 0, 0], channels = 2, kernel_size = [2, 2]} : (tensor<1x3x9x9xui8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<2xf32>) -> tensor<1x2x4x4xi32>
  %d = relay.nn.bias_add %c, %b : (tensor<1x2x4x4xi32>, tensor<2xi32>) -> tensor<1x2x4x4xi32>
  %e = relay.qnn.requantize %d, %sp, %zero, %so, %zo {axis = 1, out_dtype = "uint8"} : (tensor<1x2x4x4xi32>, tensor<2xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x2x4x4xui8>
  return %e : tensor<1x2x4x4xui8>
}
