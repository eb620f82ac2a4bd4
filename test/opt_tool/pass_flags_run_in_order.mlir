// RUN: opt-tool %s --canonicalize --cse --relay-fuse-ops=max-depth=2 -canonicalize --dump-pass-pipeline -o %t 2>&1 | filecheck %s
// RUN: opt-tool %s --load %S/inputs/doubler.py --double-lower --cse | filecheck %s --check-prefix=CHECK-IR

// CHECK: builtin.module(canonicalize,cse,relay-fuse-ops{max-depth=2},canonicalize)
// CHECK-IR:      %a = arith.addi
// CHECK-IR-NEXT: %c = arith.muli %a, %a
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  return %c : i32
}
