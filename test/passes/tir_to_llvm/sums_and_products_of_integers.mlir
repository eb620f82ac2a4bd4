// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// The op says whether integers have signs, not their type.

tir.func @f(%x: memref<20xi32>, %y: memref<20xi32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<20xi32>
  %b = tir.load %x[1] : memref<20xi32>
  %addi = arith.addi %a, %b : i32
  tir.store %addi, %y[0] : memref<20xi32>
  %subi = arith.subi %a, %b : i32
  tir.store %subi, %y[1] : memref<20xi32>
  %muli = arith.muli %a, %b : i32
  tir.store %muli, %y[2] : memref<20xi32>
  %divsi = arith.divsi %a, %b : i32
  tir.store %divsi, %y[3] : memref<20xi32>
  %divui = arith.divui %a, %b : i32
  tir.store %divui, %y[4] : memref<20xi32>
  %remsi = arith.remsi %a, %b : i32
  tir.store %remsi, %y[5] : memref<20xi32>
  %remui = arith.remui %a, %b : i32
  tir.store %remui, %y[6] : memref<20xi32>
  %andi = arith.andi %a, %b : i32
  tir.store %andi, %y[7] : memref<20xi32>
  %ori = arith.ori %a, %b : i32
  tir.store %ori, %y[8] : memref<20xi32>
  %xori = arith.xori %a, %b : i32
  tir.store %xori, %y[9] : memref<20xi32>
  %shli = arith.shli %a, %b : i32
  tir.store %shli, %y[10] : memref<20xi32>
  %shrsi = arith.shrsi %a, %b : i32
  tir.store %shrsi, %y[11] : memref<20xi32>
  %shrui = arith.shrui %a, %b : i32
  tir.store %shrui, %y[12] : memref<20xi32>
  %maxsi = arith.maxsi %a, %b : i32
  tir.store %maxsi, %y[13] : memref<20xi32>
  %minsi = arith.minsi %a, %b : i32
  tir.store %minsi, %y[14] : memref<20xi32>
  %maxui = arith.maxui %a, %b : i32
  tir.store %maxui, %y[15] : memref<20xi32>
  %minui = arith.minui %a, %b : i32
  tir.store %minui, %y[16] : memref<20xi32>
}
// CHECK:      %{{[0-9]+}} = llvm.add %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.sub %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.mul %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.sdiv %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.udiv %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.srem %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.urem %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.and %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.or %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.xor %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.shl %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.ashr %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.lshr %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.intr.smax(%a, %b) : (i32, i32) -> i32
// CHECK:      %{{[0-9]+}} = llvm.intr.smin(%a, %b) : (i32, i32) -> i32
// CHECK:      %{{[0-9]+}} = llvm.intr.umax(%a, %b) : (i32, i32) -> i32
// CHECK:      %{{[0-9]+}} = llvm.intr.umin(%a, %b) : (i32, i32) -> i32
