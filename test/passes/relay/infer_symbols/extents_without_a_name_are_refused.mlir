// RUN: not opt-tool %s -p relay-infer-symbols 2>&1 | filecheck %s

// CHECK: relay-infer-symbols: an argument is tensor<?x8xf32>, which has extents without a name
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = relay.nn.relu %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
