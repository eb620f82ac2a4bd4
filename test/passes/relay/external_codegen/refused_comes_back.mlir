// RUN: opt-tool %s -p relay-external-codegen --verify-diagnostics | filecheck %s
// No backend of that name runs code: the ops of the function and of its composite stand where it was called.

// CHECK:      func.func @main(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>)
// CHECK-NEXT:   %0 = relay.nn.dense %x, %w
// CHECK-NEXT:   %r = relay.nn.relu %0
// CHECK-NEXT:   func.return %r
// CHECK-NOT:  func.func
func.func @main(%x: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> tensor<1x4xf32> {
  %y = func.call @tvmgen_default_bnns_main_0(%x, %w) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
func.func @tvmgen_default_bnns_main_0(%i0: tensor<1x8xf32>, %i1: tensor<4x8xf32>) -> tensor<1x4xf32>
    attributes {Compiler = "bnns", Inline = 1 : i64, Primitive = 1 : i64, global_symbol = "tvmgen_default_bnns_main_0"} {
  %f = relay.fn (%a: tensor<1x8xf32>, %b: tensor<4x8xf32>) -> tensor<1x4xf32> attributes {Composite = "bnns.dense_relu"} {
    // expected-remark@+1 {{nn.dense comes back from bnns: there is a pattern table of bnns, but no backend}}
    %0 = relay.nn.dense %a, %b : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    // expected-remark@+1 {{nn.relu comes back from bnns}}
    %1 = relay.nn.relu %0 : tensor<1x4xf32>
    relay.return %1 : tensor<1x4xf32>
  }
  %r = relay.call %f(%i0, %i1) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
}
