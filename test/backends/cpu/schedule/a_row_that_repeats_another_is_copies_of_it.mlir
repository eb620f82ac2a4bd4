// RUN: opt-tool %s -p cpu-schedule | filecheck %s
// RUN: opt-tool %s -p cpu-schedule,te-to-tir,tir-lower-blocks,tir-loop-partition,tir-simplify,tir-vectorize-loop | filecheck %s --check-prefix=TIR
// A tile of rows of 40 elements is two loops, so that vectors have no remainders. Of rows that are shorter than a
// vector, and where something else is read along all of the row, it stays one.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  te.func @tile(%X: tensor<6x40xf32>) -> tensor<6x120xf32> {
    %y = te.compute "y" [6, 120] (%i, %j) : tensor<6x120xf32> {
      %x = te.read %X[%i, %j mod 40] : tensor<6x40xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<6x120xf32>
  }
  te.func @short(%X: tensor<6x8xf32>) -> tensor<6x120xf32> {
    %y = te.compute "y" [6, 120] (%i, %j) : tensor<6x120xf32> {
      %x = te.read %X[%i, %j mod 8] : tensor<6x8xf32>
      te.yield %x : f32
    }
    te.return %y : tensor<6x120xf32>
  }
  te.func @added(%X: tensor<6x40xf32>, %Z: tensor<6x120xf32>) -> tensor<6x120xf32> {
    %y = te.compute "y" [6, 120] (%i, %j) : tensor<6x120xf32> {
      %x = te.read %X[%i, %j mod 40] : tensor<6x40xf32>
      %z = te.read %Z[%i, %j] : tensor<6x120xf32>
      %s = arith.addf %x, %z : f32
      te.yield %s : f32
    }
    te.return %y : tensor<6x120xf32>
  }
}

// CHECK-LABEL: te.schedule @tile {
// CHECK-NEXT:   %i, %j = te.loops "y" [2]
// CHECK-NEXT:   %jo, %ji = te.split %j [-1, 40]
// CHECK-NEXT:   %jio, %jii = te.split %ji [-1, 16]
// CHECK-NEXT:   te.reorder %i, %jo, %jio, %jii
// CHECK-NEXT:   %i_jo = te.fuse %i, %jo
// CHECK-NEXT:   te.parallel %i_jo
// CHECK-LABEL: te.schedule @short {
// CHECK-NEXT:   %i, %j = te.loops "y" [2]
// CHECK-NEXT:   %jo, %ji = te.split %j [-1, 16]
// CHECK-LABEL: te.schedule @added {
// CHECK-NEXT:   %i, %j = te.loops "y" [2]
// CHECK-NEXT:   %jo, %ji = te.split %j [-1, 16]

// TIR-LABEL: tir.func @tile
// TIR:         tir.for %jio = 0 to 2
// TIR-NEXT:      tir.load %X[%i_jo floordiv 3, lane + %jio * 16] : memref<6x40xf32>, vector<16xf32>
// TIR:         tir.load %X[%i_jo floordiv 3, lane + 32] : memref<6x40xf32>, vector<8xf32>
