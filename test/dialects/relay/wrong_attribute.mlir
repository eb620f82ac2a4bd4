// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @misspelt(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.sum: no attribute 'axes'; it has axis, keepdims, exclude}}
  %0 = relay.sum %x {axes = [1]} : (tensor<2x3xf32>) -> tensor<f32>
  func.return
}
// -----
func.func @scalar_for_list(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.sum: attribute 'axis' does not take 1 : i64}}
  %0 = relay.sum %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}
// -----
func.func @twice(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{attribute 'axis' is given twice}}
  %0 = relay.sum %x {axis = [1], axis = [0]} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}
// -----
func.func @out_of_range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.sum: axis 2 is out of range for rank 2}}
  %0 = relay.sum %x {axis = [2]} : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return
}
// -----
func.func @missing(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{property 'a_max' expected}}
  %0 = relay.clip %x {a_min = 0.0} : tensor<2x3xf32>
  func.return
}
