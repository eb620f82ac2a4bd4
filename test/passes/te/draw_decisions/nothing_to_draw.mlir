// RUN: opt-tool %s -p te-draw-decisions | filecheck %s

te.func @f(%A: tensor<8xf32>) -> tensor<8xf32> {
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %A[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8xf32>
}
// CHECK:      te.schedule @f attributes {seed = 7 : i64} {
// CHECK-NEXT:   %i = te.loops "C" [1]
// CHECK-NEXT:   te.unroll %i
// CHECK-NEXT: }
te.schedule @f attributes {seed = 7 : i64} {
  %i = te.loops "C" [1]
  te.unroll %i
}
