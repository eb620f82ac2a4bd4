// RUN: opt-tool %s -p relay-to-te | filecheck %s

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = relay.fn (%p0: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %c = relay.constant dense<2.0> : tensor<f32>
    %0 = relay.multiply %p0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    relay.return %0 : tensor<4xf32>
  }
  %y = relay.call %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: te.func @fused_multiply(%p0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %constant = te.compute "constant" [] () : tensor<f32> attributes {tag = "constant"} {
// CHECK-NEXT:     %0 = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:     te.yield %0 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %multiply = te.compute "multiply" [4] (%i0) : tensor<4xf32> attributes {tag = "multiply"} {
// CHECK-NEXT:     %0 = te.read %p0[%i0] : tensor<4xf32>
// CHECK-NEXT:     %1 = te.read %constant[] : tensor<f32>
// CHECK-NEXT:     %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:     te.yield %2 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   te.return %multiply : tensor<4xf32>
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %y = te.call @fused_multiply(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   func.return %y : tensor<4xf32>
// CHECK-NEXT: }
