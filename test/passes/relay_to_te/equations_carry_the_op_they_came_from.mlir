// RUN: opt-tool %s -p relay-to-te | filecheck %s
// Every te.compute has its op as tag; the constant in @main becomes a te.param.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = relay.constant #relay.param<"w", "00"> : tensor<4xf32>
  %f = relay.fn (%p0: tensor<4xf32>, %p1: tensor<4xf32>) -> tensor<4xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.add %p0, %p1 : tensor<4xf32>
    %1 = relay.nn.relu %0 : tensor<4xf32>
    relay.return %1 : tensor<4xf32>
  }
  %y = relay.call %f(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: te.func @fused_add_nn_relu(%p0: tensor<4xf32>, %p1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %add = te.compute "add" [4] (%i0) : tensor<4xf32> attributes {tag = "add"} {
// CHECK-NEXT:     %0 = te.read %p0[%i0] : tensor<4xf32>
// CHECK-NEXT:     %1 = te.read %p1[%i0] : tensor<4xf32>
// CHECK-NEXT:     %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:     te.yield %2 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %relu = te.compute "relu" [4] (%i0) : tensor<4xf32> attributes {tag = "nn.relu"} {
// CHECK-NEXT:     %0 = te.read %add[%i0] : tensor<4xf32>
// CHECK-NEXT:     %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %2 = arith.maximumf %0, %1 : f32
// CHECK-NEXT:     te.yield %2 : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   te.return %relu : tensor<4xf32>
// CHECK-NEXT: }

// CHECK-LABEL: func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   %w = te.param #relay.param<"w", "00"> : tensor<4xf32>
// CHECK-NEXT:   %y = te.call @fused_add_nn_relu(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:   func.return %y : tensor<4xf32>
// CHECK-NEXT: }
