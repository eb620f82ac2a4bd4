// RUN: opt-tool %s -p 'relay-infer-symbols' | filecheck %s
// A window of three needs three elements, two halves of equal length an even number of them.

// CHECK: {n = #relay.symbol<min = 3, max = 1073741824, divisor = 2>}
func.func @main(%x: tensor<1x4x?xf32, #relay.dims<_, _, n>>) -> (tensor<1x4x?xf32>, tensor<1x4x?xf32>) {
  // CHECK: relay.nn.max_pool1d {{.*}} -> tensor<1x4x?xf32, #relay.dims<_, _, n - 2>>
  %0 = relay.nn.max_pool1d %x {pool_size = [3]} : (tensor<1x4x?xf32, #relay.dims<_, _, n>>) -> tensor<1x4x?xf32>
  // CHECK: relay.split {{.*}} #relay.dims<_, _, n floordiv 2>>
  %1, %2 = relay.split %x {indices_or_sections = 2, axis = 2} : (tensor<1x4x?xf32, #relay.dims<_, _, n>>) -> (tensor<1x4x?xf32>, tensor<1x4x?xf32>)
  return %0, %1 : tensor<1x4x?xf32>, tensor<1x4x?xf32>
}
