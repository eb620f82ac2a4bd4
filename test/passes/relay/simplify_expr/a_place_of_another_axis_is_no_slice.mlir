// RUN: opt-tool %s -p relay-simplify-expr,relay-dead-code-elimination | filecheck %s
// The first axis is not a part of the one that was split; or the place is none of the axis, or is known at run time.

// CHECK-LABEL: @rows
// CHECK:         relay.take
func.func @rows(%x: tensor<2x5x12xf32>) -> tensor<3x5x4xf32> {
  %one = relay.constant dense<1> : tensor<i64>
  %0 = relay.reshape %x {newshape = [2, 5, 3, 4]} : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %1 = relay.transpose %0 {axes = [0, 2, 1, 3]} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %y = relay.take %1, %one {axis = 0} : (tensor<2x3x5x4xf32>, tensor<i64>) -> tensor<3x5x4xf32>
  return %y : tensor<3x5x4xf32>
}

// CHECK-LABEL: @outside
// CHECK:         relay.take
func.func @outside(%x: tensor<2x5x12xf32>) -> tensor<2x5x4xf32> {
  %seven = relay.constant dense<7> : tensor<i64>
  %0 = relay.reshape %x {newshape = [2, 5, 3, 4]} : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %1 = relay.transpose %0 {axes = [2, 0, 1, 3]} : (tensor<2x5x3x4xf32>) -> tensor<3x2x5x4xf32>
  %y = relay.take %1, %seven {axis = 0} : (tensor<3x2x5x4xf32>, tensor<i64>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}

// CHECK-LABEL: @at_run_time
// CHECK:         relay.take
func.func @at_run_time(%x: tensor<2x5x12xf32>, %n: tensor<i64>) -> tensor<2x5x4xf32> {
  %0 = relay.reshape %x {newshape = [2, 5, 3, 4]} : (tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>
  %1 = relay.transpose %0 {axes = [2, 0, 1, 3]} : (tensor<2x5x3x4xf32>) -> tensor<3x2x5x4xf32>
  %y = relay.take %1, %n {axis = 0} : (tensor<3x2x5x4xf32>, tensor<i64>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}
