// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s
// A cast between loses nothing where every value is one of the type in between: a boolean is one of the smallest
// integers and of the smallest floats; 8 bits without a sign are none of 8 with one.

// CHECK:      func.func @main
// CHECK-NEXT:   %[[A:.*]] = relay.cast %x {dtype = "float32"} : (tensor<8xi1>) -> tensor<8xf32>
// CHECK-NEXT:   %[[B:.*]] = relay.cast %x {dtype = "int32"} : (tensor<8xi1>) -> tensor<8xi32>
// CHECK-NEXT:   %[[C:.*]] = relay.cast %y {dtype = "int8"}
// CHECK-NEXT:   %[[D:.*]] = relay.cast %[[C]] {dtype = "int32"}
// CHECK-NEXT:   func.return
func.func @main(%x: tensor<8xi1>, %y: tensor<8xui8>) -> (tensor<8xf32>, tensor<8xi32>, tensor<8xi32>) {
  %0 = relay.cast %x {dtype = "int8"} : (tensor<8xi1>) -> tensor<8xi8>
  %1 = relay.cast %0 {dtype = "float32"} : (tensor<8xi8>) -> tensor<8xf32>
  %2 = relay.cast %x {dtype = "uint8"} : (tensor<8xi1>) -> tensor<8xui8>
  %3 = relay.cast %2 {dtype = "int32"} : (tensor<8xui8>) -> tensor<8xi32>
  %4 = relay.cast %y {dtype = "int8"} : (tensor<8xui8>) -> tensor<8xi8>
  %5 = relay.cast %4 {dtype = "int32"} : (tensor<8xi8>) -> tensor<8xi32>
  return %1, %3, %5 : tensor<8xf32>, tensor<8xi32>, tensor<8xi32>
}
