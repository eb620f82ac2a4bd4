// RUN: not opt-tool %s -p 'relay-infer-symbols{dims="n=0..8"}' 2>&1 | filecheck %s

// CHECK: relay-infer-symbols: n=0..8 is given, the module is made for n=1..64
builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 64>}} {
  func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
    %0 = relay.nn.relu %x : tensor<?xf32, #relay.dims<n>>
    func.return %0 : tensor<?xf32, #relay.dims<n>>
  }
}
