// RUN: opt-tool %s -p 'relay-infer-symbols{dims="n=1..64, p=0..4096, k=16..512:16"}' | filecheck %s

// CHECK: {n = #relay.symbol<min = 1, max = 64>, k = #relay.symbol<min = 16, max = 512, divisor = 16>, p = #relay.symbol<min = 0, max = 4096>}
// CHECK: -> tensor<?x?xf32, #relay.dims<n + p, k>> {
func.func @main(%x: tensor<?x?xf32, #relay.dims<n, k>>, %y: tensor<?x?xf32, #relay.dims<p, k>>) -> tensor<?x?xf32> {
  %0 = relay.concatenate %x, %y {axis = 0} : (tensor<?x?xf32, #relay.dims<n, k>>, tensor<?x?xf32, #relay.dims<p, k>>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
