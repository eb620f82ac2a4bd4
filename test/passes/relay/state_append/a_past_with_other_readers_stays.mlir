// RUN: opt-tool %s -p relay-state-append | filecheck %s
// `a` is read once more, so it has to lie as its type says; of `b` the new rows come first; `c` is returned as another
// output too; `d` does not grow.

// CHECK-NOT:  relay.state_append
builtin.module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 64>, p = #relay.symbol<min = 0, max = 960>}} {
  func.func @main(%a: tensor<?x8xf32, #relay.dims<p, _>> {lamina.name = "a"},
                  %b: tensor<?x8xf32, #relay.dims<p, _>> {lamina.name = "b"},
                  %c: tensor<?x8xf32, #relay.dims<p, _>> {lamina.name = "c"},
                  %d: tensor<4x8xf32> {lamina.name = "d"},
                  %new: tensor<?x8xf32, #relay.dims<s, _>>)
      -> (tensor<?x8xf32, #relay.dims<p, _>>,
          tensor<?x8xf32, #relay.dims<p + s, _>> {lamina.name = "a:next"},
          tensor<?x8xf32, #relay.dims<p + s, _>> {lamina.name = "b:next"},
          tensor<?x8xf32, #relay.dims<p + s, _>> {lamina.name = "c:next"},
          tensor<?x8xf32, #relay.dims<p + s, _>>,
          tensor<4x8xf32> {lamina.name = "d:next"})
      attributes {lamina.state = [{input = "a", output = "a:next", initial = dense<0.0> : tensor<f32>},
                                  {input = "b", output = "b:next", initial = dense<0.0> : tensor<f32>},
                                  {input = "c", output = "c:next", initial = dense<0.0> : tensor<f32>},
                                  {input = "d", output = "d:next", initial = dense<0.0> : tensor<f32>}]} {
    %x = relay.concatenate %a, %new : (tensor<?x8xf32, #relay.dims<p, _>>, tensor<?x8xf32, #relay.dims<s, _>>)
      -> tensor<?x8xf32, #relay.dims<p + s, _>>
    %r = relay.negative %a : tensor<?x8xf32, #relay.dims<p, _>>
    %y = relay.concatenate %new, %b : (tensor<?x8xf32, #relay.dims<s, _>>, tensor<?x8xf32, #relay.dims<p, _>>)
      -> tensor<?x8xf32, #relay.dims<p + s, _>>
    %z = relay.concatenate %c, %new : (tensor<?x8xf32, #relay.dims<p, _>>, tensor<?x8xf32, #relay.dims<s, _>>)
      -> tensor<?x8xf32, #relay.dims<p + s, _>>
    %e = relay.negative %d : tensor<4x8xf32>
    func.return %r, %x, %y, %z, %z, %e : tensor<?x8xf32, #relay.dims<p, _>>, tensor<?x8xf32, #relay.dims<p + s, _>>,
      tensor<?x8xf32, #relay.dims<p + s, _>>, tensor<?x8xf32, #relay.dims<p + s, _>>, tensor<?x8xf32, #relay.dims<p + s, _>>,
      tensor<4x8xf32>
  }
}
