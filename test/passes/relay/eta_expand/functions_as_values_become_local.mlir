// RUN: opt-tool %s -p relay-eta-expand --verify-locations | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %f = relay.fn (%{{.*}}: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:     func.call @double
// CHECK-NEXT:     relay.return
// CHECK-NEXT:   }
// CHECK-NEXT:   %y = func.call @double(%x)
// CHECK-NEXT:   func.return %y, %f
func.func @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, (tensor<8xf32>) -> tensor<8xf32>) {
  %f = relay.global @double : (tensor<8xf32>) -> tensor<8xf32>
  %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y, %f : tensor<8xf32>, (tensor<8xf32>) -> tensor<8xf32>
}
