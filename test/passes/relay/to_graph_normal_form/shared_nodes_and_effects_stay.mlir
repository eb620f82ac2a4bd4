// RUN: opt-tool %s -p relay-to-graph-normal-form | filecheck %s

// CHECK:      %0 = relay.exp %x
// CHECK-NEXT: relay.ref_write %m, %0
// CHECK-NEXT: %1 = relay.add %0, %0
func.func @main(%x: tensor<8xf32>, %m: !relay.ref<tensor<8xf32>>) -> tensor<8xf32> {
  %0 = relay.exp %x : tensor<8xf32>
  relay.ref_write %m, %0 : tensor<8xf32>
  %1 = relay.add %0, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
