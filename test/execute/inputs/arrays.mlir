// Run it to get input arrays: small integers that look random.
te.func @x() -> tensor<1x2x8x8xf32> {
  %x = te.compute "x" [1, 2, 8, 8] (%n, %c, %i, %j) : tensor<1x2x8x8xf32> {
    %k = te.index [(%c * 131 + %i * 37 + %j * 11) mod 17 mod 7 - 3] : index
    %l = arith.index_cast %k : index to i32
    %v = arith.sitofp %l : i32 to f32
    te.yield %v : f32
  }
  te.return %x : tensor<1x2x8x8xf32>
}
te.func @r() -> tensor<1x4x8x8xf32> {
  %r = te.compute "r" [1, 4, 8, 8] (%n, %c, %i, %j) : tensor<1x4x8x8xf32> {
    %k = te.index [(%c * 71 + %i * 53 + %j * 29) mod 23 mod 5 - 2] : index
    %l = arith.index_cast %k : index to i32
    %v = arith.sitofp %l : i32 to f32
    te.yield %v : f32
  }
  te.return %r : tensor<1x4x8x8xf32>
}
func.func @main() -> (tensor<1x2x8x8xf32> {lamina.name = "x"}, tensor<1x4x8x8xf32> {lamina.name = "residual"}) {
  %x = te.call @x() : () -> tensor<1x2x8x8xf32>
  %r = te.call @r() : () -> tensor<1x4x8x8xf32>
  func.return %x, %r : tensor<1x2x8x8xf32>, tensor<1x4x8x8xf32>
}
