// RUN: opt-tool %s --verify-diagnostics --split-input-file

// expected-error @below {{argument 0 is f32; a kernel takes buffers (memref) and sizes (index)}}
tir.func @f(%x: f32) {
}
// -----
// expected-error @below {{argument 0 is tensor<4xf32>; a kernel takes buffers (memref) and sizes (index)}}
tir.func @f(%x: tensor<4xf32>) {
}
// -----
// expected-error @below {{a buffer is dense and row-major, without a layout or memory space}}
tir.func @f(%x: memref<4xf32, affine_map<(d0) -> (d0 * 2)>>) {
}
// -----
// expected-error @below {{argument 0 is memref<4xi4>; an element is one of i1, f16, bf16, f32, f64, i8, i16, i32, i64, ui8, ui16, ui32, ui64, index}}
tir.func @f(%x: memref<4xi4>) {
}
// -----
// expected-error @below {{18446744073709551616 bytes; extents are at most 1099511627776, sizes at most 4611686018427387904}}
tir.func @f(%x: memref<4611686018427387904xf32>) {
}
// -----
tir.func @f(%x: memref<4xf32>) {
  // expected-error @below {{buffer 'b' is memref<4xcomplex<f32>>; an element is one of}}
  %b = tir.alloc "b" scope "local" : memref<4xcomplex<f32>>
}
