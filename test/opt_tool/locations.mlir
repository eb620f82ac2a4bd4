// RUN: opt-tool %s --print-debuginfo | filecheck %s
// RUN: opt-tool %s -p canonicalize,cse --print-debuginfo --verify-locations | filecheck %s --check-prefix=AFTER

// An op without a location gets the place of its name.
// CHECK: arith.addi %x, %x : i32 loc("{{.*}}locations.mlir":[[# @LINE + 3]]:10)
// AFTER: %sum = arith.addi %x, %x : i32 loc("{{.*}}locations.mlir":[[# @LINE + 2]]:10)
func.func @f(%x: i32) -> i32 {
  %sum = arith.addi %x, %x : i32
  // CHECK: arith.muli %sum, %x : i32 loc("Conv_3")
  // AFTER: %m = arith.muli %sum, %x : i32 loc("Conv_3")
  %m = arith.muli %sum, %x : i32 loc("Conv_3")
  // CHECK: arith.subi %m, %x : i32 loc(unknown)
  %unknown = arith.subi %m, %x : i32 loc(unknown)
  return %m : i32
}
