// RUN: not opt-tool --input-format=relay-text %s 2>&1 | filecheck %s
// What does not fit is reported at its place in TVM's text.

def @main(%x: Tensor[(1, 3), float32], %y: Tensor[(4), float32]) {
  %0 = exp(%x);
  add(%0, %y)
}

// CHECK: operands_do_not_fit.mlir:6:3: error: add: shapes (1, 3) and (4,) do not broadcast
