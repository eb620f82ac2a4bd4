// RUN: opt-tool %s -p relay-to-te --verify-diagnostics

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relay.fn (%p0: tensor<2xf32>) -> tensor<2xf32> attributes {Primitive = 1 : i64} {
    // expected-error@+1 {{a constant of more than one element inside a primitive function}}
    %c = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = relay.add %p0, %c : tensor<2xf32>
    relay.return %0 : tensor<2xf32>
  }
  %y = relay.call %f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
