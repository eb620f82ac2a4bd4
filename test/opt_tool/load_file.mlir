// RUN: opt-tool %s --load %S/inputs/doubler.py --verify-roundtrip | filecheck %s --check-prefix=READ
// RUN: opt-tool %s --load %S/inputs/doubler.py -p double-lower --verify-locations | filecheck %s
// RUN: opt-tool --load %S/inputs/doubler.py --help-pass double-lower | filecheck %s --check-prefix=HELP
// RUN: opt-tool --load %S/inputs/doubler.py --list-ops | filecheck %s --check-prefix=OPS
// RUN: not opt-tool %s --load %S/inputs/broken_load.py 2>&1 | filecheck %s --check-prefix=BROKEN

// READ: double.twice %x : i32 -> i32
// CHECK: arith.addi %x, %x : i32
// HELP: double-lower
// HELP: Write `double.twice` as an addition.
// OPS: double: 1 ops
// OPS-NEXT: double.twice
// BROKEN: broken_load.py:3: error: ZeroDivisionError:
func.func @f(%x: i32) -> i32 {
  %y = double.twice %x : i32 -> i32
  return %y : i32
}
