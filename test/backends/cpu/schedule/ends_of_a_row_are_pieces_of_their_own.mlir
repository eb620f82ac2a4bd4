// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// RUN: opt-tool %s -p cpu-schedule,te-to-tir,tir-lower-blocks,tir-loop-partition,tir-simplify,tir-vectorize-loop | filecheck %s --check-prefix=TIR
// RUN: sed 's/threads = 1/threads = 2/' %s | opt-tool - -p cpu-schedule | filecheck %s --check-prefix=THREADS
// Padding is met by the first vector of a row and by the last one, so that those between take no mask. Where nothing is
// asked of a row's elements, and it ends with a vector, there is one piece; likewise where a tail has no code. A single
// row is cut where one thread goes through it; several share it out.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @pad(%X: tensor<6x98xf32>) -> tensor<6x100xf32> {
    %y = te.compute "y" [6, 100] (%i, %j) : tensor<6x100xf32> {
      %x = te.read %X[%i, %j - 1] where [%j - 1 >= 0, %j * -1 + 98 >= 0] : tensor<6x98xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<6x100xf32>
  }
  te.func @absolute(%X: tensor<6x98xf32>) -> tensor<6x100xf32> {
    %y = te.compute "y" [6, 100] (%i, %j) : tensor<6x100xf32> {
      %x = te.read %X[%i, %j - 1] where [%j - 1 >= 0, %j * -1 + 98 >= 0] : tensor<6x98xf32>
      %f = math.absf %x : f32
      te.yield %f : f32
    }
    te.return %y : tensor<6x100xf32>
  }
  te.func @exponential(%X: tensor<6x98xf32>) -> tensor<6x100xf32> {
    %y = te.compute "y" [6, 100] (%i, %j) : tensor<6x100xf32> {
      %x = te.read %X[%i, %j - 1] where [%j - 1 >= 0, %j * -1 + 98 >= 0] : tensor<6x98xf32>
      %f = math.exp %x : f32
      te.yield %f : f32
    }
    te.return %y : tensor<6x100xf32>
  }
  te.func @rows_above(%X: tensor<6x96xf32>) -> tensor<8x96xf32> {
    %y = te.compute "y" [8, 96] (%i, %j) : tensor<8x96xf32> {
      %x = te.read %X[%i - 2, %j] where [%i - 2 >= 0] : tensor<6x96xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<8x96xf32>
  }
  te.func @bf16(%X: tensor<6x50xbf16>) -> tensor<6x49xbf16> {
    %y = te.compute "y" [6, 49] (%i, %j) : tensor<6x49xbf16> {
      %x = te.read %X[%i, %j] : tensor<6x50xbf16>
      te.yield %x : bf16
    }
    te.return %y : tensor<6x49xbf16>
  }
  te.func @line(%X: tensor<500xf32>, %Y: tensor<301xf32>) -> tensor<801xf32> {
    %y = te.compute "y" [801] (%i) : tensor<801xf32> {
      %b = te.read %Y[%i - 500] where [%i - 500 >= 0] : tensor<301xf32>
      %a = te.read %X[%i] where [%i * -1 + 499 >= 0] : tensor<500xf32>
      %c = te.condition [%i * -1 + 499 >= 0] : i1
      %v = arith.select %c, %a, %b : f32
      te.yield %v : f32
    }
    te.return %y : tensor<801xf32>
  }
}

// CHECK-LABEL: te.schedule @pad {
// CHECK:        te.pragma %jo "loop_partition_hint" = 6
// An exponential is so much code that there are three at most; an absolute value is one instruction.
// CHECK-LABEL: te.schedule @absolute {
// CHECK:        te.pragma %jo "loop_partition_hint" = 6
// CHECK-LABEL: te.schedule @exponential {
// CHECK:        te.pragma %jo "loop_partition_hint" = 3
// CHECK-LABEL: te.schedule @rows_above {
// CHECK-NOT:    te.pragma
// CHECK-LABEL: te.schedule @bf16 {
// CHECK:        te.pragma %jo "loop_partition_hint" = 2
// CHECK-LABEL: te.schedule @line {
// CHECK-NEXT:   %i = te.loops "y" [1]
// CHECK-NEXT:   %io, %ii = te.split %i [-1, 16]
// CHECK-NEXT:   te.reorder %io, %ii
// CHECK-NEXT:   te.pragma %io "loop_partition_hint" = 6
// CHECK-NEXT:   te.vectorize %ii

// THREADS-LABEL: te.schedule @line {
// THREADS:        te.parallel %io
// THREADS-NOT:    te.pragma

// TIR-LABEL: tir.func @pad
// TIR:         tir.load %X[%i, lane - 1] where [lane - 1 >= 0] : memref<6x98xf32>, vector<16xf32>
// TIR:         tir.for %jo = 0 to 5
// TIR-NEXT:      tir.load %X[%i, lane + %jo * 16 + 15] : memref<6x98xf32>, vector<16xf32>
// TIR:         tir.load %X[%i, lane + 95] where [lane * -1 + 2 >= 0] : memref<6x98xf32>, vector<4xf32>
// TIR-NEXT:    tir.store %{{.*}}, %y_out[%i, lane + 96] : memref<6x100xf32>, vector<4xf32>
