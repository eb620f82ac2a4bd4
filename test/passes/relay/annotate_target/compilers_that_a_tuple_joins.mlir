// RUN: opt-tool %s -p 'relay-annotate-target{targets=bnns,dnnl}' | filecheck %s
// Fields of two compilers belong to neither; what is no tensor op (choices, cells) gets no annotation.

// CHECK:      relay.annotation.compiler_end %d {compiler = "bnns"}
// CHECK:      relay.annotation.compiler_end %r {compiler = "dnnl"}
// CHECK-NEXT: %t = relay.tuple(
// CHECK-NEXT: relay.ref_create %{{.*}} :
// CHECK-NEXT: relay.ref_read
// CHECK-NEXT: relay.if %c ->
// CHECK-NEXT:   relay.annotation.compiler_begin %v {compiler = "dnnl"}
// CHECK-NEXT:   relay.exp
// CHECK-NEXT:   %[[E:[a-z0-9_]+]] = relay.annotation.compiler_end %{{.*}} {compiler = "dnnl"}
// CHECK-NEXT:   relay.yield %[[E]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   relay.yield %v
func.func @main(%c: tensor<i1>, %x: tensor<2x4xf32>, %w: tensor<8x4xf32>) -> (tuple<tensor<2x8xf32>, tensor<2x8xf32>>, tensor<2x8xf32>) {
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %r = relay.nn.relu %d : tensor<2x8xf32>
  %t = relay.tuple(%d, %r) : tuple<tensor<2x8xf32>, tensor<2x8xf32>>
  %k = relay.ref_create %r : tensor<2x8xf32>
  %v = relay.ref_read %k : !relay.ref<tensor<2x8xf32>>
  %i = relay.if %c -> tensor<2x8xf32> {
    %e = relay.exp %v : tensor<2x8xf32>
    relay.yield %e : tensor<2x8xf32>
  } else {
    relay.yield %v : tensor<2x8xf32>
  }
  return %t, %i : tuple<tensor<2x8xf32>, tensor<2x8xf32>>, tensor<2x8xf32>
}
