// RUN: opt-tool %s -p relay-to-graph-normal-form | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   func.return %x
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.exp %x : tensor<8xf32>
  %t = relay.tuple(%x, %0) : tuple<tensor<8xf32>, tensor<8xf32>>
  %1 = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<8xf32>>
  return %1 : tensor<8xf32>
}
