// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// A composite inside of a composite goes with it into the function of the region.

// CHECK:      func.func @main
// CHECK-NEXT:   func.call @tvmgen_default_dnnl_main_0(%x)
// CHECK-NEXT:   func.return
// CHECK:      func.func @tvmgen_default_dnnl_main_0
// CHECK-NEXT:   %a = relay.abs
// CHECK-NEXT:   %f = relay.fn {{.*}}Composite = "dnnl.outer"
// CHECK-NEXT:     %g = relay.fn {{.*}}Composite = "dnnl.inner"
// CHECK:          relay.call %g(%p)
// CHECK:        %b = relay.call %f(%a)
// CHECK-NEXT:   relay.tanh %b
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
