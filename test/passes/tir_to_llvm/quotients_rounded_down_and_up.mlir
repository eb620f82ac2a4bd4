// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// From the truncated quotient and its remainder; a bit extended by its sign is -1.

tir.func @f(%x: memref<8xi32>, %y: memref<8xi32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<8xi32>
  %b = tir.load %x[1] : memref<8xi32>
  %floordivsi = arith.floordivsi %a, %b : i32
  tir.store %floordivsi, %y[0] : memref<8xi32>
  %ceildivsi = arith.ceildivsi %a, %b : i32
  tir.store %ceildivsi, %y[1] : memref<8xi32>
  %ceildivui = arith.ceildivui %a, %b : i32
  tir.store %ceildivui, %y[2] : memref<8xi32>
}
// CHECK:      %{{[0-9]+}} = llvm.sdiv %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.srem %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.xor %{{[0-9]+}}, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.icmp "slt" %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.icmp "ne" %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.and %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK:      %{{[0-9]+}} = llvm.sext %{{[0-9]+}} : i1 to i32
// CHECK:      %{{[0-9]+}} = llvm.add %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.sdiv %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.srem %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.xor %{{[0-9]+}}, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.icmp "sge" %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.icmp "ne" %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.and %{{[0-9]+}}, %{{[0-9]+}} : i1
// CHECK:      %{{[0-9]+}} = llvm.sext %{{[0-9]+}} : i1 to i32
// CHECK:      %{{[0-9]+}} = llvm.sub %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.udiv %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.urem %a, %b : i32
// CHECK:      %{{[0-9]+}} = llvm.icmp "ne" %{{[0-9]+}}, %{{[0-9]+}} : i32
// CHECK:      %{{[0-9]+}} = llvm.zext %{{[0-9]+}} : i1 to i32
// CHECK:      %{{[0-9]+}} = llvm.add %{{[0-9]+}}, %{{[0-9]+}} : i32
