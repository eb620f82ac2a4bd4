// RUN: opt-tool %s -p nvptx-tir-to-llvm --verify-diagnostics

tir.func @f_kernel0(%x: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64, device} {
  // expected-error@+1 {{there are no teams on this target: tir-form-teams is for the processor's threads}}
  tir.team {
    tir.for %i = 0 to 4 parallel "y.i" {
      %v = tir.load %x[%i] : memref<4xf32>
      tir.store %v, %y[%i] : memref<4xf32>
    }
  }
}
