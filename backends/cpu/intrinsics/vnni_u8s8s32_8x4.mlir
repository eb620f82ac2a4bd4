// AVX-512 VNNI in 256 bits: four unsigned bytes against eight rows of four signed bytes, added into eight integers.
// The rows lie one behind the other: weights packed as [n / 8, k / 4, 8, 4].

te.tensor_intrin @cpu.vnni_u8s8s32_8x4 {
  te.func @desc(%a: tensor<4xui8> {te.strides = array<i64: 1>},
                %b: tensor<8x4xi8> {te.strides = array<i64: 4, 1>}) -> (tensor<8xi32> {te.strides = array<i64: 1>}) {
    %c = te.compute "c" [8] sum [4] (%i, %k) : tensor<8xi32> {
      %x = te.read %a[%k] : tensor<4xui8>
      %y = te.read %b[%i, %k] : tensor<8x4xi8>
      %u = arith.extui %x : i8 to i32
      %s = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %s : i32
      te.yield %p : i32
    }
    te.return %c : tensor<8xi32>
  }
  tir.func @update(%a: memref<4xui8>, %b: memref<8x4xi8>, %c: memref<8xi32>) {
    %four = tir.load %a[lane] : memref<4xui8>, vector<4xi8>
    %word = tir.bitcast %four : vector<4xi8> to i32
    %words = tir.broadcast %word : i32 to vector<8xi32>
    %data = tir.bitcast %words : vector<8xi32> to vector<32xi8>
    %rows = tir.load %b[lane floordiv 4, lane mod 4] : memref<8x4xi8>, vector<32xi8>
    %acc = tir.load %c[lane] : memref<8xi32>, vector<8xi32>
    %sum = tir.intrinsic "llvm.x86.avx512.vpdpbusd.256"(%acc, %data, %rows)
        : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
    tir.store %sum, %c[lane] : memref<8xi32>, vector<8xi32>
  }
  tir.func @reset(%c: memref<8xi32>) {
    %zero = arith.constant dense<0> : vector<8xi32>
    tir.store %zero, %c[lane] : memref<8xi32>, vector<8xi32>
  }
}
