// RUN: opt-tool %s -p relay-quantized-products | filecheck %s
// A sum and a sigmoid stay the floats that the model is written in, and so does a product with a float weight. What
// moves elements moves the bytes.

// CHECK-LABEL: func.func @sum
// CHECK:      %0 = relay.qnn.dequantize %x
// CHECK:      %1 = relay.qnn.dequantize %y
// CHECK:      %2 = relay.add %0, %1
// CHECK:      %3 = relay.sigmoid %2
// CHECK:      relay.qnn.quantize %3
func.func @sum(%x: tensor<8xui8>, %y: tensor<8xui8>) -> tensor<8xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<8xui8>, tensor<f32>, tensor<i32>) -> tensor<8xf32>
  %1 = relay.qnn.dequantize %y, %s, %z : (tensor<8xui8>, tensor<f32>, tensor<i32>) -> tensor<8xf32>
  %2 = relay.add %0, %1 : tensor<8xf32>
  %3 = relay.sigmoid %2 : tensor<8xf32>
  %4 = relay.qnn.quantize %3, %s, %z {out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<8xf32>, tensor<f32>, tensor<i32>) -> tensor<8xui8>
  return %4 : tensor<8xui8>
}

// CHECK-LABEL: func.func @float_weight
// CHECK:      %0 = relay.qnn.dequantize %x
// CHECK:      relay.nn.dense %0, %w
func.func @float_weight(%x: tensor<2x8xui8>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2x8xui8>, tensor<f32>, tensor<i32>) -> tensor<2x8xf32>
  %1 = relay.nn.dense %0, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Nor is what stands for wide integers a factor.
// CHECK-LABEL: func.func @wide
// CHECK:      %0 = relay.qnn.dequantize %x
// CHECK:      %1 = relay.qnn.dequantize %w
// CHECK:      relay.nn.dense %0, %1
func.func @wide(%x: tensor<2x8xi16>) -> tensor<2x4xf32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %w = relay.constant dense<3> : tensor<4x8xi8>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2x8xi16>, tensor<f32>, tensor<i32>) -> tensor<2x8xf32>
  %1 = relay.qnn.dequantize %w, %s, %zero : (tensor<4x8xi8>, tensor<f32>, tensor<i32>) -> tensor<4x8xf32>
  %2 = relay.nn.dense %0, %1 : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @moved
// CHECK-NEXT: %0 = relay.nn.batch_flatten %x
// CHECK-NEXT: func.return %0
func.func @moved(%x: tensor<2x4x2x1xui8>) -> tensor<2x8xui8> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2x4x2x1xui8>, tensor<f32>, tensor<i32>) -> tensor<2x4x2x1xf32>
  %1 = relay.nn.batch_flatten %0 : (tensor<2x4x2x1xf32>) -> tensor<2x8xf32>
  %2 = relay.qnn.quantize %1, %s, %z {out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<2x8xf32>, tensor<f32>, tensor<i32>) -> tensor<2x8xui8>
  return %2 : tensor<2x8xui8>
}

// A relu says nothing where the integers end at zero, and something where they do not.
// CHECK-LABEL: func.func @bounds
// CHECK:      %[[S:.*]] = relay.add
// CHECK-NOT:  relay.nn.relu
// CHECK:      relay.qnn.quantize %[[S]]
// CHECK:      %[[T:.*]] = relay.subtract
// CHECK:      %[[R:.*]] = relay.nn.relu %[[T]]
// CHECK:      relay.qnn.quantize %[[R]]
func.func @bounds(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xui8>, tensor<8xui8>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %zero = relay.constant dense<0> : tensor<i32>
  %z = relay.constant dense<7> : tensor<i32>
  %0 = relay.add %x, %y : tensor<8xf32>
  %1 = relay.nn.relu %0 : tensor<8xf32>
  %2 = relay.qnn.quantize %1, %s, %zero {out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<8xf32>, tensor<f32>, tensor<i32>) -> tensor<8xui8>
  %3 = relay.subtract %x, %y : tensor<8xf32>
  %4 = relay.nn.relu %3 : tensor<8xf32>
  %5 = relay.qnn.quantize %4, %s, %z {out_dtype = "uint8", rounding = "TONEVEN"} : (tensor<8xf32>, tensor<f32>, tensor<i32>) -> tensor<8xui8>
  return %2, %5 : tensor<8xui8>, tensor<8xui8>
}
