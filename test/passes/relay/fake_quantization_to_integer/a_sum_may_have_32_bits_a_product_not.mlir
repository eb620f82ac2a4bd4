// RUN: opt-tool %s -p relay-fake-quantization-to-integer | filecheck %s
// Integers of 32 bits are added; their product has no room.

// CHECK:      func.func @sum
// CHECK-NOT:  dequantize
// CHECK:      relay.qnn.add %x, %y,
// CHECK:      func.func @product
// CHECK-NOT:  qnn.mul
// CHECK:      relay.multiply {{.*}} : tensor<2x4xf32>
func.func @sum(%x: tensor<2x4xi32>, %y: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %1 = relay.qnn.dequantize %y, %s, %z : (tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %2 = relay.add %0, %1 : tensor<2x4xf32>
  %3 = relay.qnn.quantize %2, %s, %z {out_dtype = "int32"} : (tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi32>
  return %3 : tensor<2x4xi32>
}

func.func @product(%x: tensor<2x4xi32>, %y: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %0 = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %1 = relay.qnn.dequantize %y, %s, %z : (tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
  %2 = relay.multiply %0, %1 : tensor<2x4xf32>
  %3 = relay.qnn.quantize %2, %s, %z {out_dtype = "int32"} : (tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi32>
  return %3 : tensor<2x4xi32>
}
