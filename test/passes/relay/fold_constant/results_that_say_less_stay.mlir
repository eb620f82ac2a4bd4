// RUN: opt-tool %s -p relay-fold-constant | filecheck %s
// A constant has the type that it has: an op that forgets its extents is not folded.

// CHECK: relay.copy %c : (tensor<2xf32>) -> tensor<?xf32>
func.func @main() -> tensor<?xf32> {
  %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relay.copy %c : (tensor<2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
