// RUN: opt-tool %s --view-op-graph -o %t 2>&1 | filecheck %s
// Each value has a port of its own, also where names are repeated or look like what a repeated one would get.

// CHECK{LITERAL}: label = "<res_x> %x i32"
// CHECK{LITERAL}: <res_x_1> %x_1 i32
// CHECK{LITERAL}: <res_0> %0 i32
// CHECK{LITERAL}: <res_1> %1 i32
// CHECK{LITERAL}: <res_x_2> %x_2 i32
func.func @f(%x: i32) -> i32 {
  %x_1 = arith.addi %x, %x : i32
  %0 = arith.muli %x_1, %x_1 : i32
  %1 = arith.addi %0, %x_1 : i32
  return %1 : i32
}
func.func @g(%x: i32) -> i32 {
  return %x : i32
}
