// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s
// int8 does not hold 255, nor does an interval without 127 hold all of int8; a sum of two values is no double.

// CHECK:      relay.clip
// CHECK-NEXT: relay.cast {{.*}} {dtype = "int8"}
// CHECK-NEXT: relay.cast {{.*}} {dtype = "int32"}
// CHECK-NEXT: relay.add %x, %y
// CHECK-NEXT: relay.clip %z
// CHECK-NEXT: func.return
func.func @main(%x: tensor<8xi32>, %y: tensor<8xi32>, %z: tensor<8xi8>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi8>) {
  %c = relay.clip %y {a_max = 255.0, a_min = 0.0} : tensor<8xi32>
  %d = relay.cast %c {dtype = "int8"} : (tensor<8xi32>) -> tensor<8xi8>
  %e = relay.cast %d {dtype = "int32"} : (tensor<8xi8>) -> tensor<8xi32>
  %f = relay.add %x, %y : tensor<8xi32>
  %g = relay.clip %z {a_max = 126.0, a_min = -128.0} : tensor<8xi8>
  return %e, %f, %g : tensor<8xi32>, tensor<8xi32>, tensor<8xi8>
}
