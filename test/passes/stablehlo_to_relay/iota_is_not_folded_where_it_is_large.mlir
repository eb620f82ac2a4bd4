// RUN: opt-tool %s -p stablehlo-to-relay | filecheck %s

// CHECK:      %0 = relay.arange {dtype = "int32", stop = 90.0} : tensor<90xi32>
// CHECK-NEXT: %1 = relay.reshape %0 {allowzero = true, newshape = [1, 90]} : (tensor<90xi32>) -> tensor<1x90xi32>
// CHECK-NEXT: %y = relay.broadcast_to %1 {shape = [90, 90]} : (tensor<1x90xi32>) -> tensor<90x90xi32>
// CHECK-NEXT: func.return %y : tensor<90x90xi32>
// CHECK-NOT:  stablehlo
func.func @main() -> tensor<90x90xi32> {
  %y = stablehlo.iota dim = 1 : tensor<90x90xi32>
  return %y : tensor<90x90xi32>
}
