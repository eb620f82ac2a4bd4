// RUN: not opt-tool -f relay-text %s 2>&1 | filecheck %s

def @main(%x: Tensor[(2), float32]) {
  nn.rlu(%x)
}

// CHECK: no_such_operator.mlir:4:3: error: there is no operator 'nn.rlu'; did you mean 'nn.relu'
