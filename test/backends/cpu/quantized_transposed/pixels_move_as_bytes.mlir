// RUN: opt-tool %s -p cpu-quantized-transposed | filecheck %s

// Windows of 2 with stride 2 give 2 x 2 pixels: four times the channels, each with the bias and the scale of its own.
// Bytes are moved, those of the other scale that they are brought to afterwards.
// CHECK-LABEL: func.func @main
// CHECK:      relay.qnn.conv2d %x, %{{.*}} {channels = 12{{.*}} : (tensor<1x2x4x4xui8>, tensor<12x2x1x1xi8>, {{.*}} -> tensor<1x12x4x4xi32>
// CHECK:      relay.nn.bias_add %{{.*}} : (tensor<1x12x4x4xi32>, tensor<12xi32>)
// CHECK:      relay.qnn.requantize %{{.*}} : (tensor<1x12x4x4xi32>, tensor<12xf32>, {{.*}} -> tensor<1x12x4x4xui8>
// CHECK:      relay.qnn.dequantize
// CHECK:      relay.qnn.quantize %{{.*}} -> tensor<1x12x4x4xui8>
// CHECK-NEXT: %[[Y:.*]] = relay.nn.depth_to_space %{{.*}} {block_size = 2} : (tensor<1x12x4x4xui8>) -> tensor<1x3x8x8xui8>
// CHECK-NEXT: func.return %[[Y]]
func.func @main(%x: tensor<1x2x4x4xui8>) -> tensor<1x3x8x8xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %t = relay.constant dense<[0.5, 0.25, 1.0]> : tensor<3xf32>
  %u = relay.constant dense<[0.25, 0.125, 0.5]> : tensor<3xf32>
  %zero = relay.constant dense<0> : tensor<i32>
  %w = relay.constant dense<3> : tensor<2x3x2x2xi8>
  %0 = relay.qnn.conv2d_transpose %x, %w, %z, %zero, %s, %t {strides = [2, 2]} : (tensor<1x2x4x4xui8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<3xf32>) -> tensor<1x3x8x8xi32>
  %b = relay.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x3x8x8xi32>, tensor<3xi32>) -> tensor<1x3x8x8xi32>
  %2 = relay.qnn.requantize %1, %u, %zero, %s, %z {axis = 1, compute_dtype = "float32", out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<1x3x8x8xi32>, tensor<3xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xui8>
  %3 = relay.qnn.dequantize %2, %s, %z : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xf32>
  %4 = relay.qnn.quantize %3, %s, %zero {out_dtype = "uint8"} : (tensor<1x3x8x8xf32>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xui8>
  return %4 : tensor<1x3x8x8xui8>
}

// What is computed of the bytes as floats is computed of moved bytes, as they are fewer.
// CHECK-LABEL: func.func @floats
// CHECK:      relay.qnn.requantize
// CHECK-NEXT: %[[M:.*]] = relay.nn.depth_to_space %{{.*}} {block_size = 2} : (tensor<1x12x4x4xui8>) -> tensor<1x3x8x8xui8>
// CHECK-NEXT: %[[F:.*]] = relay.qnn.dequantize %[[M]]
// CHECK-NEXT: relay.nn.relu %[[F]]
func.func @floats(%x: tensor<1x2x4x4xui8>) -> tensor<1x3x8x8xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %w = relay.constant dense<3> : tensor<2x3x2x2xi8>
  %0 = relay.qnn.conv2d_transpose %x, %w, %z, %zero, %s, %s {strides = [2, 2]} : (tensor<1x2x4x4xui8>, tensor<2x3x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x8x8xi32>
  %1 = relay.qnn.requantize %0, %s, %zero, %s, %z {axis = 1, compute_dtype = "float32", out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<1x3x8x8xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xui8>
  %2 = relay.qnn.dequantize %1, %s, %z : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<i32>) -> tensor<1x3x8x8xf32>
  %3 = relay.nn.relu %2 : tensor<1x3x8x8xf32>
  return %3 : tensor<1x3x8x8xf32>
}

// A tap that is missing has the weight's zero point. Two read the sums: these are moved.
// CHECK-LABEL: func.func @two_readers
// CHECK:      %[[C:.*]] = relay.qnn.conv2d %x, %[[W:.*]], %z, %five{{.*}}padding = [1, 1, 1, 1]{{.*}} -> tensor<1x12x5x5xi32>
// CHECK:      %[[D:.*]] = relay.nn.depth_to_space %[[C]]
// CHECK:      %[[S:.*]] = relay.strided_slice %[[D]] {axes = [2, 3], begin = [1, 1], end = [9, 9]
// CHECK:      relay.clip %[[S]]
// CHECK:      relay.abs %[[S]]
func.func @two_readers(%x: tensor<1x2x4x4xui8>) -> (tensor<1x3x8x8xi32>, tensor<1x3x8x8xi32>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %five = relay.constant dense<5> : tensor<i32>
  %w = relay.constant dense<3> : tensor<2x3x3x3xi8>
  %0 = relay.qnn.conv2d_transpose %x, %w, %z, %five, %s, %s {strides = [2, 2], padding = [1, 1, 1, 1], output_padding = [1, 1]} : (tensor<1x2x4x4xui8>, tensor<2x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x8x8xi32>
  %1 = relay.clip %0 {a_min = 0.0, a_max = 6.0} : tensor<1x3x8x8xi32>
  %2 = relay.abs %0 : tensor<1x3x8x8xi32>
  return %1, %2 : tensor<1x3x8x8xi32>, tensor<1x3x8x8xi32>
}

// The bias of a single channel is one for each pixel; a scale is that of all of them.
// CHECK-LABEL: func.func @one_channel
// CHECK:      relay.nn.bias_add %{{.*}} : (tensor<1x4x4x4xi32>, tensor<4xi32>)
// CHECK:      relay.qnn.requantize %{{.*}} : (tensor<1x4x4x4xi32>, tensor<1xf32>, {{.*}} -> tensor<1x4x4x4xui8>
// CHECK-NEXT: %[[Y:.*]] = relay.nn.depth_to_space
// CHECK-NEXT: func.return %[[Y]]
func.func @one_channel(%x: tensor<1x2x4x4xui8>) -> tensor<1x1x8x8xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %u = relay.constant dense<[0.25]> : tensor<1xf32>
  %zero = relay.constant dense<0> : tensor<i32>
  %w = relay.constant dense<3> : tensor<2x1x2x2xi8>
  %0 = relay.qnn.conv2d_transpose %x, %w, %zero, %zero, %s, %s {strides = [2, 2]} : (tensor<1x2x4x4xui8>, tensor<2x1x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x1x8x8xi32>
  %b = relay.constant dense<[1]> : tensor<1xi32>
  %1 = relay.nn.bias_add %0, %b : (tensor<1x1x8x8xi32>, tensor<1xi32>) -> tensor<1x1x8x8xi32>
  %2 = relay.qnn.requantize %1, %u, %zero, %s, %zero {axis = 1, compute_dtype = "float32", out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<1x1x8x8xi32>, tensor<1xf32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x1x8x8xui8>
  return %2 : tensor<1x1x8x8xui8>
}
