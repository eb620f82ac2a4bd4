// RUN: opt-tool %s -p 'relay-fold-constant{max-growth=0}' | filecheck %s
// The sum of a weight is small; that its bytes become integers of 32 bits on the way keeps nothing. Read by itself the
// wide weight would be four times as large as the narrow one.

// CHECK-LABEL: func.func @summed
// CHECK-NEXT:    %s = relay.constant dense<6> : tensor<4xi32>
// CHECK-NEXT:    func.return %s
func.func @summed() -> tensor<4xi32> {
  %w = relay.constant dense<2> : tensor<4x3xi8>
  %c = relay.cast %w {dtype = "int32"} : (tensor<4x3xi8>) -> tensor<4x3xi32>
  %s = relay.sum %c {axis = array<i64: 1>} : (tensor<4x3xi32>) -> tensor<4xi32>
  return %s : tensor<4xi32>
}

// CHECK-LABEL: func.func @kept
// CHECK:         relay.cast
func.func @kept() -> tensor<4x3xi32> {
  %w = relay.constant dense<2> : tensor<4x3xi8>
  %c = relay.cast %w {dtype = "int32"} : (tensor<4x3xi8>) -> tensor<4x3xi32>
  return %c : tensor<4x3xi32>
}
