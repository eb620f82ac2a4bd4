// RUN: opt-tool %s -p relay-fold-constant | filecheck %s

// CHECK: %z = relay.zeros {shape = [512, 512]}
// CHECK: %q = relay.divide %i, %j : tensor<2xi32>
func.func @main() -> (tensor<512x512xf32>, tensor<2xi32>) {
  %z = relay.zeros {shape = [512, 512]} : () -> tensor<512x512xf32>
  %i = relay.constant dense<[6, 7]> : tensor<2xi32>
  %j = relay.constant dense<[2, 0]> : tensor<2xi32>
  %q = relay.divide %i, %j : tensor<2xi32>
  return %z, %q : tensor<512x512xf32>, tensor<2xi32>
}
