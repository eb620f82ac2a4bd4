// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @float_function(%x: tensor<3xi32>) {
  // expected-error@+1 {{relay.exp: takes floats, got int32}}
  %0 = relay.exp %x : tensor<3xi32>
  func.return
}
// -----
func.func @mixed(%x: tensor<3xf32>, %y: tensor<3xi32>) {
  // expected-error@+1 {{relay.add: operand types differ: float32 and int32}}
  %0 = relay.add %x, %y : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  func.return
}
// -----
func.func @condition(%c: tensor<3xi8>, %x: tensor<3xf32>) {
  // expected-error@+1 {{relay.where: takes bool, got int8}}
  %0 = relay.where %c, %x, %x : (tensor<3xi8>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}
// -----
func.func @unknown(%x: tensor<3xi4>) {
  // expected-error@+1 {{relay.abs: unsupported element type i4}}
  %0 = relay.abs %x : tensor<3xi4>
  func.return
}
