// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @dft(%0: tensor<8xf32>, %1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %2, %3 = relay.dft %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  func.return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
// CHECK:      te.func @fused_dft(%p0: tensor<8xf32>, %p1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK:      %turn_cos = te.compute "turn_cos" [8] (%i) : tensor<8xf32> attributes {tag = "dft"} {
// CHECK:      %turn_sin = te.compute "turn_sin" [8] (%i) : tensor<8xf32> attributes {tag = "dft"} {
// CHECK:      %dft_re = te.compute "dft_re" [8] sum [8] (%i0, %k) : tensor<8xf32> attributes {tag = "dft"} {
// CHECK:      %dft_im = te.compute "dft_im" [8] sum [8] (%i0, %k) : tensor<8xf32> attributes {tag = "dft"} {
// CHECK:      te.return %dft_re, %dft_im : tensor<8xf32>, tensor<8xf32>

func.func @stft(%0: tensor<2x16xf32>, %1: tensor<8xf32>) -> tensor<2x5x2x2xf32> {
  %2 = relay.stft %0, %1 {hop_length = 8, n_fft = 8, normalized = true, win_length = 8} : (tensor<2x16xf32>, tensor<8xf32>) -> tensor<2x5x2x2xf32>
  func.return %2 : tensor<2x5x2x2xf32>
}
// CHECK:      te.func @fused_stft(%p0: tensor<2x16xf32>, %p1: tensor<8xf32>) -> tensor<2x5x2x2xf32> {
// CHECK:      %turn_cos = te.compute "turn_cos" [8] (%i) : tensor<8xf32> attributes {tag = "stft"} {
// CHECK:      %turn_sin = te.compute "turn_sin" [8] (%i) : tensor<8xf32> attributes {tag = "stft"} {
// CHECK:      %stft_re = te.compute "stft_re" [2, 5, 2] sum [8] (%b, %row, %column, %k) : tensor<2x5x2xf32> attributes {tag = "stft"} {
// CHECK:      %stft_im = te.compute "stft_im" [2, 5, 2] sum [8] (%b, %row, %column, %k) : tensor<2x5x2xf32> attributes {tag = "stft"} {
// CHECK:      %stft = te.compute "stft" [2, 5, 2, 2] (%b, %row, %column, %which) : tensor<2x5x2x2xf32> attributes {tag = "stft"} {
// CHECK:      te.return %stft : tensor<2x5x2x2xf32>
