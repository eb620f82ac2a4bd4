// RUN: opt-tool %s -p tir-sanitize | filecheck %s
// A byte beside each element says whether it holds a value; in the end all of the output does.

tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %t = tir.alloc "t" scope "global" : memref<4xf32>
  tir.for %j = 0 to 4 "y.j" {
    %x = tir.load %t[%j] : memref<4xf32>
    tir.store %x, %y[%j] : memref<4xf32>
  }
}

// CHECK:      %t_written = tir.alloc "t.written" scope "global" : memref<4xi8>
// CHECK:      tir.for %i0 = 0 to 4 "t.written.i0" {
// CHECK-NEXT:   tir.store %{{.*}}, %t_written[%i0] : memref<4xi8>
// CHECK:      tir.for %j = 0 to 4 "y.j" {
// CHECK-NEXT:   %x = tir.load %t[%j] : memref<4xf32>
// CHECK-NEXT:   %[[FLAG:.*]] = tir.load %t_written[%j] : memref<4xi8>
// CHECK:        %[[KNOWN:.*]] = arith.cmpi ne, %[[FLAG]], %{{.*}} : i8
// CHECK-NEXT:   tir.check %x, %[[KNOWN]] "%t[%j] is read before it is written, in loop \22y.j\22" : f32
// CHECK:        tir.store %{{.*}}, %y_written[%j] : memref<4xi8>
// CHECK:      tir.for %i0 = 0 to 4 "y.done.i0" {
// CHECK:        tir.check %{{.*}}, %{{.*}} "@f does not write all of %y" : i8
