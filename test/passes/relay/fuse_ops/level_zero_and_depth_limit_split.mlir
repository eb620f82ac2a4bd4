// RUN: opt-tool %s -p 'relay-fuse-ops{fuse_opt_level=0}' | filecheck %s --check-prefix=APART
// RUN: opt-tool %s -p 'relay-fuse-ops{max_depth=2}' | filecheck %s --check-prefix=PAIRS

// APART-COUNT-4: relay.fn
// PAIRS-COUNT-2: relay.fn
// PAIRS-NOT: relay.fn
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.abs %x : tensor<4xf32>
  %b = relay.exp %a : tensor<4xf32>
  %c = relay.negative %b : tensor<4xf32>
  %d = relay.ceil %c : tensor<4xf32>
  return %d : tensor<4xf32>
}
