// RUN: opt-tool %s -p relay-canonicalize-cast | filecheck %s

// CHECK-COUNT-2: relay.cast
// CHECK-NOT:     relay.cast
func.func @main(%x: tensor<8xi32>) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi64>, tensor<8xi64>) {
  %n = relay.cast %x {dtype = "int8"} : (tensor<8xi32>) -> tensor<8xi8>
  %y = relay.multiply %n, %n : tensor<8xi8>
  %z = relay.abs %n : tensor<8xi8>
  %w = relay.cast %x {dtype = "int64"} : (tensor<8xi32>) -> tensor<8xi64>
  %v = relay.abs %w : tensor<8xi64>
  return %y, %z, %w, %v : tensor<8xi8>, tensor<8xi8>, tensor<8xi64>, tensor<8xi64>
}
