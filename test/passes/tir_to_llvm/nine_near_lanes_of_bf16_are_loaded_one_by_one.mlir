// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// LLVM has no code for vectors of 8n + 1 elements of bf16: no load that lanes are shuffled out of has so many.

tir.func @nine(%x: memref<9xbf16>, %y: memref<18xbf16>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane mod 9] : memref<9xbf16>, vector<18xbf16>
  tir.store %v, %y[lane] : memref<18xbf16>, vector<18xbf16>
}
// CHECK-LABEL: @nine
// CHECK-NOT:   vector<9xbf16>
// CHECK:       llvm.store {{.*}} : vector<18xbf16>

tir.func @eight(%x: memref<8xbf16>, %y: memref<16xbf16>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane mod 8] : memref<8xbf16>, vector<16xbf16>
  tir.store %v, %y[lane] : memref<16xbf16>, vector<16xbf16>
}
// CHECK-LABEL: @eight
// CHECK:       llvm.load %x{{.*}} -> vector<8xbf16>
// CHECK:       llvm.shufflevector

tir.func @nine_of_f32(%x: memref<9xf32>, %y: memref<18xf32>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[lane mod 9] : memref<9xf32>, vector<18xf32>
  tir.store %v, %y[lane] : memref<18xf32>, vector<18xf32>
}
// CHECK-LABEL: @nine_of_f32
// CHECK:       llvm.load %x{{.*}} -> vector<9xf32>
