// RUN: opt-tool %s -p relay-manifest-alloc | filecheck %s
// Neither ops outside of kernels, nor calls of functions that compute anything, nor what an external compiler takes.

// CHECK-NOT: relay.memory
// CHECK-NOT: relay.vm
// CHECK:     %y = relay.call %f(%x)
// CHECK:     %z = relay.call %g(%y)
// CHECK-NEXT: %w = relay.abs %z
// CHECK-NEXT: func.return %w
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> {
    %b = relay.exp %a : tensor<8xf32>
    relay.return %b : tensor<8xf32>
  }
  %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %g = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> attributes {Compiler = "dnnl", Primitive = 1 : i64} {
    %b = relay.exp %a : tensor<8xf32>
    relay.return %b : tensor<8xf32>
  }
  %z = relay.call %g(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %w = relay.abs %z : tensor<8xf32>
  return %w : tensor<8xf32>
}
