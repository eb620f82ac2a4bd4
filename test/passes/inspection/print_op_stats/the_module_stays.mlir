// RUN: opt-tool %s -p print-op-stats,cse,print-op-stats | filecheck %s

// CHECK:      func.func @f
// CHECK-NEXT:   %a = arith.addi %x, %x
// CHECK-NEXT:   func.return %a
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  return %a : i32
}
