// RUN: opt-tool %s -p relay-remove-unused-functions | filecheck %s

// CHECK: func.func @first
// CHECK: func.func @second
func.func @first(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @second(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
