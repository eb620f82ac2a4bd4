// RUN: opt-tool %s -p 'relay-fold-constant{max-growth=0}' | filecheck %s
// What a product reads as its weight is computed now, although it is wider than the bytes that it is made of. The same
// bytes stay as they are where something else reads the wide numbers, and copies are made when they are needed.

// CHECK-LABEL: func.func @weight
// CHECK-NEXT:    %w = relay.constant dense<{{\[}}[-6.000000e+00, -1.600000e+01], [8.000000e+00, -6.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    relay.nn.dense %x, %w
func.func @weight(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %packed = relay.constant dense<[[5], [92]]> : tensor<2x1xui8>
  %shifts = relay.constant dense<[0, 4]> : tensor<2xui8>
  %mask = relay.constant dense<15> : tensor<ui8>
  %parts = relay.right_shift %packed, %shifts : (tensor<2x1xui8>, tensor<2xui8>) -> tensor<2x2xui8>
  %codes = relay.bitwise_and %parts, %mask : (tensor<2x2xui8>, tensor<ui8>) -> tensor<2x2xui8>
  %wide = relay.cast %codes {dtype = "float32"} : (tensor<2x2xui8>) -> tensor<2x2xf32>
  %zero = relay.constant dense<8.0> : tensor<f32>
  %scale = relay.constant dense<2.0> : tensor<f32>
  %moved = relay.subtract %wide, %zero : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %w = relay.multiply %moved, %scale : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %y = relay.nn.dense %x, %w {units = 2} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @others
// CHECK:         relay.cast
// CHECK:         relay.add
// CHECK:         relay.broadcast_to
// CHECK:         relay.nn.batch_matmul
func.func @others(%x: tensor<2x2xf32>, %b: tensor<3x2x2xf32>) -> (tensor<2x2xf32>, tensor<3x2x2xf32>) {
  %bytes = relay.constant dense<[[5, 2], [92, 7]]> : tensor<2x2xui8>
  %wide = relay.cast %bytes {dtype = "float32"} : (tensor<2x2xui8>) -> tensor<2x2xf32>
  %y = relay.add %x, %wide : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %one = relay.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %copies = relay.broadcast_to %one {shape = [3, 2, 2]} : (tensor<1x2x2xf32>) -> tensor<3x2x2xf32>
  %z = relay.nn.batch_matmul %b, %copies : (tensor<3x2x2xf32>, tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  return %y, %z : tensor<2x2xf32>, tensor<3x2x2xf32>
}
