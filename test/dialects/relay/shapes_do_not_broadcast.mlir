// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @extents(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{relay.add: shapes (2, 3) and (2, 4) do not broadcast}}
  %0 = relay.add %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @broadcast_to(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.broadcast_to: shape (2, 3) does not broadcast to (3,)}}
  %0 = relay.broadcast_to %x {shape = [3]} : (tensor<2x3xf32>) -> tensor<3xf32>
  func.return
}
// -----
func.func @concatenate(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{relay.concatenate: shapes (2, 3) and (2, 4) differ outside axis 0}}
  %0 = relay.concatenate %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  func.return
}
