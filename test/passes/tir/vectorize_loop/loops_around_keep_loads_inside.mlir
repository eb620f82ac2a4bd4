// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// What the bounds of loops say of a size: rows of whole tiles are there, so a load of them needs no mask for idle lanes.

// CHECK-LABEL: @whole_tiles
// CHECK:        %a = tir.load %x[%io * 9 + %ii] : memref<?xf32>
// CHECK-NEXT:   %{{.*}} = tir.broadcast %a
tir.func @whole_tiles(%m: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<9x40xf32>) attributes {outputs = 1 : i64} {
  tir.for %io = 0 to min [%m floordiv 9] "io" {
    tir.for %ii = 0 to 9 unrolled "ii" {
      tir.for %jo = 0 to 4 "jo" {
        tir.for %j = 0 to 16 min [%jo * -16 + 40] vectorized "j" {
          %a = tir.load %x[%io * 9 + %ii] : memref<?xf32>
          tir.store %a, %y[%ii, %jo * 16 + %j] : memref<9x40xf32>
        }
      }
    }
  }
}

// One row more than whole tiles have may be beyond the end: idle lanes must not read it.
// CHECK-LABEL: @beyond_whole_tiles
// CHECK:        %a = tir.load %x[%io * 9 + %ii + 1] where [%jo * -16 + 39 >= 0] : memref<?xf32>
tir.func @beyond_whole_tiles(%m: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<9x40xf32>) attributes {outputs = 1 : i64} {
  tir.for %io = 0 to min [%m floordiv 9] "io" {
    tir.for %ii = 0 to 9 unrolled "ii" {
      tir.for %jo = 0 to 4 "jo" {
        tir.for %j = 0 to 16 min [%jo * -16 + 40] vectorized "j" {
          %a = tir.load %x[%io * 9 + %ii + 1] : memref<?xf32>
          tir.store %a, %y[%ii, %jo * 16 + %j] : memref<9x40xf32>
        }
      }
    }
  }
}
