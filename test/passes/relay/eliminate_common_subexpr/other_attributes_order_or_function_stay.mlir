// RUN: opt-tool %s -p relay-eliminate-common-subexpr | filecheck %s

// CHECK-COUNT-2: relay.clip
// CHECK-COUNT-2: relay.subtract
// CHECK: relay.fn
// CHECK: relay.subtract
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.clip %x {a_min = 0.0, a_max = 1.0} : tensor<4xf32>
  %b = relay.clip %x {a_min = 0.0, a_max = 2.0} : tensor<4xf32>
  %c = relay.subtract %a, %b : tensor<4xf32>
  %d = relay.subtract %b, %a : tensor<4xf32>
  %f = relay.fn (%p: tensor<4xf32>, %q: tensor<4xf32>) -> tensor<4xf32> {
    %r = relay.subtract %p, %q : tensor<4xf32>
    relay.return %r : tensor<4xf32>
  }
  %y = relay.call %f(%c, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
