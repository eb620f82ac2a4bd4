// RUN: opt-tool %s --load %S/inputs/meaningless.py -p relay-fuse-ops,relay-to-te --verify-diagnostics

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{relay-to-te: meaningless.something cannot stand in a primitive function; run the pass that lowers it before, or declare its te_compute or decompose}}
  %y = meaningless.something %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
