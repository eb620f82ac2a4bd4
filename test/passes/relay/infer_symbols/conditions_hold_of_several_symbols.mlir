// RUN: opt-tool %s -p relay-infer-symbols | filecheck %s

// CHECK: relay.conditions = #relay.extents<m * -1 + n>
func.func @main(%y: tensor<?x8xi64, #relay.dims<m, _>>, %x: tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?x8xf32> {
  %0 = relay.gather %x, %y {axis = 1} : (tensor<?x8xf32, #relay.dims<n, _>>, tensor<?x8xi64, #relay.dims<m, _>>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
