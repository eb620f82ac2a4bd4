// RUN: not opt-tool %s -p 'relay-infer-symbols{dims="n=1..64"}' 2>&1 | filecheck %s

// CHECK: relay-infer-symbols: nn.max_pool1d needs n >= 3, the values are n=1..64; give fewer
func.func @main(%x: tensor<1x4x?xf32, #relay.dims<_, _, n>>) -> tensor<1x4x?xf32> {
  %0 = relay.nn.max_pool1d %x {pool_size = [3]} : (tensor<1x4x?xf32, #relay.dims<_, _, n>>) -> tensor<1x4x?xf32>
  return %0 : tensor<1x4x?xf32>
}
