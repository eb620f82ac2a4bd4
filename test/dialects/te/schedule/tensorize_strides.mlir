// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// The weights are not packed in the order that the instruction reads.

te.func @f(%A: tensor<8x32xui8>, %W: tensor<32x32xi8>) -> tensor<8x32xi32> {
  %C = te.compute "C" [8, 32] sum [32] (%m, %n, %k) : tensor<8x32xi32> {
    %x = te.read %A[%m, %k] : tensor<8x32xui8>
    %y = te.read %W[%n, %k] : tensor<32x32xi8>
    %u = arith.extui %x : i8 to i32
    %s = arith.extsi %y : i8 to i32
    %p = arith.muli %u, %s : i32
    te.yield %p : i32
  }
  te.return %C : tensor<8x32xi32>
}
te.schedule @f {
  %m, %n, %k = te.loops "C" [3]
  %no, %ni = te.split %n [-1, 16]
  %ko, %ki = te.split %k [-1, 4]
  te.reorder %m, %no, %ko, %ni, %ki
  // expected-error@+1 {{%b lies in %W with strides [32, 1], the intrinsic asks for [4, 1]}}
  te.tensorize %ni @cpu.vnni_u8s8s32_16x4
}
