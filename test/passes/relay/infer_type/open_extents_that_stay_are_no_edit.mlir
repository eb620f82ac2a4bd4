// RUN: opt-tool %s -p relay-infer-type --trace-rules 2>&1 | filecheck %s
// The extent of the input is open, and with it that of its relu, which stays as it is: only the other type is new.

// CHECK:      relay.abs %s changed in place
func.func @main(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = relay.nn.relu %x : tensor<?x8xf32>
  %s = relay.abs %y : (tensor<4x8xf32>) -> tensor<?x8xf32>
  return %a, %s : tensor<?x8xf32>, tensor<?x8xf32>
}
