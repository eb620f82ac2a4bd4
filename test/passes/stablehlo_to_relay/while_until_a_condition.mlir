// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.fn captures(%x_1 = %x : tensor<f32>) self %1 (%v: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: %c = relay.constant dense<1.000000e+01> : tensor<f32>
// CHECK-NEXT: %2 = relay.less %v, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %3 = relay.if %2 -> tensor<f32> {
// CHECK-NEXT: %4 = relay.add %v, %x_1 : tensor<f32>
// CHECK-NEXT: %5 = relay.call %1(%4) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: relay.yield %5 : tensor<f32>
// CHECK-NEXT: } else {
// CHECK-NEXT: relay.yield %v : tensor<f32>
// CHECK:      relay.return %3 : tensor<f32>
// CHECK:      %y = relay.call %0(%x) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: func.return %y : tensor<f32>
// CHECK-NOT:  stablehlo
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.while(%v = %x) : tensor<f32>
  cond {
    %c = stablehlo.constant dense<10.0> : tensor<f32>
    %0 = stablehlo.compare LT, %v, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %1 = stablehlo.add %v, %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %y : tensor<f32>
}
