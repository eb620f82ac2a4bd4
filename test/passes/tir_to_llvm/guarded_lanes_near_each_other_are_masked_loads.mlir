// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Every second element, of which six lanes are wanted: the eleven elements from the first to the last of them.
// What a loop decides for all lanes is part of the mask. Where it is none of a range of lanes, each is loaded by itself.

// CHECK-LABEL: llvm.func internal @f.body
// CHECK:         dense<[true, true, true, true, false, false, false, false]> : vector<8xi1>
// CHECK:         llvm.load {{.*}} -> vector<8xf32>
// CHECK-NEXT:    llvm.shufflevector {{.*}} [0, 2, 4, 6, {{.*}}] : vector<8xf32>
// CHECK:         llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK:         llvm.shufflevector {{.*}} [0, 1, 2, 3, 9, 11, 13, 15] : vector<8xf32>
// CHECK:         llvm.icmp "sge"
// CHECK:         llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK:         llvm.intr.masked.load {{.*}} -> vector<8xf32>
// CHECK-NOT:     masked.load
// CHECK:         llvm.insertelement
tir.func @f(%X: memref<64xf32>, %y: memref<2x8xf32>) {
  %a = tir.load %X[lane * 2] where [lane * -1 + 5 >= 0] : memref<64xf32>, vector<8xf32>
  tir.store %a, %y[0, lane] : memref<2x8xf32>, vector<8xf32>
  tir.for %i = 0 to 4 "i" {
    %c = tir.load %X[lane * 2 + %i] where [%i - 2 >= 0] : memref<64xf32>, vector<8xf32>
    tir.store %c, %y[0, lane] : memref<2x8xf32>, vector<8xf32>
  }
  %b = tir.load %X[lane * 2] where [lane floordiv 2 - 1 >= 0] : memref<64xf32>, vector<8xf32>
  tir.store %b, %y[1, lane] : memref<2x8xf32>, vector<8xf32>
}
func.func @main(%X: memref<64xf32>, %y: memref<2x8xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%X, %y) : memref<64xf32>, memref<2x8xf32>
  func.return
}
