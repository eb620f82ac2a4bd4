// RUN: opt-tool %s -p relay-div-to-mul | filecheck %s
// So does a constant of different numbers, one without a finite reciprocal, and one that makes the value larger.

// CHECK-NOT:     relay.multiply
// CHECK-COUNT-6: relay.divide
func.func @main(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<3x2xf32>, tensor<2xi32>) {
  %two = relay.constant dense<2> : tensor<i32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %tiny = relay.constant dense<1.0e-45> : tensor<f32>
  %several = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %large = relay.constant dense<2.0> : tensor<3x2xf32>
  %j = relay.divide %i, %two : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %a = relay.divide %x, %zero : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %b = relay.divide %a, %tiny : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %c = relay.divide %b, %several : tensor<2xf32>
  %d = relay.divide %c, %x : tensor<2xf32>
  %e = relay.divide %d, %large : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %e, %j : tensor<3x2xf32>, tensor<2xi32>
}
