// RUN: not opt-tool %s -p relay-infer-symbols 2>&1 | filecheck %s

// CHECK: relay-infer-symbols: the shape that relay.dyn.reshape gives depends on values
func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = relay.dyn.reshape %x, %s : (tensor<?xf32, #relay.dims<n>>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
