// RUN: not opt-tool %s 2>&1 | filecheck %s

tir.func @f(%x: memref<4xf32>) {
  %a = tir.load %x[lane] : memref<4xf32>, vector<4xf32>
  %b = tir.shuffle %a, %a [0, 8] : vector<4xf32>
}

// CHECK: there is no lane 8; two vectors of 4 have the lanes 0 to 7
