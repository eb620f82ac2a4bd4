// RUN: opt-tool %s -p relay-fuse-ops,relay-label-ops | filecheck %s

// CHECK: relay.fn {{.*}} attributes {Primitive = 1 : i64, hash = "[[A:[0-9a-f]+]]"}
// CHECK: relay.fn {{.*}} attributes {Primitive = 1 : i64, hash = "[[A]]"}
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = relay.clip %x {a_min = 0.0, a_max = 1.0} : tensor<8xf32>
  %b = relay.clip %y {a_min = 0.0, a_max = 1.0} : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
