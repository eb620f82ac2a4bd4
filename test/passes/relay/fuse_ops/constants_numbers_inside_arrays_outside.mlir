// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// A constant of rank 0 is part of the kernel, an array is an argument.

// CHECK:      %v = relay.constant dense<[1.0
// CHECK-NEXT: %fused_multiply_add = relay.fn (%p0: tensor<4xf32>, %p1: tensor<4xf32>)
// CHECK-NEXT:   %two = relay.constant dense<2.0
// CHECK-NEXT:   %a = relay.multiply %p0, %two
// CHECK-NEXT:   %b = relay.add %a, %p1
// CHECK:      relay.call %fused_multiply_add(%x, %v)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = relay.constant dense<2.0> : tensor<f32>
  %v = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %a = relay.multiply %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = relay.add %a, %v : tensor<4xf32>
  return %b : tensor<4xf32>
}
