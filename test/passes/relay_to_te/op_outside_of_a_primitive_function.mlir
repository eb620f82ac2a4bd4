// RUN: opt-tool %s -p relay-to-te --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{relay.nn.relu cannot stand in @main outside of a primitive function; run relay-fuse-ops}}
  %y = relay.nn.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
