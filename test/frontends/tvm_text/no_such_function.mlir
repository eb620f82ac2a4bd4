// RUN: not opt-tool -f relay-text %s 2>&1 | filecheck %s

def @main(%x: Tensor[(2), float32]) {
  @other(%x)
}

// CHECK: no_such_function.mlir:4:3: error: there is no function @other in the module
