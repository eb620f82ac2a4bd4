// AVX-512 BF16 in 256 bits: two bfloat16 numbers against eight rows of two, added into eight floats.
// The rows lie one behind the other: weights packed as [n / 8, k / 2, 8, 2].

te.tensor_intrin @cpu.bf16_dot_8x2 {
  te.func @desc(%a: tensor<2xbf16> {te.strides = array<i64: 1>},
                %b: tensor<8x2xbf16> {te.strides = array<i64: 2, 1>}) -> (tensor<8xf32> {te.strides = array<i64: 1>}) {
    %c = te.compute "c" [8] sum [2] (%i, %k) : tensor<8xf32> {
      %x = te.read %a[%k] : tensor<2xbf16>
      %y = te.read %b[%i, %k] : tensor<8x2xbf16>
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      te.yield %p : f32
    }
    te.return %c : tensor<8xf32>
  }
  tir.func @update(%a: memref<2xbf16>, %b: memref<8x2xbf16>, %c: memref<8xf32>) {
    %two = tir.load %a[lane] : memref<2xbf16>, vector<2xbf16>
    %word = tir.bitcast %two : vector<2xbf16> to i32
    %words = tir.broadcast %word : i32 to vector<8xi32>
    %data = tir.bitcast %words : vector<8xi32> to vector<16xbf16>
    %rows = tir.load %b[lane floordiv 2, lane mod 2] : memref<8x2xbf16>, vector<16xbf16>
    %acc = tir.load %c[lane] : memref<8xf32>, vector<8xf32>
    %sum = tir.intrinsic "llvm.x86.avx512bf16.dpbf16ps.256"(%acc, %data, %rows)
        : (vector<8xf32>, vector<16xbf16>, vector<16xbf16>) -> vector<8xf32>
    tir.store %sum, %c[lane] : memref<8xf32>, vector<8xf32>
  }
  tir.func @reset(%c: memref<8xf32>) {
    %zero = arith.constant dense<0.0> : vector<8xf32>
    tir.store %zero, %c[lane] : memref<8xf32>, vector<8xf32>
  }
}
