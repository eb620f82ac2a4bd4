// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// What stands in a branch becomes a function by itself; the choice stays where it is, though dnnl computes inside.

// CHECK:      %z = func.call @tvmgen_default_dnnl_main_0(%x)
// CHECK-NEXT: %r = relay.if %c -> tensor<8xf32> {
// CHECK-NEXT:   %a = func.call @tvmgen_default_dnnl_main_1(%z, %x)
// CHECK-NEXT:   relay.yield %a
// CHECK-NEXT: } else {
// CHECK-NEXT:   %b = relay.erf %x
// CHECK-NEXT:   relay.yield %b
// CHECK:      func.func @tvmgen_default_dnnl_main_1(%dnnl_1_i0: tensor<8xf32>, %dnnl_1_i1: tensor<8xf32>)
// CHECK-NEXT:   %[[E:[a-z0-9]+]] = relay.exp %dnnl_1_i0
// CHECK-NEXT:   relay.add %[[E]], %dnnl_1_i1
func.func @main(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %z = relay.abs %x : tensor<8xf32>
  %r = relay.if %c -> tensor<8xf32> {
    %e = relay.exp %z : tensor<8xf32>
    %a = relay.add %e, %x : tensor<8xf32>
    relay.yield %a : tensor<8xf32>
  } else {
    %b = relay.erf %x : tensor<8xf32>
    relay.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
