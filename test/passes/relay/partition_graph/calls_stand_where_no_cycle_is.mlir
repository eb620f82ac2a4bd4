// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// The first region reads what the second one gives, so its call comes after; its number stays that of its first op.

// CHECK:      %b = func.call @tvmgen_default_dnnl_main_1(%y)
// CHECK-NEXT: %t = relay.erf %b
// CHECK-NEXT: %a, %c = func.call @tvmgen_default_dnnl_main_0(%x, %t)
// CHECK-NEXT: %s = relay.erf %a
// CHECK-NEXT: %d = func.call @tvmgen_default_dnnl_main_2(%b, %s)
// CHECK-NEXT: func.return %c, %d
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.exp %y : tensor<8xf32>
  %s = relay.erf %a : tensor<8xf32>
  %t = relay.erf %b : tensor<8xf32>
  %c = relay.add %a, %t : tensor<8xf32>
  %d = relay.add %b, %s : tensor<8xf32>
  return %c, %d : tensor<8xf32>, tensor<8xf32>
}
