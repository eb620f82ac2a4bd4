// RUN: opt-tool %s -p relay-canonicalize-ops | filecheck %s
// Labels of both operands and of the result are the batches; a factor is read as it lies where that will do.

// CHECK-LABEL: func.func @scores
// CHECK-NEXT:    %0 = relay.reshape %q {newshape = [8, 64, 32]}
// CHECK-NEXT:    %1 = relay.reshape %k {newshape = [8, 48, 32]}
// CHECK-NEXT:    %2 = relay.nn.batch_matmul %0, %1 : (tensor<8x64x32xf32>, tensor<8x48x32xf32>) -> tensor<8x64x48xf32>
// CHECK-NEXT:    %y = relay.reshape %2 {newshape = [2, 4, 64, 48]}
// CHECK-NEXT:    return %y
func.func @scores(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x48x32xf32>) -> tensor<2x4x64x48xf32> {
  %y = relay.einsum %q, %k {equation = "bhid,bhjd->bhij"} : (tensor<2x4x64x32xf32>, tensor<2x4x48x32xf32>) -> tensor<2x4x64x48xf32>
  return %y : tensor<2x4x64x48xf32>
}

// CHECK-LABEL: func.func @values
// CHECK-NOT:     relay.transpose
// CHECK:         relay.nn.batch_matmul %{{.*}}, %{{.*}} {transpose_b = false} : (tensor<8x64x48xf32>, tensor<8x48x32xf32>)
func.func @values(%p: tensor<2x4x64x48xf32>, %v: tensor<2x4x48x32xf32>) -> tensor<2x4x64x32xf32> {
  %y = relay.einsum %p, %v {equation = "bhij,bhjd->bhid"} : (tensor<2x4x64x48xf32>, tensor<2x4x48x32xf32>) -> tensor<2x4x64x32xf32>
  return %y : tensor<2x4x64x32xf32>
}

// CHECK-LABEL: func.func @layer
// CHECK-NEXT:    %0 = relay.reshape %x {newshape = [6, 4]}
// CHECK-NEXT:    %1 = relay.nn.matmul %0, %w : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT:    %y = relay.reshape %1 {newshape = [2, 3, 5]}
func.func @layer(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %y = relay.einsum %x, %w {equation = "bsd,df->bsf"} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @gram
// CHECK-NEXT:    %y = relay.nn.matmul %x, %x {transpose_a = true} : (tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<4x4xf32>
func.func @gram(%x: tensor<7x4xf32>) -> tensor<4x4xf32> {
  %y = relay.einsum %x, %x {equation = "ki,kj->ij"} : (tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// Extents that are not known have no products of matrices.
// CHECK-LABEL: func.func @unknown
// CHECK-NEXT:    relay.einsum
func.func @unknown(%x: tensor<?x4xf32>, %w: tensor<4x5xf32>) -> tensor<?x5xf32> {
  %y = relay.einsum %x, %w {equation = "bd,df->bf"} : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
