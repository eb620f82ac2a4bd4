// RUN: opt-tool %s -p te-open-space | filecheck %s
// RUN: opt-tool %s -p te-open-space,te-draw-decisions,te-to-tir -o %t.a
// RUN: opt-tool %s -p te-to-tir -o %t.b
// RUN: diff %t.a %t.b
// As it stands a space is the schedule that it was made of.

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
  %jo, %ja, %ji = te.split %j [-1, 3, 8]
  %io, %ii = te.split %i [2, -1]
  te.unroll %ja
  te.vectorize %ji
  te.prefetch "A" at %io offset 1
  te.partition %jo
}

// CHECK:      te.schedule @f {
// CHECK-NEXT:   %i, %j = te.loops "C" [2]
// CHECK-NEXT:   %v = te.sample_categorical [1, 2, 3, 4, 5, 6, 7, 8, 10, 12] knob "j_1" decision 2
// CHECK-NEXT:   %v_1 = te.sample_categorical [4, 8, 16] knob "j_2" decision 1
// CHECK-NEXT:   %jo, %ja, %ji = te.split %j [-1, %v, %v_1]
// CHECK-NEXT:   %v_2 = te.sample_categorical [1, 2, 3, 4, 5, 6, 7, 8] knob "i_0" decision 1
// CHECK-NEXT:   %io, %ii = te.split %i [%v_2, -1]
// CHECK-NEXT:   te.sample_annotation %ja ["none", "unroll"] knob "ja" decision 1
// CHECK-NEXT:   te.vectorize %ji
// CHECK-NEXT:   te.choose knob "io_prefetch" decision 0 {
// CHECK-NEXT:     te.prefetch "A" at %io offset 1
// CHECK-NEXT:   } {
// CHECK-NEXT:   }
// CHECK-NEXT:   te.choose knob "jo_partition" decision 0 {
// CHECK-NEXT:     te.partition %jo
// CHECK-NEXT:   } {
// CHECK-NEXT:   }
// CHECK-NEXT: }
