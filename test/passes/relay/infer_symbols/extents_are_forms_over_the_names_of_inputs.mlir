// RUN: opt-tool %s -p relay-infer-symbols | filecheck %s

// CHECK: builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 1073741824>}}
// CHECK: func.func @main(%x: tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?x4xf32, #relay.dims<n * 4, _>>
func.func @main(%x: tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?x4xf32> {
  // CHECK: relay.concatenate %x, %x {axis = 1} : {{.*}} -> tensor<?x16xf32, #relay.dims<n, _>>
  %0 = relay.concatenate %x, %x {axis = 1} : (tensor<?x8xf32, #relay.dims<n, _>>, tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?x16xf32>
  // CHECK: relay.reshape %0 {newshape = [-1, 4]} : {{.*}} -> tensor<?x4xf32, #relay.dims<n * 4, _>>
  %1 = relay.reshape %0 {newshape = [-1, 4]} : (tensor<?x16xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
