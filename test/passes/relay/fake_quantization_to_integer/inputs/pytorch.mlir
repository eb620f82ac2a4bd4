// PyTorch's form: weight and bias are floats, and every tensor passes through quantize and dequantize.
func.func @main(%image: tensor<1x2x6x6xf32>) -> tensor<1x4x6x6xui8> {
  %11 = relay.constant dense<0.019999999552965164> : tensor<f32>
  %12 = relay.constant dense<114> : tensor<i32>
  %13 = relay.constant dense<0.004999999888241291> : tensor<f32>
  %14 = relay.constant dense<0> : tensor<i32>
  %15 = relay.constant dense<0.029999999329447746> : tensor<f32>
  %16 = relay.constant dense<7> : tensor<i32>
  %17 = relay.constant dense<[[[[-4.6430656e-01, -4.7619113e-01, 3.816057e-01],   [-1.1314069e-03, 1.1313229e-01, 1.2880307e-01],   [2.6938298e-01, -6.0012436e-01, -1.8375462e-02]],  [[-4.4921055e-01, -1.2564272e-01, 5.430675e-01],   [5.8639295e-02, -5.480143e-01, 5.4838862e-02],   [-4.6923584e-01, 3.2321867e-01, 5.681362e-01]]], [[[6.1138356e-01, 1.5535153e-01, 4.6923482e-01],   [-1.6573049e-01, -4.5164305e-01, 1.3690678e-02],   [-7.190166e-02, 2.1135649e-01, 6.298652e-01]],  [[-2.864912e-01, 4.5595697e-01, -4.6121737e-01],   [-1.9675231e-01, 3.6539355e-01, -3.1841695e-01],   [2.1310776e-01, -4.8779454e-02, 1.3760679e-02]]], [[[5.633716e-01, 4.0307185e-01, 4.291719e-01],   [6.590845e-02, 6.149727e-01, 6.164117e-01],   [-4.6613115e-01, -3.7573928e-01, -2.4596743e-01]],  [[7.1913205e-02, 4.1676402e-01, -2.0637255e-02],   [6.14744e-01, -1.8574272e-01, 5.4598606e-01],   [1.13160044e-01, 2.7826977e-01, -3.3538383e-01]]], [[[1.1398037e-01, 3.8638088e-01, 4.959672e-01],   [4.7018316e-01, 5.9564584e-01, -4.742309e-01],   [3.5612422e-01, -3.828999e-02, 2.3359895e-01]],  [[-2.8449547e-01, -6.214255e-01, -5.302274e-01],   [6.061451e-01, 5.065788e-01, -2.4896309e-01],   [-9.1858365e-02, -3.3056232e-01, -4.5134777e-01]]]]> : tensor<4x2x3x3xf32>
  %18 = relay.constant dense<[1.2e-02, -7.5e-03, 0.0e+00, 2.9999998e-01]> : tensor<4xf32>
  %0 = relay.qnn.quantize %image, %11, %12 {out_dtype = "uint8", axis = 1} : (tensor<1x2x6x6xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x6x6xui8>
  %1 = relay.qnn.dequantize %0, %11, %12 {axis = 1} : (tensor<1x2x6x6xui8>, tensor<f32>, tensor<i32>) -> tensor<1x2x6x6xf32>
  %2 = relay.qnn.quantize %17, %13, %14 {axis = 0} : (tensor<4x2x3x3xf32>, tensor<f32>, tensor<i32>) -> tensor<4x2x3x3xi8>
  %3 = relay.qnn.dequantize %2, %13, %14 {axis = 0} : (tensor<4x2x3x3xi8>, tensor<f32>, tensor<i32>) -> tensor<4x2x3x3xf32>
  %4 = relay.nn.conv2d %1, %3 {padding = [1, 1, 1, 1], channels = 4, kernel_size = [3, 3]} : (tensor<1x2x6x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  %5 = relay.nn.bias_add %4, %18 : (tensor<1x4x6x6xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %6 = relay.qnn.quantize %5, %15, %16 {out_dtype = "uint8", axis = 1} : (tensor<1x4x6x6xf32>, tensor<f32>, tensor<i32>) -> tensor<1x4x6x6xui8>
  func.return %6 : tensor<1x4x6x6xui8>
}
