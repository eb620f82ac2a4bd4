// RUN: opt-tool %s -p relay-state-append | filecheck %s
// Two states of one length have room together; a third grows by another number of rows. A state that nobody else reads
// is not sliced.

// CHECK:      p_kept = #relay.symbol<{{[^>]*}}>, p_spare = #relay.symbol<{{[^>]*}}>, p_kept_ = #relay.symbol
// CHECK:      relay.conditions = #relay.extents<p + p_kept * -1, p + p_kept_ * -1>
// CHECK:      relay.state_append %a, %new {capacity = [p + p_spare + s], kept = [p_kept]}
// CHECK-NEXT: relay.state_append %b, %new {capacity = [p + p_spare + s], kept = [p_kept]}
// CHECK-NEXT: relay.state_append %c, %one {capacity = [p + p_spare_ + 1], kept = [p_kept_]}
// CHECK-NEXT: func.return
builtin.module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 64>, p = #relay.symbol<min = 0, max = 960>}} {
  func.func @main(%a: tensor<?x8xf32, #relay.dims<p, _>> {lamina.name = "a"},
                  %b: tensor<?x8xf32, #relay.dims<p, _>> {lamina.name = "b"},
                  %c: tensor<?x8xf32, #relay.dims<p, _>> {lamina.name = "c"},
                  %new: tensor<?x8xf32, #relay.dims<s, _>>, %one: tensor<1x8xf32>)
      -> (tensor<?x8xf32, #relay.dims<p + s, _>> {lamina.name = "a:next"},
          tensor<?x8xf32, #relay.dims<p + s, _>> {lamina.name = "b:next"},
          tensor<?x8xf32, #relay.dims<p + 1, _>> {lamina.name = "c:next"})
      attributes {lamina.state = [{input = "a", output = "a:next", initial = dense<0.0> : tensor<f32>},
                                  {input = "b", output = "b:next", initial = dense<0.0> : tensor<f32>},
                                  {input = "c", output = "c:next", initial = dense<0.0> : tensor<f32>}]} {
    %x = relay.concatenate %a, %new : (tensor<?x8xf32, #relay.dims<p, _>>, tensor<?x8xf32, #relay.dims<s, _>>)
      -> tensor<?x8xf32, #relay.dims<p + s, _>>
    %y = relay.concatenate %b, %new : (tensor<?x8xf32, #relay.dims<p, _>>, tensor<?x8xf32, #relay.dims<s, _>>)
      -> tensor<?x8xf32, #relay.dims<p + s, _>>
    %z = relay.concatenate %c, %one : (tensor<?x8xf32, #relay.dims<p, _>>, tensor<1x8xf32>)
      -> tensor<?x8xf32, #relay.dims<p + 1, _>>
    func.return %x, %y, %z : tensor<?x8xf32, #relay.dims<p + s, _>>, tensor<?x8xf32, #relay.dims<p + s, _>>,
      tensor<?x8xf32, #relay.dims<p + 1, _>>
  }
}
