// RUN: not opt-tool %s -p relay-infer-symbols --split-input-file 2>&1 | filecheck %s

// CHECK: add: shapes (n, 8) and (7, 8) do not broadcast, for instance where n = 47
func.func @main(%x: tensor<?x8xf32, #relay.dims<n, _>>, %y: tensor<7x8xf32>) -> tensor<7x8xf32> {
  %0 = relay.add %x, %y : (tensor<?x8xf32, #relay.dims<n, _>>, tensor<7x8xf32>) -> tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}
