// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions' | filecheck %s
// The call of a composite is one op of its compiler; what is inside has no annotations.

// CHECK:      relay.fn
// CHECK-NEXT:   relay.fn
// CHECK-NEXT:     relay.exp %q
// CHECK-NEXT:     relay.return
// CHECK-NEXT:   }
// CHECK-NEXT:   relay.call %g(%p)
// CHECK-NEXT:   relay.return
// CHECK-NEXT: }
// CHECK:      %[[X:[0-9]+]] = relay.annotation.compiler_begin %x {compiler = "dnnl"}
// CHECK-NEXT: %a = relay.abs %[[X]]
// CHECK-NEXT: %b = relay.call %f(%a)
// CHECK-NEXT: %c = relay.tanh %b
// CHECK-NEXT: relay.annotation.compiler_end %c {compiler = "dnnl"}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%p: tensor<8xf32>) -> tensor<8xf32> attributes {Composite = "dnnl.outer"} {
    %g = relay.fn (%q: tensor<8xf32>) -> tensor<8xf32> attributes {Composite = "dnnl.inner"} {
      %1 = relay.exp %q : tensor<8xf32>
      relay.return %1 : tensor<8xf32>
    }
    %2 = relay.call %g(%p) : (tensor<8xf32>) -> tensor<8xf32>
    relay.return %2 : tensor<8xf32>
  }
  %a = relay.abs %x : tensor<8xf32>
  %b = relay.call %f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = relay.tanh %b : tensor<8xf32>
  return %c : tensor<8xf32>
}
