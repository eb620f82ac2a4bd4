// RUN: opt-tool %s -p 'relay-change-batch{batch-size=4}' --verify-diagnostics
// RUN: not opt-tool %s -p 'relay-change-batch{data=img}' 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'relay-change-batch{data=x:9}' 2>&1 | filecheck %s --check-prefix AXIS

// CHECK: no parameter is called 'img'
// AXIS: x: axis 9 is out of range for rank 2
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = relay.nn.relu %x : tensor<2x3xf32>
  // expected-error@+1 {{reshape}}
  %1 = relay.reshape %0 {newshape = [6]} : (tensor<2x3xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
