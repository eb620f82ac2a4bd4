// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @reduced(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{relay.sum: result type tensor<3xf32> differs from the inferred tensor<2xf32>}}
  %0 = relay.sum %x {axis = [1]} : (tensor<2x3xf32>) -> tensor<3xf32>
  func.return
}
// -----
func.func @parts(%x: tensor<6xf32>) {
  // expected-error@+1 {{relay.split: result type tensor<3xf32> differs from the inferred tensor<3xf32>, tensor<3xf32>}}
  %0 = relay.split %x {indices_or_sections = 2} : (tensor<6xf32>) -> tensor<3xf32>
  func.return
}
