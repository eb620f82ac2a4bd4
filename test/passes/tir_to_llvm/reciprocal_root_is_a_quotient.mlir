// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Nothing is approximated.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<8xf32>
  %rsqrt = math.rsqrt %a : f32
  tir.store %rsqrt, %y[0] : memref<8xf32>
}
// CHECK:      %{{[0-9]+}} = llvm.intr.sqrt(%a) : (f32) -> f32
// CHECK:      %rsqrt = llvm.fdiv %{{[0-9]+}}, %{{[0-9]+}} : f32
