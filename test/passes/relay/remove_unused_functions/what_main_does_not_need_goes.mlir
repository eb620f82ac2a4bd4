// RUN: opt-tool %s -p relay-remove-unused-functions | filecheck %s
// RUN: opt-tool %s -p 'relay-remove-unused-functions{entry=other}' | filecheck %s --check-prefix=OTHER

// CHECK-NOT: @unused
// CHECK:     func.func @called
// CHECK:     func.func @value
// CHECK-NOT: @other
// CHECK:     func.func @main
// OTHER-NOT: @called
// OTHER:     func.func @other
// OTHER-NOT: @main
func.func @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @unused(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @called(%x: tensor<8xf32>) -> tensor<8xf32> {
  %g = relay.global @value : (tensor<8xf32>) -> tensor<8xf32>
  %y = relay.call %g(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @value(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  %y = relay.if %c -> tensor<8xf32> {
    %z = func.call @called(%x) : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %z : tensor<8xf32>
  } else {
    relay.yield %x : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
