// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// An implementation may ask that its operands start at multiples of so many elements.

te.tensor_intrin @copy4 {
  te.func @desc(%a: tensor<4xf32> {te.offset_factor = 4 : i64}) -> tensor<4xf32> {
    %c = te.compute "c" [4] (%i) : tensor<4xf32> {
      %x = te.read %a[%i] : tensor<4xf32>
      te.yield %x : f32
    }
    te.return %c : tensor<4xf32>
  }
  tir.func @body(%a: memref<4xf32>, %c: memref<4xf32>) {
    %x = tir.load %a[lane] : memref<4xf32>, vector<4xf32>
    tir.store %x, %c[lane] : memref<4xf32>, vector<4xf32>
  }
}
te.func @f(%A: tensor<8x6xf32>) -> tensor<8x4xf32> {
  %C = te.compute "C" [8, 4] (%i, %j) : tensor<8x4xf32> {
    %x = te.read %A[%i, %j] : tensor<8x6xf32>
    te.yield %x : f32
  }
  te.return %C : tensor<8x4xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  // expected-error@+1 {{%a lies in %A at places that are no multiples of 4 elements}}
  te.tensorize %j @copy4
}
