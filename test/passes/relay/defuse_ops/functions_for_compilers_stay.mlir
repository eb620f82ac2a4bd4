// RUN: opt-tool %s -p relay-defuse-ops | filecheck %s

// CHECK-COUNT-2: relay.call
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> attributes {Compiler = "dnnl", Primitive = 1 : i64} {
    %b = relay.exp %a : tensor<8xf32>
    relay.return %b : tensor<8xf32>
  }
  %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %g = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> {
    %b = relay.abs %a : tensor<8xf32>
    relay.return %b : tensor<8xf32>
  }
  %z = relay.call %g(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
