// RUN: opt-tool %s -p relay-to-te | filecheck %s
// A state of a scan has as many times as there are steps, and the initial one.

builtin.module attributes {relay.symbols = {s = #relay.symbol<min = 1, max = 100>}} {
  func.func @main(%x: tensor<?x2x8xf32, #relay.dims<s, _, _>>, %w: tensor<1x8x8xf32>, %h: tensor<2x8xf32>) -> tensor<?x2x8xf32, #relay.dims<s, _, _>> {
    %f = relay.fn (%a: tensor<?x2x8xf32, #relay.dims<s, _, _>>, %b: tensor<1x8x8xf32>, %c: tensor<2x8xf32>) -> tensor<?x2x8xf32, #relay.dims<s, _, _>> attributes {Primitive = 1 : i64} {
      %y:2 = relay.nn.rnn %a, %b, %c : (tensor<?x2x8xf32, #relay.dims<s, _, _>>, tensor<1x8x8xf32>, tensor<2x8xf32>) -> (tensor<?x2x8xf32, #relay.dims<s, _, _>>, tensor<2x8xf32>)
      relay.return %y#0 : tensor<?x2x8xf32, #relay.dims<s, _, _>>
    }
    %z = relay.call %f(%x, %w, %h) : (tensor<?x2x8xf32, #relay.dims<s, _, _>>, tensor<1x8x8xf32>, tensor<2x8xf32>) -> tensor<?x2x8xf32, #relay.dims<s, _, _>>
    func.return %z : tensor<?x2x8xf32, #relay.dims<s, _, _>>
  }
}

// CHECK: te.func @{{.*}}(%s: index,
// CHECK: te.scan "steps" [%s + 1] (%t)
