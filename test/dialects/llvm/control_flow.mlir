// RUN: opt-tool %s | opt-tool | filecheck %s
// Jumps, with values for block arguments.

// CHECK-LABEL: llvm.func @control_flow
llvm.func @control_flow(%i: i32, %f: f32, %c: i1) -> f32 {
  // CHECK: llvm.switch %i : i32, ^one [ 42: ^two(%f : f32), -1: ^one ]
  llvm.switch %i : i32, ^one [ 42: ^two(%f : f32), -1: ^one ]
^one:
  // CHECK: llvm.cond_br %c, ^two(%f : f32), ^three
  llvm.cond_br %c, ^two(%f : f32), ^three
^two(%x: f32):
  // CHECK: llvm.br ^four(%x : f32)
  llvm.br ^four(%x : f32)
^three:
  // CHECK: llvm.unreachable
  llvm.unreachable
^four(%y: f32):
  // CHECK: llvm.return %y : f32
  llvm.return %y : f32
}
