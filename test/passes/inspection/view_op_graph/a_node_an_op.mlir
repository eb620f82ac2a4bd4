// RUN: opt-tool %s --view-op-graph --allow-unregistered-dialect -o %t 2>&1 | filecheck %s
// RUN: opt-tool %s --view-op-graph='print-control-flow-edges print-data-flow-edges=false print-result-types=false' --allow-unregistered-dialect -o %t 2>&1 | filecheck %s --check-prefix=CHECK-CONTROL

// CHECK:      digraph G {
// CHECK-NEXT:   compound = true;
// CHECK-NEXT:   subgraph cluster_1 {
// CHECK-NEXT:     v2 [label = " ", shape = plain];
// CHECK-NEXT:     label = "builtin.module : ()\l";
// CHECK{LITERAL}: label = "func.func : ()\lfunction_type: (i1, tensor\<4xf32\>) ...\lsym_name: \"f\"\l";
// CHECK{LITERAL}: v9 [label = "<res_c> %c i1", shape = Mrecord];
// CHECK{LITERAL}: v10 [label = "<res_x> %x tensor\<4xf32\>", shape = Mrecord];
// CHECK{LITERAL}: label = "scf.if : (tensor<4xf32>)\l";
// CHECK{LITERAL}: v15 [fillcolor = "0.000000 0.3 0.95", label = "{{<arg_x> %x|<arg_x> %x}|relay.add\l|{<res_k> %k tensor\<4xf32\>}}", shape = Mrecord, style = filled];
// CHECK{LITERAL}: v16 [fillcolor = "0.142857 0.3 0.95", label = "{{<arg_k> %k}|scf.yield\l}", shape = Mrecord, style = filled];
// CHECK{LITERAL}: label = "{a.b\l\lbig: [[...]] : tensor\<1x17xi32\>\lsame: dense\<1\> : tensor\<1x17xi32\>\l}"
// CHECK:        v10:res_x:s -> v15:arg_x:n[style = solid];
// CHECK:        v9:res_c:s -> v12[lhead = cluster_11, style = solid];
// CHECK:        v12 -> v{{[0-9]+}}:arg_r:n[ltail = cluster_11, style = solid];
// CHECK-NEXT: }
// CHECK-CONTROL: <arg_x> %x|<arg_x> %x}|relay.add\l|{<res_k> %k}
// CHECK-CONTROL:     v15 -> v16[style = dashed];
// CHECK-CONTROL-NOT: style = solid
func.func @f(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> (tensor<4xf32>) {
    %k = relay.add %x, %x : tensor<4xf32>
    scf.yield %k : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  "a.b"() {big = dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]]> : tensor<1x17xi32>, same = dense<1> : tensor<1x17xi32>} : () -> ()
  return %r : tensor<4xf32>
}
