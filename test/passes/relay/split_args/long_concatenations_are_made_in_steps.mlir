// RUN: opt-tool %s -p 'relay-split-args{max-function-args=2}' | filecheck %s

// CHECK:      [[A:%.*]] = relay.concatenate %a, %b {axis = 1}
// CHECK-NEXT: [[B:%.*]] = relay.annotation.stop_fusion [[A]]
// CHECK-NEXT: [[C:%.*]] = relay.concatenate %a, %a {axis = 1}
// CHECK-NEXT: [[D:%.*]] = relay.annotation.stop_fusion [[C]]
// CHECK-NEXT: [[E:%.*]] = relay.concatenate [[B]], [[D]] {axis = 1}
// CHECK-NEXT: [[F:%.*]] = relay.annotation.stop_fusion [[E]]
// CHECK-NEXT: %y = relay.concatenate [[F]], %b {axis = 1} : {{.*}} -> tensor<2x7xf32>
func.func @main(%a: tensor<2x1xf32>, %b: tensor<2x2xf32>) -> tensor<2x7xf32> {
  %y = relay.concatenate %a, %b, %a, %a, %b {axis = 1}
    : (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}
