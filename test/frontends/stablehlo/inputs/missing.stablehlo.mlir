module @missing {
  func.func public @main(%x: tensor<4x4xf32>, %z: tensor<8xcomplex<f32>>) -> (tensor<8xcomplex<f32>>, tensor<4x4xf32>) {
    %0 = stablehlo.fft %z, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    %1 = stablehlo.add %x, %x : tensor<4x4xf32>
    %2 = stablehlo.cholesky %1, lower = true : tensor<4x4xf32>
    %3 = stablehlo.cholesky %2, lower = true : tensor<4x4xf32>
    return %0, %3 : tensor<8xcomplex<f32>>, tensor<4x4xf32>
  }
}
