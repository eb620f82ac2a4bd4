// TFLite's form: weight and bias are integers, and the image is padded with its zero point.
func.func @main(%image: tensor<1x2x6x6xf32>) -> tensor<1x4x6x6xui8> {
  %11 = relay.constant dense<0.019999999552965164> : tensor<f32>
  %12 = relay.constant dense<114> : tensor<i32>
  %0 = relay.qnn.quantize %image, %11, %12 {out_dtype = "uint8", axis = 1} : (tensor<1x2x6x6xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x6x6xui8>
  %1 = relay.nn.pad %0 {pad_value = 114.0, pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x2x6x6xui8>) -> tensor<1x2x8x8xui8>
  %18 = relay.constant dense<[[[[ -93,  -95,   76],   [   0,   23,   26],   [  54, -120,   -4]],  [[ -90,  -25,  109],   [  12, -110,   11],   [ -94,   65,  114]]], [[[ 122,   31,   94],   [ -33,  -90,    3],   [ -14,   42,  126]],  [[ -57,   91,  -92],   [ -39,   73,  -64],   [  43,  -10,    3]]], [[[ 113,   81,   86],   [  13,  123,  123],   [ -93,  -75,  -49]],  [[  14,   83,   -4],   [ 123,  -37,  109],   [  23,   56,  -67]]], [[[  23,   77,   99],   [  94,  119,  -95],   [  71,   -8,   47]],  [[ -57, -124, -106],   [ 121,  101,  -50],   [ -18,  -66,  -90]]]]> : tensor<4x2x3x3xi8>
  %14 = relay.constant dense<0> : tensor<i32>
  %13 = relay.constant dense<0.004999999888241291> : tensor<f32>
  %2 = relay.qnn.conv2d %1, %18, %12, %14, %11, %13 {channels = 4, kernel_size = [3, 3], padding = [0, 0, 0, 0]} : (tensor<1x2x8x8xui8>, tensor<4x2x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x6x6xi32>
  %19 = relay.constant dense<[ 120,  -75,    0, 3000]> : tensor<4xi32>
  %3 = relay.nn.bias_add %2, %19 : (tensor<1x4x6x6xi32>, tensor<4xi32>) -> tensor<1x4x6x6xi32>
  %15 = relay.constant dense<1.0e-04> : tensor<f32>
  %16 = relay.constant dense<0.029999999329447746> : tensor<f32>
  %17 = relay.constant dense<7> : tensor<i32>
  %4 = relay.qnn.requantize %3, %15, %14, %16, %17 {axis = 1, out_dtype = "uint8"} : (tensor<1x4x6x6xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x6x6xui8>
  func.return %4 : tensor<1x4x6x6xui8>
}
