// RUN: opt-tool %s -p relay-infer-type | filecheck %s

// CHECK:      func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:   %a = relay.nn.relu %x : tensor<4x8xf32>
// CHECK-NEXT:   %b = relay.add %a, %x : tensor<4x8xf32>
// CHECK-NEXT:   func.return %b : tensor<4x8xf32>
func.func @main(%x: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %a = relay.nn.relu %x : (tensor<4x8xf32>) -> tensor<?x8xf32>
  %b = relay.add %a, %x : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  return %b : tensor<?x8xf32>
}

// What has no body elsewhere keeps the type that it says.
// CHECK:      func.func private @elsewhere(tensor<?xf32>) -> tensor<?xf32>
func.func private @elsewhere(tensor<?xf32>) -> tensor<?xf32>
