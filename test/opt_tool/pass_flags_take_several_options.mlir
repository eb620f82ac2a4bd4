// RUN: opt-tool %s --view-op-graph='print-attrs=false max-label-len=3' -o %t 2>&1 | filecheck %s

// CHECK:     label = "func.func : ()";
// CHECK:     label = "<res_x> %x ten...", shape = Mrecord
func.func @f(%x: tensor<8xf32>) {
  return
}
