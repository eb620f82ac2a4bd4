// AVX-512 VNNI: four unsigned bytes against sixteen rows of four signed bytes, added into sixteen integers.
// The rows lie one behind the other: weights packed as [n / 16, k / 4, 16, 4].

te.tensor_intrin @cpu.vnni_u8s8s32_16x4 {
  te.func @desc(%a: tensor<4xui8> {te.strides = array<i64: 1>},
                %b: tensor<16x4xi8> {te.strides = array<i64: 4, 1>}) -> (tensor<16xi32> {te.strides = array<i64: 1>}) {
    %c = te.compute "c" [16] sum [4] (%i, %k) : tensor<16xi32> {
      %x = te.read %a[%k] : tensor<4xui8>
      %y = te.read %b[%i, %k] : tensor<16x4xi8>
      %u = arith.extui %x : i8 to i32
      %s = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %s : i32
      te.yield %p : i32
    }
    te.return %c : tensor<16xi32>
  }
  tir.func @update(%a: memref<4xui8>, %b: memref<16x4xi8>, %c: memref<16xi32>) {
    %four = tir.load %a[lane] : memref<4xui8>, vector<4xi8>
    %word = tir.bitcast %four : vector<4xi8> to i32
    %words = tir.broadcast %word : i32 to vector<16xi32>
    %data = tir.bitcast %words : vector<16xi32> to vector<64xi8>
    %rows = tir.load %b[lane floordiv 4, lane mod 4] : memref<16x4xi8>, vector<64xi8>
    %acc = tir.load %c[lane] : memref<16xi32>, vector<16xi32>
    %sum = tir.intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %data, %rows)
        : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
    tir.store %sum, %c[lane] : memref<16xi32>, vector<16xi32>
  }
  tir.func @reset(%c: memref<16xi32>) {
    %zero = arith.constant dense<0> : vector<16xi32>
    tir.store %zero, %c[lane] : memref<16xi32>, vector<16xi32>
  }
}
