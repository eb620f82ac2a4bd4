// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s
// An interval of the whole type; a cast there and back of an interval that the narrow type holds.

// CHECK:      %b = relay.abs %x
// CHECK-NEXT: %c = relay.clip %y {a_max = 255.0, a_min = 0.0}
// CHECK-NEXT: func.return %b, %c
func.func @main(%x: tensor<8xi8>, %y: tensor<8xi32>) -> (tensor<8xi8>, tensor<8xi32>) {
  %a = relay.clip %x {a_max = 127.0, a_min = -128.0} : tensor<8xi8>
  %b = relay.abs %a : tensor<8xi8>
  %c = relay.clip %y {a_max = 255.0, a_min = 0.0} : tensor<8xi32>
  %d = relay.cast %c {dtype = "uint8"} : (tensor<8xi32>) -> tensor<8xui8>
  %e = relay.cast %d {dtype = "int32"} : (tensor<8xui8>) -> tensor<8xi32>
  return %b, %e : tensor<8xi8>, tensor<8xi32>
}
