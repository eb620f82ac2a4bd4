// RUN: not opt-tool %s -p relay-fuse-ops,relay-to-te 2>&1 | filecheck %s

// CHECK: a buffer of sort_order in loops, [2, n], is as large as sizes say
builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 64>}} {
  func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
    %0 = relay.sort %x : tensor<?xf32, #relay.dims<n>>
    func.return %0 : tensor<?xf32, #relay.dims<n>>
  }
}
