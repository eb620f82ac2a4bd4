builtin.module { func.func @main(%q: tensor<12x1x961xf32>, %r: tensor<12x961x64xf32>) -> tensor<12x1x64xf32> {
  %y = relay.nn.batch_matmul %q, %r {transpose_b = false} : (tensor<12x1x961xf32>, tensor<12x961x64xf32>) -> tensor<12x1x64xf32>
 func.return %y : tensor<12x1x64xf32> } }