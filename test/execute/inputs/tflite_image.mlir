// An image for the quantised convolution: eighths and sixty-fourths, beyond what its scale holds on both sides.
func.func @main() -> (tensor<1x3x32x32xf32> {lamina.name = "image"}) {
  %i = relay.arange {stop = 3072.0, dtype = "int32"} : tensor<3072xi32>
  %step = relay.constant dense<7919> : tensor<i32>
  %count = relay.constant dense<401> : tensor<i32>
  %middle = relay.constant dense<200> : tensor<i32>
  %unit = relay.constant dense<0.015625> : tensor<f32>
  %0 = relay.multiply %i, %step : (tensor<3072xi32>, tensor<i32>) -> tensor<3072xi32>
  %1 = relay.floor_mod %0, %count : (tensor<3072xi32>, tensor<i32>) -> tensor<3072xi32>
  %2 = relay.subtract %1, %middle : (tensor<3072xi32>, tensor<i32>) -> tensor<3072xi32>
  %3 = relay.cast %2 {dtype = "float32"} : (tensor<3072xi32>) -> tensor<3072xf32>
  %4 = relay.multiply %3, %unit : (tensor<3072xf32>, tensor<f32>) -> tensor<3072xf32>
  %5 = relay.reshape %4 {newshape = [1, 3, 32, 32]} : (tensor<3072xf32>) -> tensor<1x3x32x32xf32>
  func.return %5 : tensor<1x3x32x32xf32>
}
