// RUN: not opt-tool %s -p relay-infer-symbols 2>&1 | filecheck %s

// CHECK: relay-infer-symbols: gather needs n >= m, which no range of sizes says
func.func @main(%y: tensor<?x8xi64, #relay.dims<m, _>>, %x: tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?x8xf32> {
  %0 = relay.gather %x, %y {axis = 1} : (tensor<?x8xf32, #relay.dims<n, _>>, tensor<?x8xi64, #relay.dims<m, _>>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
