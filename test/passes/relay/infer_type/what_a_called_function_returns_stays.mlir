// RUN: opt-tool %s -p relay-infer-type | filecheck %s

// CHECK: func.func @f(%x: tensor<4xf32>) -> tensor<?xf32>
// CHECK: %a = relay.nn.relu %x : (tensor<4xf32>) -> tensor<?xf32>
// CHECK: func.func @main(%x: tensor<4xf32>) -> tensor<?xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<?xf32> {
  %a = relay.nn.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
