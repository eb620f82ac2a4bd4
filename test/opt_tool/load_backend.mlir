// RUN: opt-tool %s --load %S/inputs/unit.py -p 'relay-merge-composite{patterns=np-unit},relay-annotate-target{targets=np-unit},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// RUN: not opt-tool %s --load %S/inputs/nothing.py 2>&1 | filecheck %s --check-prefix=NOTHING

// CHECK:      %b = func.call @tvmgen_default_np_unit_main_0(%x, %y)
// CHECK-NEXT: relay.exp %b
// CHECK:      Composite = "np-unit.add_abs"
// NOTHING: nothing.py: error: defines no Dialect, ModulePass, PatternTable or ExternalBackend
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %s = relay.add %x, %y : tensor<8xf32>
  %b = relay.abs %s : tensor<8xf32>
  %e = relay.exp %b : tensor<8xf32>
  return %e : tensor<8xf32>
}
