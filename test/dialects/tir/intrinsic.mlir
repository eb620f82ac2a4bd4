// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// RUN: opt-tool %s -p tir-to-llvm | python -m lamina.backends.cpu.translate | filecheck %s --check-prefix TEXT
// A machine instruction of the table, on vectors whose bits get their type by tir.bitcast.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4",
    features = "+avx512f,+avx512vnni", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: tir.func @f
  // LLVM-LABEL: llvm.func internal @f.body
  // TEXT-LABEL: define internal void @f.body
  tir.func @f(%a: memref<4xui8>, %b: memref<64xi8>, %c: memref<16xi32>) {
    %acc = tir.load %c[lane] : memref<16xi32>, vector<16xi32>
    // CHECK: %four = tir.load %a[lane] : memref<4xui8>, vector<4xi8>
    // LLVM: %four = llvm.load {{.*}} -> vector<4xi8>
    %four = tir.load %a[lane] : memref<4xui8>, vector<4xi8>
    // CHECK-NEXT: %word = tir.bitcast %four : vector<4xi8> to i32
    // LLVM-NEXT: %word = llvm.bitcast %four : vector<4xi8> to i32
    %word = tir.bitcast %four : vector<4xi8> to i32
    %words = tir.broadcast %word : i32 to vector<16xi32>
    // CHECK: %x = tir.bitcast %words : vector<16xi32> to vector<64xi8>
    // LLVM: llvm.bitcast {{.*}} : vector<16xi32> to vector<64xi8>
    %x = tir.bitcast %words : vector<16xi32> to vector<64xi8>
    %y = tir.load %b[lane] : memref<64xi8>, vector<64xi8>
    // CHECK: %s = tir.intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
    // LLVM: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
    // TEXT: call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> {{.*}}, <64 x i8> {{.*}}, <64 x i8> {{.*}})
    %s = tir.intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %x, %y)
        : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
    tir.store %s, %c[lane] : memref<16xi32>, vector<16xi32>
  }
}
