// RUN: opt-tool %s -p relay-canonicalize-cast | filecheck %s
// Casts to narrower types and values that are returned stay one, and so does what a product reads.

// CHECK-COUNT-3: relay.cast
// CHECK-NOT:     relay.cast
func.func @main(%x: tensor<8xi32>, %a: tensor<8x8xi16>)
    -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi64>, tensor<8xi64>, tensor<8x8xi32>, tensor<8x8xi32>) {
  %n = relay.cast %x {dtype = "int8"} : (tensor<8xi32>) -> tensor<8xi8>
  %y = relay.multiply %n, %n : tensor<8xi8>
  %z = relay.abs %n : tensor<8xi8>
  %w = relay.cast %x {dtype = "int64"} : (tensor<8xi32>) -> tensor<8xi64>
  %v = relay.abs %w : tensor<8xi64>
  %b = relay.cast %a {dtype = "int32"} : (tensor<8x8xi16>) -> tensor<8x8xi32>
  %c = relay.nn.dense %b, %b : tensor<8x8xi32>
  %d = relay.abs %b : tensor<8x8xi32>
  return %y, %z, %w, %v, %c, %d
    : tensor<8xi8>, tensor<8xi8>, tensor<8xi64>, tensor<8xi64>, tensor<8x8xi32>, tensor<8x8xi32>
}
