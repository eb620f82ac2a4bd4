// RUN: opt-tool %s -p relay-first-order-gradient{function=f} | filecheck %s
// Others go on calling the function as it was.

// CHECK:      func.func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK:      func.func @f_alone(%x: tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   relay.exp
// CHECK-NEXT:   return
// CHECK:      func.func @main
// CHECK-NEXT:   func.call @f_alone(%x) : (tensor<f32>) -> tensor<f32>
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %y = relay.exp %x : tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
