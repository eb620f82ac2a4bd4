// RUN: opt-tool %s -p 'relay-annotate-target{targets=bnns,dnnl}' | filecheck %s
// The name says whose it is, and the body is not entered. Ops without operands are inputs of regions.

// CHECK:      relay.fn
// CHECK-NEXT:   relay.nn.relu %a
// CHECK-NEXT:   relay.return
// CHECK-NOT:  annotation
// CHECK:      %z = relay.zeros
// CHECK-NEXT: %[[Z:[0-9]+]] = relay.annotation.compiler_begin %z {compiler = "dnnl"}
// CHECK-NEXT: %y = relay.call %f(%[[Z]])
// CHECK-NEXT: relay.annotation.compiler_end %y {compiler = "dnnl"}
func.func @main() -> tensor<4xf32> {
  %f = relay.fn (%a: tensor<4xf32>) -> tensor<4xf32> attributes {Composite = "dnnl.relu"} {
    %r = relay.nn.relu %a : tensor<4xf32>
    relay.return %r : tensor<4xf32>
  }
  %z = relay.zeros {shape = [4], dtype = "float32"} : () -> tensor<4xf32>
  %y = relay.call %f(%z) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
