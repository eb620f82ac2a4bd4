// RUN: opt-tool %s -p relay-legalize | filecheck %s
// RUN: lamina debug compare --quiet %s -p relay-legalize
// Few elements, and rows that are wanted by themselves, stay one step.

// CHECK:      %[[R:.*]] = relay.reshape %x {newshape = [2, 960]}
// CHECK-NEXT: %[[M:.*]] = relay.max %[[R]] {axis = [1]} : {{.*}} -> tensor<2xf32>
// CHECK-NEXT: relay.max %[[M]] : {{.*}} -> tensor<f32>
// CHECK:      %[[S:.*]] = relay.reshape %x {newshape = [2, 960]}
// CHECK-NEXT: %[[N:.*]] = relay.min %[[S]] {axis = [1]}
// CHECK-NEXT: %[[O:.*]] = relay.min %[[N]]
// CHECK-NEXT: relay.reshape %[[O]] {newshape = [1, 1, 1]}
// CHECK:      relay.max %x {axis = [2]}
// CHECK:      relay.max %y : (tensor<9x9xf32>) -> tensor<f32>
func.func @main(%x: tensor<4x8x60xf32>, %y: tensor<9x9xf32>) -> (tensor<f32>, tensor<1x1x1xf32>, tensor<4x8xf32>, tensor<f32>) {
  %0 = relay.max %x : (tensor<4x8x60xf32>) -> tensor<f32>
  %1 = relay.min %x {axis = [-1, 0, 1], keepdims = true} : (tensor<4x8x60xf32>) -> tensor<1x1x1xf32>
  %2 = relay.max %x {axis = [2]} : (tensor<4x8x60xf32>) -> tensor<4x8xf32>
  %3 = relay.max %y : (tensor<9x9xf32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<1x1x1xf32>, tensor<4x8xf32>, tensor<f32>
}
