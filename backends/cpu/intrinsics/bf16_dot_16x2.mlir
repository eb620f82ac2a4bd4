// AVX-512 BF16: two bfloat16 numbers against sixteen rows of two, added into sixteen floats.
// The rows lie one behind the other: weights packed as [n / 16, k / 2, 16, 2].

te.tensor_intrin @cpu.bf16_dot_16x2 {
  te.func @desc(%a: tensor<2xbf16> {te.strides = array<i64: 1>},
                %b: tensor<16x2xbf16> {te.strides = array<i64: 2, 1>}) -> (tensor<16xf32> {te.strides = array<i64: 1>}) {
    %c = te.compute "c" [16] sum [2] (%i, %k) : tensor<16xf32> {
      %x = te.read %a[%k] : tensor<2xbf16>
      %y = te.read %b[%i, %k] : tensor<16x2xbf16>
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      te.yield %p : f32
    }
    te.return %c : tensor<16xf32>
  }
  tir.func @update(%a: memref<2xbf16>, %b: memref<16x2xbf16>, %c: memref<16xf32>) {
    %two = tir.load %a[lane] : memref<2xbf16>, vector<2xbf16>
    %word = tir.bitcast %two : vector<2xbf16> to i32
    %words = tir.broadcast %word : i32 to vector<16xi32>
    %data = tir.bitcast %words : vector<16xi32> to vector<32xbf16>
    %rows = tir.load %b[lane floordiv 2, lane mod 2] : memref<16x2xbf16>, vector<32xbf16>
    %acc = tir.load %c[lane] : memref<16xf32>, vector<16xf32>
    %sum = tir.intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%acc, %data, %rows)
        : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
    tir.store %sum, %c[lane] : memref<16xf32>, vector<16xf32>
  }
  tir.func @reset(%c: memref<16xf32>) {
    %zero = arith.constant dense<0.0> : vector<16xf32>
    tir.store %zero, %c[lane] : memref<16xf32>, vector<16xf32>
  }
}
