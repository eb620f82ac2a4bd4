// RUN: opt-tool %s --load %S/../../examples/qnn_passes.py -p qnn-quantize-const-fold,remove-clip-after-requantize | filecheck %s

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi8>, tensor<2xi8>) {
  %w = relay.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<1> : tensor<i32>
  %a = relay.qnn.quantize %w, %s, %z : (tensor<2xf32>, tensor<f32>, tensor<i32>) -> tensor<2xi8>
  %b = relay.qnn.requantize %x, %s, %z, %s, %z : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  %c = relay.clip %b {a_min = -128.0, a_max = 127.0} : tensor<4xi8>
  return %c, %a : tensor<4xi8>, tensor<2xi8>
}

// CHECK:      %a = relay.constant dense<[3, -3]> : tensor<2xi8>
// CHECK-NEXT: %b = relay.qnn.requantize
// CHECK-NEXT: func.return %b, %a
