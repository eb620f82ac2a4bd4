// RUN: opt-tool %s -p relay-dynamic-to-static --split-input-file --verify-diagnostics

func.func @main(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %s = relay.constant dense<[3, 3]> : tensor<2xi32>
  // expected-error@+1 {{dyn.reshape: relay.reshape: 6 elements of shape (6,) do not fill newshape [3, 3]}}
  %a = relay.dyn.reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}
// -----
func.func @main(%x: tensor<6xf32>) -> tensor<?x2xf32> {
  %s = relay.constant dense<[2, 3]> : tensor<2xi32>
  // expected-error@+1 {{dyn.reshape gives tensor<2x3xf32>, not tensor<?x2xf32>}}
  %a = relay.dyn.reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %a : tensor<?x2xf32>
}
