// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// That of the smallest integer is itself: it wraps.

tir.func @f(%x: memref<8xi32>, %y: memref<8xi32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<8xi32>
  %absi = math.absi %a : i32
  tir.store %absi, %y[0] : memref<8xi32>
}
// CHECK:      %{{[0-9]+}} = llvm.sub %{{[0-9]+}}, %a : i32
// CHECK:      %absi = llvm.intr.smax(%a, %{{[0-9]+}}) : (i32, i32) -> i32
