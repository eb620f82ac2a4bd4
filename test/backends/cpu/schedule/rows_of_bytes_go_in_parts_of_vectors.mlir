// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Bytes that lie apart are not gathered. A row of 64 is read as it lies, by 32 lanes, half a vector; one of 9 is not.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @row(%X: tensor<600x64xi8>) -> tensor<600xi8> {
    %y = te.compute "y" [600] max [64] (%i, %k) : tensor<600xi8> {
      %x = te.read %X[%i, %k] : tensor<600x64xi8>
      te.yield %x : i8
    }
    te.return %y : tensor<600xi8>
  }
  te.func @short(%X: tensor<600x9xi8>) -> tensor<600xi8> {
    %y = te.compute "y" [600] max [9] (%i, %k) : tensor<600xi8> {
      %x = te.read %X[%i, %k] : tensor<600x9xi8>
      te.yield %x : i8
    }
    te.return %y : tensor<600xi8>
  }
}
// CHECK-LABEL: te.schedule @row {
// CHECK:         te.split %k [-1, 8, 4]
// CHECK:         te.rfactor "y" at
// CHECK:         te.rfactor "y.rf" at
// CHECK-LABEL: te.schedule @short {
// CHECK-NOT:     te.rfactor
