// RUN: opt-tool %s -p te-open-space | filecheck %s
// RUN: opt-tool %s -p te-open-space,te-open-space | filecheck %s
// Numbers that are drawn, factors whose product is the extent, and loops that no number decides.

te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
    %x = te.read %A[%i, %j] : tensor<8x32xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %c : tensor<8x32xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  %f = te.sample_categorical [4, 8] knob "j" decision 1
  %jo, %ji = te.split %j [-1, %f]
  %io, %ii = te.split %i [2, 4]
  te.parallel %io
}

// CHECK:      te.schedule @f {
// CHECK-NEXT:   %i, %j = te.loops "C" [2]
// CHECK-NEXT:   %f = te.sample_categorical [4, 8] knob "j" decision 1
// CHECK-NEXT:   %jo, %ji = te.split %j [-1, %f]
// CHECK-NEXT:   %io, %ii = te.split %i [2, 4]
// CHECK-NEXT:   te.parallel %io
// CHECK-NEXT: }
