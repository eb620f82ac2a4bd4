// RUN: opt-tool %s -p tir-expand-math | filecheck %s

// CHECK-LABEL: tir.func @f
// CHECK: %[[X:.*]] = arith.extf %a : f16 to f32
// CHECK: arith.maximumf %[[X]], %{{.*}} : f32
// CHECK: %b = arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
tir.func @f(%x: memref<1xf16>, %z: memref<8xbf16>, %y: memref<1xf16>, %w: memref<8xbf16>) attributes {outputs = 2 : i64} {
  %a = tir.load %x[0] : memref<1xf16>
  %b = math.exp %a : f16
  tir.store %b, %y[0] : memref<1xf16>
  %c = tir.load %z[lane] : memref<8xbf16>, vector<8xbf16>
  %d = math.tanh %c : vector<8xbf16>
  tir.store %d, %w[lane] : memref<8xbf16>, vector<8xbf16>
}
