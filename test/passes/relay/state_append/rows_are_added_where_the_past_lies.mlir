// RUN: opt-tool %s -p relay-state-append | filecheck %s
// Keys of a cache: the program takes how many of their rows are in the memory of the result already, and how much room
// there is behind those that it adds. Other readers read the rows that are in it.

// CHECK:      relay.symbols = {s = #relay.symbol<min = 1, max = 64>, p = #relay.symbol<min = 0, max = 960>,
// CHECK-SAME:   p_kept = #relay.symbol<min = 0, max = 960, default = 0>, p_spare = #relay.symbol<min = 0, max = 1073741824, default = 0>}
// CHECK-SAME: relay.conditions = #relay.extents<p + p_kept * -1>
// CHECK:      func.func @main
// CHECK-SAME:   tensor<1x4x?x64xf32, #relay.dims<_, _, p + p_spare + s, _>> {lamina.name = "present"})
// CHECK-SAME:   axis = 2 : i64, kept = "p_kept", spare = "p_spare"}]
// CHECK-NEXT:   %[[S:.*]] = relay.state_append %past, %new {axis = 2, capacity = [p + p_spare + s], kept = [p_kept]}
// CHECK-NEXT:   %[[Y:.*]] = relay.strided_slice %[[S]] {axes = [2], begin = [0], end = [p + s], strides = [1]}
// CHECK-NEXT:   %z = relay.negative %[[Y]]
// CHECK-NEXT:   func.return %z, %[[S]]
builtin.module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 64>, p = #relay.symbol<min = 0, max = 960>}} {
  func.func @main(%past: tensor<1x4x?x64xf32, #relay.dims<_, _, p, _>> {lamina.name = "past"},
                  %new: tensor<1x4x?x64xf32, #relay.dims<_, _, s, _>>)
      -> (tensor<1x4x?x64xf32, #relay.dims<_, _, p + s, _>>,
          tensor<1x4x?x64xf32, #relay.dims<_, _, p + s, _>> {lamina.name = "present"})
      attributes {lamina.state = [{input = "past", output = "present", initial = dense<0.0> : tensor<f32>}]} {
    %y = relay.concatenate %past, %new {axis = 2} : (tensor<1x4x?x64xf32, #relay.dims<_, _, p, _>>,
      tensor<1x4x?x64xf32, #relay.dims<_, _, s, _>>) -> tensor<1x4x?x64xf32, #relay.dims<_, _, p + s, _>>
    %z = relay.negative %y : tensor<1x4x?x64xf32, #relay.dims<_, _, p + s, _>>
    func.return %z, %y : tensor<1x4x?x64xf32, #relay.dims<_, _, p + s, _>>, tensor<1x4x?x64xf32, #relay.dims<_, _, p + s, _>>
  }
}
