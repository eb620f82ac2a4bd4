// RUN: opt-tool %s -p relay-fake-quantization-to-integer | filecheck %s
// Pooling keeps channels apart, but not the places that it pools: there the numbers mean different things.

// CHECK:      %[[T:.*]] = relay.transpose %x {axes = [0, 3, 1, 2]}
// CHECK:      %[[P:.*]] = relay.nn.max_pool2d %[[T]] {{.*}} : (tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xi8>
// CHECK:      relay.qnn.requantize %[[P]]{{.*}}axis = 1
// CHECK:      relay.qnn.dequantize %y
// CHECK:      relay.nn.max_pool2d {{.*}}xf32>
func.func @main(%x: tensor<1x4x4x2xi8>, %y: tensor<1x2x4x4xi8>) -> (tensor<1x2x2x2xi8>, tensor<1x2x2x2xi8>) {
  %s = relay.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %v = relay.constant dense<[0.5, 0.25, 0.5, 0.125]> : tensor<4xf32>
  %o = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z {axis = 3} : (tensor<1x4x4x2xi8>, tensor<2xf32>, tensor<i32>) -> tensor<1x4x4x2xf32>
  %1 = relay.transpose %0 {axes = [0, 3, 1, 2]} : (tensor<1x4x4x2xf32>) -> tensor<1x2x4x4xf32>
  %2 = relay.nn.max_pool2d %1 {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %a = relay.qnn.quantize %2, %o, %z {out_dtype = "int8"} : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x2x2xi8>
  %3 = relay.qnn.dequantize %y, %v, %z {axis = 2} : (tensor<1x2x4x4xi8>, tensor<4xf32>, tensor<i32>) -> tensor<1x2x4x4xf32>
  %4 = relay.nn.max_pool2d %3 {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %b = relay.qnn.quantize %4, %o, %z {out_dtype = "int8"} : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i32>) -> tensor<1x2x2x2xi8>
  return %a, %b : tensor<1x2x2x2xi8>, tensor<1x2x2x2xi8>
}
