// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK:      %a = relay.reshape %y {newshape = [2, 3]}
// CHECK-NEXT: %b = relay.broadcast_to %v {shape = [2, 3]}
// CHECK-NEXT: %c = relay.collapse_sum_to %x {shape = [3]}
// CHECK-NEXT: %d = relay.cast %y {dtype = "int32"}
// CHECK-NEXT: %e = relay.full %s {dtype = "float32", shape = [2, 3]}
// CHECK-NEXT: %f = relay.zeros {shape = [6]}
// CHECK-NEXT: [[ONE:%.*]] = relay.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %g = relay.subtract [[ONE]], %a
// CHECK-NEXT: func.return
func.func @main(%x: tensor<2x3xf32>, %y: tensor<6xf32>, %v: tensor<3xf32>, %i: tensor<4xi32>, %s: tensor<f32>)
    -> (tensor<2x3xf32>, tensor<3xf32>, tensor<6xi32>, tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>) {
  %a = relay.reshape_like %y, %x : (tensor<6xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = relay.broadcast_to_like %v, %x : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = relay.collapse_sum_like %x, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = relay.cast_like %y, %i : (tensor<6xf32>, tensor<4xi32>) -> tensor<6xi32>
  %e = relay.full_like %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %f = relay.zeros_like %y : tensor<6xf32>
  %ones = relay.ones_like %x : tensor<2x3xf32>
  %g = relay.subtract %ones, %a : tensor<2x3xf32>
  return %b, %c, %d, %e, %f, %g : tensor<2x3xf32>, tensor<3xf32>, tensor<6xi32>, tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>
}
