// RUN: opt-tool %s -p relay-to-te | filecheck %s
// @fused_tanh of another shape is another function.

func.func @main(%x: tensor<4xf32>, %z: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %f = relay.fn (%p0: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.tanh %p0 : tensor<4xf32>
    relay.return %0 : tensor<4xf32>
  }
  %g = relay.fn (%p0: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.tanh %p0 : tensor<4xf32>
    relay.return %0 : tensor<4xf32>
  }
  %h = relay.fn (%p0: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.tanh %p0 : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  %a = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.call %g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.call %h(%z) : (tensor<8xf32>) -> tensor<8xf32>
  return %b, %c : tensor<4xf32>, tensor<8xf32>
}

// CHECK-LABEL: te.func @fused_tanh(%p0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %tanh = te.compute "tanh" [4] (%i0) : tensor<4xf32> attributes {tag = "tanh"} {
// CHECK-NEXT:     %0 = te.read %p0[%i0] : tensor<4xf32>
// CHECK-NEXT:     %1 = math.tanh %0 : f32
// CHECK-NEXT:     te.yield %1 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   te.return %tanh : tensor<4xf32>
// CHECK-NEXT: }

// CHECK-LABEL: te.func @fused_tanh_1(%p0: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:   %tanh = te.compute "tanh" [8] (%i0) : tensor<8xf32> attributes {tag = "tanh"} {
// CHECK-NEXT:     %0 = te.read %p0[%i0] : tensor<8xf32>
// CHECK-NEXT:     %1 = math.tanh %0 : f32
// CHECK-NEXT:     te.yield %1 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   te.return %tanh : tensor<8xf32>
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: tensor<4xf32>, %z: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
// CHECK-NEXT:   %a = te.call @fused_tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %b = te.call @fused_tanh(%a) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   %c = te.call @fused_tanh_1(%z) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:   func.return %b, %c : tensor<4xf32>, tensor<8xf32>
// CHECK-NEXT: }
