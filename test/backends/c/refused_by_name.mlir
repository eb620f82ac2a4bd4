// RUN: not python -m lamina.backends.c.translate %s 2>&1 | filecheck %s

// CHECK: error: {{.*}}C source has no rule for tir.broadcast of vectors in kernel @lanes
tir.func @lanes(%x: memref<1xf32>, %y: memref<4xf32>) {
  %a = tir.load %x[0] : memref<1xf32>
  %b = tir.broadcast %a : f32 to vector<4xf32>
  tir.store %b, %y[lane] : memref<4xf32>, vector<4xf32>
}
