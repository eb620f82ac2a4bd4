// RUN: opt-tool %s -p relay-to-mixed-precision 2>&1 | filecheck %s --check-prefix=WARN
// RUN: opt-tool %s -p 'relay-to-mixed-precision{missing-op-mode=2}' 2>&1 | filecheck %s --check-prefix=SILENT
// RUN: not opt-tool %s -p 'relay-to-mixed-precision{missing-op-mode=0}' 2>&1 | filecheck %s --check-prefix=REFUSE

// WARN:       warning: relay.sort does not say what it does in mixed precision and stays in float32
// SILENT-NOT: does not say
// SILENT:     relay.sort {{.*}} : tensor<2x2xf32>
// REFUSE:     relay-to-mixed-precision: relay.sort does not say what it does
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %a = relay.nn.dense %x, %x : tensor<2x2xf32>
  %b = relay.sort %a : tensor<2x2xf32>
  return %b : tensor<2x2xf32>
}
