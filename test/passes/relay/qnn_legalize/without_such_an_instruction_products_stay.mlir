// RUN: opt-tool %s -p relay-qnn-legalize | filecheck %s
// RUN: not opt-tool %s -p 'relay-qnn-legalize{form=int4}' 2>&1 | filecheck %s --check-prefix WRONG
// The form that the target has, and a target that has none: nothing changes.

func.func @main(%x: tensor<4x3xi8>, %w: tensor<2x3xui8>, %z: tensor<i32>, %s: tensor<f32>) -> tensor<4x2xi32> {
  %d = relay.qnn.dense %x, %w, %z, %z, %s, %s : (tensor<4x3xi8>, tensor<2x3xui8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<4x2xi32>
  return %d : tensor<4x2xi32>
}

// CHECK:      func.func @main
// CHECK-NEXT: %d = relay.qnn.dense %x, %w, %z, %z, %s, %s

// WRONG: form 'int4' is none of auto, uint8-int8, int8-int8, int16
