// RUN: opt-tool %s -p 'te-to-tir{stop-after=4}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// A nest that computes what an intrinsic of the tree describes becomes the intrinsic's implementation.

te.func @f(%A: tensor<8x32xui8>, %W: tensor<2x8x16x4xi8>) -> tensor<8x32xi32> {
  %C = te.compute "C" [8, 32] sum [32] (%m, %n, %k) : tensor<8x32xi32> {
    %x = te.read %A[%m, %k] : tensor<8x32xui8>
    %y = te.read %W[%n floordiv 16, %k floordiv 4, %n mod 16, %k mod 4] : tensor<2x8x16x4xi8>
    %u = arith.extui %x : i8 to i32
    %s = arith.extsi %y : i8 to i32
    %p = arith.muli %s, %u : i32
    te.yield %p : i32
  }
  te.return %C : tensor<8x32xi32>
}
te.schedule @f {
  %m, %n, %k = te.loops "C" [3]
  %no, %ni = te.split %n [-1, 16]
  %ko, %ki = te.split %k [-1, 4]
  te.reorder %m, %no, %ko, %ni, %ki
  te.tensorize %ni @cpu.vnni_u8s8s32_16x4
}

// BEFORE:            tir.for %ko = 0 to 8 reduction "C.k.0" {
// BEFORE-NEXT:         tir.for %ni = 0 to 16 "C.n.1" {
// BEFORE-NEXT:           tir.for %ki = 0 to 4 reduction "C.k.1" {
// BEFORE-NEXT:             tir.block "C" init {
// BEFORE-NEXT:               %0 = arith.constant 0 : i32
// BEFORE-NEXT:               tir.store %0, %C_out[%m, %ni + %no * 16] : memref<8x32xi32>
// BEFORE-NEXT:             } do {
// BEFORE-NEXT:               %1 = tir.load %C_out[%m, %ni + %no * 16] : memref<8x32xi32>
// BEFORE-NEXT:               %x = tir.load %A[%m, %ki + %ko * 4] : memref<8x32xui8>
// BEFORE-NEXT:               %y = tir.load %W[%no, %ko, %ni, %ki] : memref<2x8x16x4xi8>

// CHECK-LABEL:  tir.func @f(%A: memref<8x32xui8>, %W: memref<2x8x16x4xi8>, %C_out: memref<8x32xi32>)
// CHECK-NEXT:     tir.for %m = 0 to 8 "C.m" {
// CHECK-NEXT:       tir.for %no = 0 to 2 "C.n.0" {
// CHECK-NEXT:         tir.for %ko = 0 to 8 reduction "C.k.0" {
// CHECK-NEXT:           tir.block "C" attributes {tensor_intrin = @cpu.vnni_u8s8s32_16x4} init {
// CHECK-NEXT:             %zero = arith.constant dense<0> : vector<16xi32>
// CHECK-NEXT:             tir.store %zero, %C_out[%m, %no * 16 + lane] : memref<8x32xi32>, vector<16xi32>
// CHECK-NEXT:           } do {
// CHECK-NEXT:             %four = tir.load %A[%m, %ko * 4 + lane] : memref<8x32xui8>, vector<4xi8>
// CHECK-NEXT:             %word = tir.bitcast %four : vector<4xi8> to i32
// CHECK-NEXT:             %words = tir.broadcast %word : i32 to vector<16xi32>
// CHECK-NEXT:             %data = tir.bitcast %words : vector<16xi32> to vector<64xi8>
// CHECK-NEXT:             %rows = tir.load %W[%no, %ko, lane floordiv 4, lane mod 4] : memref<2x8x16x4xi8>, vector<64xi8>
// CHECK-NEXT:             %acc = tir.load %C_out[%m, %no * 16 + lane] : memref<8x32xi32>, vector<16xi32>
// CHECK-NEXT:             %sum = tir.intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %data, %rows)
// CHECK-NEXT:             tir.store %sum, %C_out[%m, %no * 16 + lane] : memref<8x32xi32>, vector<16xi32>
// CHECK-NEXT:           }
