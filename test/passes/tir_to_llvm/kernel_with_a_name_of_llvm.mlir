// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics --split-input-file

// expected-error @below {{a kernel cannot be called 'llvm.sqrt.f32'; a name is printable, not empty, and does not begin with 'llvm.'}}
tir.func @llvm.sqrt.f32(%y: memref<4xf32>) {
}
// -----
// expected-error @below {{a kernel cannot be called 'a\x00b'}}
tir.func @"a\00b"(%y: memref<4xf32>) {
}
// -----
// expected-error @below {{a kernel cannot be called ''}}
tir.func @""(%y: memref<4xf32>) {
}
