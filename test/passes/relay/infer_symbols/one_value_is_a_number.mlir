// RUN: opt-tool %s -p 'relay-infer-symbols{dims="n=8"}' | filecheck %s

// CHECK:      func.func @main(%x: tensor<8x?xf32, #relay.dims<_, m>>) -> tensor<16x?xf32, #relay.dims<_, m>>
// CHECK-NEXT:   %{{.*}} = relay.concatenate %x, %x : (tensor<8x?xf32, #relay.dims<_, m>>, tensor<8x?xf32, #relay.dims<_, m>>) -> tensor<16x?xf32, #relay.dims<_, m>>
func.func @main(%x: tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<?x?xf32> {
  %0 = relay.concatenate %x, %x {axis = 0} : (tensor<?x?xf32, #relay.dims<n, m>>, tensor<?x?xf32, #relay.dims<n, m>>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
