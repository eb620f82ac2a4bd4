// RUN: not python -m lamina.backends.opencl.translate %s 2>&1 | filecheck %s

// CHECK: error: OpenCL C has no rule for math.ctpop of i32 in kernel @f
tir.func @f(%x: memref<8xi32>, %y: memref<8xi32>) attributes {device, outputs = 1 : i64} {
  tir.for %t = 0 to 8 thread "threadIdx.x" "y.t" {
    %v = tir.load %x[%t] : memref<8xi32>
    %r = math.ctpop %v : i32
    tir.store %r, %y[%t] : memref<8xi32>
  }
}
