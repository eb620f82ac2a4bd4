// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions' | filecheck %s
//
//   exp      exp        dnnl
//    | \    / |
//    |  erf  erf        default: each leads to the other pair
//    |    \/   |
//   add      add        dnnl
//
// Either pair may be one region, not both: the second one keeps its border.

// CHECK:      %a = relay.exp
// CHECK:      %b = relay.exp
// CHECK-NEXT: %[[B:[a-z0-9_]+]] = relay.annotation.compiler_end %b {compiler = "dnnl"}
// CHECK:      %c = relay.add %a, %{{[0-9]+}}
// CHECK:      %[[E:[0-9]+]] = relay.annotation.compiler_begin %[[B]] {compiler = "dnnl"}
// CHECK:      %d = relay.add %[[E]], %{{[0-9]+}}
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.exp %y : tensor<8xf32>
  %s = relay.erf %a : tensor<8xf32>
  %t = relay.erf %b : tensor<8xf32>
  %c = relay.add %a, %t : tensor<8xf32>
  %d = relay.add %b, %s : tensor<8xf32>
  return %c, %d : tensor<8xf32>, tensor<8xf32>
}
