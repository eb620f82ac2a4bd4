// RUN: opt-tool %s -p 'relay-simplify-expr{exact=true}' | filecheck %s
// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s --check-prefix=FAST
// (x + c) * d and a^2 + 2ab + b^2 round otherwise when they are multiplied out or put together. Constants still gather.

func.func @multiplied(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<2.5> : tensor<f32>
  %d = relay.constant dense<0.3> : tensor<f32>
  %s = relay.add %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = relay.multiply %s, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @binomial(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %aa = relay.multiply %a, %a : tensor<4xf32>
  %bb = relay.multiply %b, %b : tensor<4xf32>
  %ab = relay.multiply %a, %b : tensor<4xf32>
  %twice = relay.multiply %ab, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %s = relay.add %aa, %twice : tensor<4xf32>
  %y = relay.add %s, %bb : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @gathered(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<2.5> : tensor<f32>
  %d = relay.constant dense<0.3> : tensor<f32>
  %s = relay.add %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = relay.add %s, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @multiplied
// CHECK:         %s = relay.add %x, %c
// CHECK-NEXT:    %y = relay.multiply %s, %d
// CHECK-LABEL: @binomial
// CHECK:         %y = relay.add %s, %bb
// CHECK-LABEL: @gathered
// CHECK:         %y = relay.add %x,

// FAST-LABEL: @multiplied
// FAST:         relay.multiply %x,
// FAST-LABEL: @binomial
// FAST-COUNT-1: relay.multiply
// FAST-NOT:     relay.multiply
// FAST-LABEL: @gathered
