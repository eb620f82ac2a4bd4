// RUN: opt-tool %s -p relay-fuse-ops,relay-manifest-alloc,relay-manifest-lifetimes | filecheck %s
// What is returned, or stands in a cell, a closure or the argument of a function, may live on.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: relay.memory.alloc_storage
// CHECK-NOT: relay.memory.kill
func.func private @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, !relay.ref<tensor<8xf32>>, () -> tensor<8xf32>) {
  %a = relay.nn.softmax %x : tensor<8xf32>
  %b = relay.nn.softmax %a {axis = 0} : tensor<8xf32>
  %c = func.call @other(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %d = relay.nn.log_softmax %c : tensor<8xf32>
  %r = relay.ref_create %d : tensor<8xf32>
  %e = relay.nn.log_softmax %x : tensor<8xf32>
  %f = relay.fn captures(%k = %e : tensor<8xf32>) () -> tensor<8xf32> {
    relay.return %k : tensor<8xf32>
  }
  return %a, %c, %r, %f : tensor<8xf32>, tensor<8xf32>, !relay.ref<tensor<8xf32>>, () -> tensor<8xf32>
}
