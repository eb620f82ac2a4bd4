// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions' | filecheck %s
//
//      abs          dnnl
//     /   \
//   relu   erf      dnnl, default
//     \   /
//      add          dnnl: with the two others it would need what is computed from them
//
// CHECK:      %[[X:[0-9]+]] = relay.annotation.compiler_begin %x {compiler = "dnnl"}
// CHECK-NEXT: %a = relay.abs %[[X]]
// CHECK-NEXT: %[[A:[a-z0-9_]+]] = relay.annotation.compiler_end %a
// CHECK-NEXT: %b = relay.nn.relu %a
// CHECK-NEXT: %[[B:[a-z0-9_]+]] = relay.annotation.compiler_end %b
// CHECK-NEXT: %[[C:[0-9]+]] = relay.annotation.compiler_begin %[[A]] {compiler = "default"}
// CHECK-NEXT: %c = relay.erf %[[C]]
// CHECK-NEXT: %[[D:[a-z0-9_]+]] = relay.annotation.compiler_end %c {compiler = "default"}
// CHECK-NEXT: relay.annotation.compiler_begin %[[B]] {compiler = "dnnl"}
// CHECK-NEXT: relay.annotation.compiler_begin %[[D]] {compiler = "dnnl"}
// CHECK-NEXT: relay.add
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.abs %x : tensor<8xf32>
  %b = relay.nn.relu %a : tensor<8xf32>
  %c = relay.erf %a : tensor<8xf32>
  %d = relay.add %b, %c : tensor<8xf32>
  return %d : tensor<8xf32>
}
