// RUN: opt-tool %s -p relay-fuse-ops | filecheck %s
// A composite is a kernel for somebody else: nothing goes in, nothing inside is fused, at any depth.

// CHECK:      %f = relay.fn (%p: tensor<8xf32>) -> tensor<8xf32> attributes {Composite = "dnnl.outer"} {
// CHECK-NEXT:   %g = relay.fn (%q: tensor<8xf32>) -> tensor<8xf32> attributes {Composite = "dnnl.inner"} {
// CHECK-NEXT:     relay.exp %q
// CHECK:        relay.call %g(%p)
// CHECK-NEXT:   relay.nn.relu
// CHECK:      %a = relay.call %fused_abs(%x)
// CHECK-NEXT: %b = relay.call %f(%a)
// CHECK:      %c = relay.call %fused_tanh(%b)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%p: tensor<8xf32>) -> tensor<8xf32> attributes {Composite = "dnnl.outer"} {
    %g = relay.fn (%q: tensor<8xf32>) -> tensor<8xf32> attributes {Composite = "dnnl.inner"} {
      %1 = relay.exp %q : tensor<8xf32>
      relay.return %1 : tensor<8xf32>
    }
    %2 = relay.call %g(%p) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = relay.nn.relu %2 : tensor<8xf32>
    relay.return %3 : tensor<8xf32>
  }
  %a = relay.abs %x : tensor<8xf32>
  %b = relay.call %f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = relay.tanh %b : tensor<8xf32>
  return %c : tensor<8xf32>
}
