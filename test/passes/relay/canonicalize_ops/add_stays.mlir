// RUN: opt-tool %s -p relay-canonicalize-ops | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT: %y = relay.add %x, %x : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
