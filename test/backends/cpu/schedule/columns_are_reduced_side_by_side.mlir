// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// Rows of many vectors in tiles of sixteen, the last one apart where they are not even, and a tile for each thread.
// A single vector of columns has partial results of its own.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
  te.func @wide(%X: tensor<100x1024xf32>) -> tensor<1024xf32> {
    %y = te.compute "y" [1024] sum [100] (%i, %k) : tensor<1024xf32> {
      %x = te.read %X[%k, %i] : tensor<100x1024xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<1024xf32>
  }
  te.func @uneven(%X: tensor<100x1000xf32>) -> tensor<1000xf32> {
    %y = te.compute "y" [1000] sum [100] (%i, %k) : tensor<1000xf32> {
      %x = te.read %X[%k, %i] : tensor<100x1000xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<1000xf32>
  }
  te.func @few(%X: tensor<4x100x8xf32>) -> tensor<4x8xf32> {
    %y = te.compute "y" [4, 8] max [100] (%b, %i, %k) : tensor<4x8xf32> {
      %x = te.read %X[%b, %k, %i] : tensor<4x100x8xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<4x8xf32>
  }
  te.func @shared(%X: tensor<100x256xf32>) -> tensor<256xf32> {
    %y = te.compute "y" [256] sum [100] (%i, %k) : tensor<256xf32> {
      %x = te.read %X[%k, %i] : tensor<100x256xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<256xf32>
  }
}

// CHECK-LABEL: te.schedule @wide {
// CHECK:         %io, %ia, %ib = te.split %i [-1, 16, 16]
// CHECK-NEXT:    te.reorder %io, %k, %ia, %ib
// CHECK-NEXT:    %i_out = te.reverse_compute_at "y.out" at %io [1]
// CHECK:         te.unroll %ia
// CHECK-NEXT:    te.vectorize %ib
// CHECK-NEXT:    te.parallel %io
// CHECK-LABEL: te.schedule @uneven {
// CHECK:         %io, %ia, %ib = te.split %i [-1, 16, 16]
// CHECK:         te.partition %io
// CHECK-NEXT:    te.parallel %io
// CHECK-LABEL: te.schedule @few {
// CHECK:         %ko, %ki = te.split %k [-1, 5]
// CHECK-NEXT:    {{.*}} = te.rfactor "y" at %ki axis 1 [4]
// CHECK:         te.compute_at "y.rf" at %[[B:.*]] [4]
// CHECK-NEXT:    te.set_scope "y.rf" "register"
// CHECK:         te.parallel %[[B]]
// CHECK-LABEL: te.schedule @shared {
// CHECK:         %io, %ia, %ib = te.split %i [-1, 8, 16]
