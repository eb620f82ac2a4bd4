// RUN: opt-tool %s -p relay-eta-expand | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %f = relay.fn
// CHECK:        %a = relay.call %f(%x)
// CHECK-NEXT:   %b = func.call @double(%a)
func.func @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%p: tensor<8xf32>) -> tensor<8xf32> {
    %q = relay.exp %p : tensor<8xf32>
    relay.return %q : tensor<8xf32>
  }
  %a = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @double(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
