// RUN: opt-tool %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: {n = #relay.symbol<min = 1, max = 64, divisor = 2>, p = #relay.symbol<min = 0, max = 9>}
builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 64, divisor = 2>, p = #relay.symbol<min = 0, max = 9, divisor = 1>}} {
  // CHECK: @f(%x: tensor<?x?xf32, #relay.dims<n * 2 + 1, (n + 7) floordiv 8>>, %y: tensor<?x?xf32, #relay.dims<n*p * 4, n + p>>)
  func.func @f(%x: tensor<?x?xf32, #relay.dims<1 + n * 2, (n + 7) floordiv 8>>, %y: tensor<?x?xf32, #relay.dims<p * 4 * n, p + n>>) {
    // CHECK: relay.transpose %x {axes = [1, 0]} : {{.*}} -> tensor<?x?xf32, #relay.dims<(n + 7) floordiv 8, n * 2 + 1>>
    %0 = relay.transpose %x {axes = [1, 0]} : (tensor<?x?xf32, #relay.dims<n * 2 + 1, (n + 7) floordiv 8>>) -> tensor<?x?xf32, #relay.dims<(n + 7) floordiv 8, n * 2 + 1>>
    // CHECK: relay.concatenate %y, %y {axis = 1} : {{.*}} -> tensor<?x?xf32, #relay.dims<n*p * 4, n * 2 + p * 2>>
    %1 = relay.concatenate %y, %y {axis = 1} : (tensor<?x?xf32, #relay.dims<n*p * 4, n + p>>, tensor<?x?xf32, #relay.dims<n*p * 4, n + p>>) -> tensor<?x?xf32, #relay.dims<n*p * 4, n * 2 + p * 2>>
    func.return
  }
}

// -----

builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 64>}} {
  func.func @f(%x: tensor<?xf32, #relay.dims<n>>) {
    // expected-error@+1 {{result type tensor<?xf32, #relay.dims<n + 1>> differs from the inferred tensor<?xf32, #relay.dims<n * 2>>}}
    %1 = relay.concatenate %x, %x : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n + 1>>
    func.return
  }
}

// -----

// expected-error@+1 {{no value from 5 to 7 has the divisor 8}}
builtin.module attributes {relay.symbols = {n = #relay.symbol<min = 5, max = 7, divisor = 8>}} {}

// -----

// expected-error@+1 {{expected the name of an extent, or a form over names}}
func.func @f(%x: tensor<?xf32, #relay.dims<5>>)
