// RUN: opt-tool %s -p relay-fuse-ops,relay-defuse-ops | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %{{.*}} = relay.exp %x
// CHECK-NEXT:   %y = relay.nn.relu
// CHECK-NEXT:   %z = relay.nn.softmax %y
// CHECK-NEXT:   func.return %y, %z
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = relay.exp %x : tensor<8xf32>
  %y = relay.nn.relu %a : tensor<8xf32>
  %z = relay.nn.softmax %y : tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}
