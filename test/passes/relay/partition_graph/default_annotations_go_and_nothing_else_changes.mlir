// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-partition-graph' | filecheck %s
// CHECK:      func.func @main
// CHECK-NEXT:   %a = relay.erf %x
// CHECK-NEXT:   %b = relay.erf %a
// CHECK-NEXT:   func.return %b
// CHECK-NOT:  func.func
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.erf %x : tensor<8xf32>
  %b = relay.erf %a : tensor<8xf32>
  return %b : tensor<8xf32>
}
