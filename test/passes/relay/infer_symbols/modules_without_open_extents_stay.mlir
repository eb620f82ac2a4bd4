// RUN: opt-tool %s -p relay-infer-symbols | filecheck %s

// CHECK-NOT: relay.symbols
// CHECK: func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = relay.nn.relu %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
