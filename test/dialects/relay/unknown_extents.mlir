// RUN: opt-tool %s --split-input-file --verify-diagnostics
// What is known of results where extents are not, and what contradicts it. A result may say less than is known.

func.func @f(%x: tensor<?x3xf32, #relay.dims<n, _>>, %b: tensor<3xf32>, %w: tensor<5x3xf32>, %y: tensor<?x1xf32>) -> tensor<?x5xf32> {
  %0 = relay.add %x, %b : (tensor<?x3xf32, #relay.dims<n, _>>, tensor<3xf32>) -> tensor<?x3xf32, #relay.dims<n, _>>
  %1 = relay.nn.dense %0, %w : (tensor<?x3xf32, #relay.dims<n, _>>, tensor<5x3xf32>) -> tensor<?x5xf32, #relay.dims<n, _>>
  %2 = relay.add %x, %y : (tensor<?x3xf32, #relay.dims<n, _>>, tensor<?x1xf32>) -> tensor<?x3xf32>
  %3 = relay.concatenate %x, %w {axis = 0} : (tensor<?x3xf32, #relay.dims<n, _>>, tensor<5x3xf32>) -> tensor<?x3xf32>
  %4 = relay.sum %x {axis = [0]} : (tensor<?x3xf32, #relay.dims<n, _>>) -> tensor<3xf32>
  %5 = relay.transpose %x {axes = [1, 0]} : (tensor<?x3xf32, #relay.dims<n, _>>) -> tensor<3x?xf32, #relay.dims<_, n>>
  %6 = relay.reshape %x {newshape = [-1, 2]} : (tensor<?x3xf32, #relay.dims<n, _>>) -> tensor<?x2xf32>
  %7 = relay.nn.dense %x, %w : (tensor<?x3xf32, #relay.dims<n, _>>, tensor<5x3xf32>) -> tensor<?x5xf32>
  return %7 : tensor<?x5xf32>
}
// -----
func.func @f(%x: tensor<?x3xf32, #relay.dims<n, _>>) -> tensor<?x3xf32, #relay.dims<m, _>> {
  // expected-error@+1 {{result type tensor<?x3xf32, #relay.dims<m, _>> differs from the inferred tensor<?x3xf32, #relay.dims<n, _>>}}
  %0 = relay.exp %x : (tensor<?x3xf32, #relay.dims<n, _>>) -> tensor<?x3xf32, #relay.dims<m, _>>
  return %0 : tensor<?x3xf32, #relay.dims<m, _>>
}
// -----
func.func @f(%x: tensor<?x3xf32>) -> tensor<4x3xf32> {
  // expected-error@+1 {{result type tensor<4x3xf32> differs from the inferred tensor<?x3xf32>}}
  %0 = relay.exp %x : (tensor<?x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
// -----
func.func @f(%x: tensor<?x3xf32>, %y: tensor<2xf32>) -> tensor<?x3xf32> {
  // expected-error@+1 {{no extents for ? fit in tensor<?x3xf32>, tensor<2xf32>; for instance shapes}}
  %0 = relay.add %x, %y : (tensor<?x3xf32>, tensor<2xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
// -----
func.func @f(%x: tensor<?x3xf32, #relay.dims<n, m>>) -> tensor<?x3xf32> {
  // expected-error@+1 {{tensor<?x3xf32, #relay.dims<n, m>>: m names the extent 3, which is known}}
  %0 = relay.exp %x : (tensor<?x3xf32, #relay.dims<n, m>>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
