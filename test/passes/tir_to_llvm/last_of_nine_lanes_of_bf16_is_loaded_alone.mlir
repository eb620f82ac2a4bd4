// RUN: opt-tool %s -p tir-vectorize-loop,tir-to-llvm | filecheck %s
// For machines with AVX512-BF16, LLVM's code generator ends the process at the ninth lane of a load that it splits.

tir.func @nine(%x: memref<9xbf16>, %y: memref<9xbf16>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 9 vectorized "y.i" {
    %a = tir.load %x[%i] : memref<9xbf16>
    tir.store %a, %y[%i] : memref<9xbf16>
  }
}
// CHECK-LABEL: @nine
// CHECK:         %[[EIGHT:.*]] = llvm.load %x{{.*}} -> vector<8xbf16>
// CHECK:         %[[AT:.*]] = llvm.getelementptr %x[8]
// CHECK-NEXT:    %[[LAST:.*]] = llvm.load %[[AT]] {{.*}} -> bf16
// CHECK:         %[[LONGER:.*]] = llvm.shufflevector %[[EIGHT]], {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 0] : vector<8xbf16>
// CHECK:         llvm.insertelement %[[LAST]], %[[LONGER]]
// CHECK:         llvm.store {{.*}} : vector<9xbf16>

tir.func @near(%x: memref<17xbf16>, %y: memref<34xbf16>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane mod 17] : memref<17xbf16>, vector<34xbf16>
  tir.store %v, %y[lane] : memref<34xbf16>, vector<34xbf16>
}
// CHECK-LABEL: @near
// CHECK:         llvm.load %x{{.*}} -> vector<16xbf16>
// CHECK:         llvm.load {{.*}} -> bf16

tir.func @ten(%x: memref<10xbf16>, %y: memref<10xbf16>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane] : memref<10xbf16>, vector<10xbf16>
  tir.store %v, %y[lane] : memref<10xbf16>, vector<10xbf16>
}
// CHECK-LABEL: @ten
// CHECK:         llvm.load %x{{.*}} -> vector<10xbf16>

tir.func @nine_of_f32(%x: memref<9xf32>, %y: memref<9xf32>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane] : memref<9xf32>, vector<9xf32>
  tir.store %v, %y[lane] : memref<9xf32>, vector<9xf32>
}
// CHECK-LABEL: @nine_of_f32
// CHECK:         llvm.load %x{{.*}} -> vector<9xf32>
