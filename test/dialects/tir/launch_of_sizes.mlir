// RUN: opt-tool %s | opt-tool | filecheck %s
// Extents are forms of sizes; what is left out at the end is 1.

tir.func @k(%n: index, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0 * 2)>}) attributes {outputs = 1 : i64, device} {
}
tir.func @f(%n: index, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0 * 2)>}) attributes {outputs = 1 : i64} {
  tir.launch @k grid [(%n + 63) floordiv 64, 2] block [64, 2, 2] (%n, %y) : index, memref<?xf32>
}
// CHECK: tir.launch @k grid [(%n + 63) floordiv 64, 2] block [64, 2, 2] (%n, %y) : index, memref<?xf32>
