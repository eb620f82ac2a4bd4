// RUN: opt-tool %s -p relay-fold-constant --print-debuginfo | filecheck %s
// The constant that stands for a sum stands where the model has the sum.

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = relay.constant dense<1.0> : tensor<2xf32> loc("weight")
  %b = relay.constant dense<2.0> : tensor<2xf32> loc("bias")
  %c = relay.add %a, %b : tensor<2xf32> loc("sum of the two")
  %y = relay.multiply %x, %c : tensor<2xf32> loc("product")
  return %y : tensor<2xf32>
}

// CHECK:      %c = relay.constant dense<3.000000e+00> : tensor<2xf32> loc("sum of the two")
// CHECK-NEXT: relay.multiply %x, %c : tensor<2xf32> loc("product")
