// RUN: opt-tool %s -p "relay-vmap{size=2 arguments=0}" | filecheck %s
// A sum over all axes but all of them is over none: of each place, not over the axis in front.

// CHECK-COUNT-2: relay.sum %{{.*}} {axis = [0, 1], exclude = true} : tensor<3x4xf32>
// CHECK:         relay.stack
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %a = relay.sum %x {axis = [0, 1], exclude = true} : tensor<3x4xf32>
  return %a : tensor<3x4xf32>
}
