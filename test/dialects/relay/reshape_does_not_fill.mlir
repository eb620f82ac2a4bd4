// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @size(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.reshape: 6 elements of shape (2, 3) do not fill newshape [4, 2]}}
  %0 = relay.reshape %x {newshape = [4, 2]} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  func.return
}
// -----
func.func @two_unknown(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.reshape: newshape [-1, -1] has more than one -1}}
  %0 = relay.reshape %x {newshape = [-1, -1]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
// -----
func.func @permutation(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.transpose: axes [1, 1] is no permutation of 2 axes}}
  %0 = relay.transpose %x {axes = [1, 1]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return
}
