// RUN: not opt-tool %s --load %S/inputs/faulty.py -p faulty-reorder,cse 2>&1 | filecheck %s
// RUN: opt-tool %s --load %S/inputs/faulty.py -p faulty-reorder --verify-each=0 | filecheck %s --check-prefix=OFF

// CHECK: error: after pass 'faulty-reorder': arith.muli: operand #0 (%y) does not dominate this use
// CHECK: note: %y is defined here
// OFF: func.func @f
func.func @f(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  %m = arith.muli %y, %x : i32
  %z = arith.addi %m, %x : i32
  return %z : i32
}
