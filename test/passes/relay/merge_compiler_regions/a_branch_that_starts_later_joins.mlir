// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions' | filecheck %s
// %p is ready before the default op, %q only after it: all three of dnnl are one region, since nothing leads back.

// CHECK:      relay.abs
// CHECK:      relay.erf
// CHECK:      %q = relay.nn.relu
// CHECK-NEXT: %r = relay.add %p, %q
// CHECK-NEXT: relay.annotation.compiler_end %r {compiler = "dnnl"}
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %p = relay.abs %x : tensor<8xf32>
  %c = relay.erf %y : tensor<8xf32>
  %q = relay.nn.relu %c : tensor<8xf32>
  %r = relay.add %p, %q : tensor<8xf32>
  return %r : tensor<8xf32>
}
