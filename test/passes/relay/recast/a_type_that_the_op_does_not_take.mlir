// RUN: opt-tool %s -p 'relay-recast{dtype=bool ops=nn.softmax}' --verify-diagnostics
// RUN: not opt-tool %s -p 'relay-recast{dtype=float7}' 2>&1 | filecheck %s

// CHECK: there is no type 'float7'
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{on bool}}
  %y = relay.nn.softmax %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
