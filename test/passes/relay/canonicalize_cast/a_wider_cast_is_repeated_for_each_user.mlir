// RUN: opt-tool %s -p relay-canonicalize-cast | filecheck %s

// CHECK:      %w = relay.cast %x {dtype = "int32"}
// CHECK-NEXT: %y = relay.multiply %w, %w
// CHECK-NEXT: [[V:%.*]] = relay.cast %x {dtype = "int32"}
// CHECK-NEXT: %z = relay.add %a, [[V]]
func.func @main(%x: tensor<8xi8>, %a: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %w = relay.cast %x {dtype = "int32"} : (tensor<8xi8>) -> tensor<8xi32>
  %y = relay.multiply %w, %w : tensor<8xi32>
  %z = relay.add %a, %w : tensor<8xi32>
  return %y, %z : tensor<8xi32>, tensor<8xi32>
}
