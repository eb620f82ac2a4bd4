// RUN: opt-tool %s -p relay-qnn-legalize | filecheck %s
// RUN: opt-tool %s -p 'relay-qnn-legalize{form=int16}' | filecheck %s --check-prefix WIDE
// vpdpbusd multiplies uint8 by int8: the data moves up by 128, its zero point too; the weight is computed now.

#target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "cascadelake", features = "+avx512vnni", vector_bits = 512, registers = 32, threads = 1>
builtin.module attributes {lamina.target = #target} {
  func.func @main(%x: tensor<4x3xi8>) -> tensor<4x2xi32> {
    %w = relay.constant dense<[[1, 2, 255], [0, 128, 4]]> : tensor<2x3xui8>
    %a = relay.constant dense<-14> : tensor<i32>
    %b = relay.constant dense<120> : tensor<i32>
    %s = relay.constant dense<0.5> : tensor<f32>
    %d = relay.qnn.dense %x, %w, %a, %b, %s, %s : (tensor<4x3xi8>, tensor<2x3xui8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<4x2xi32>
    return %d : tensor<4x2xi32>
  }
}

// CHECK:      [[X:%[0-9]+]] = relay.cast {{.*}} {dtype = "uint8"}
// CHECK:      [[A:%[0-9]+]] = relay.constant dense<114> : tensor<i32>
// CHECK:      [[W:%[0-9]+]] = relay.constant dense<[[-127, -126, 127], [-128, 0, -124]]> : tensor<2x3xi8>
// CHECK:      [[B:%[0-9]+]] = relay.constant dense<-8> : tensor<i32>
// CHECK-NEXT: %d = relay.qnn.dense [[X]], [[W]], [[A]], [[B]], %s, %s

// WIDE:       relay.constant dense<[[-119, -118, 135], [-120, 8, -116]]> : tensor<2x3xi16>
// WIDE:       %d = relay.qnn.dense {{.*}} : (tensor<4x3xi16>, tensor<2x3xi16>,
