// RUN: not opt-tool %s -p "relay-vmap{size=8 arguments=4}" 2>&1 | filecheck %s --check-prefix=ARGUMENT
// RUN: not opt-tool %s -p "relay-vmap{size=0}" 2>&1 | filecheck %s --check-prefix=SIZE
// RUN: not opt-tool %s -p relay-vmap 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p "relay-vmap{size=2 function=mian}" 2>&1 | filecheck %s --check-prefix=FUNCTION
// RUN: not opt-tool %s -p "relay-vmap{size=2 function=called}" 2>&1 | filecheck %s --check-prefix=CALL

// ARGUMENT: error: @main has no argument 4; it has 2, counted from 0
// SIZE: error: an axis of 0 places; size is at least 1
// NONE: error: pass 'relay-vmap' needs the option 'size'
// FUNCTION: error: there is no function @mian with a body in the module
// CALL: error: func.call cannot have an axis in front
func.func @main(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<f32> {
  %y = relay.multiply %x, %w : tensor<3xf32>
  %z = relay.sum %y {axis = [0]} : (tensor<3xf32>) -> tensor<f32>
  return %z : tensor<f32>
}
func.func @called(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<f32> {
  %z = func.call @main(%x, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %z : tensor<f32>
}
