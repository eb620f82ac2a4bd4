// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Only one of the two is zero beyond the end: the other is summed up there as well.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %B: tensor<64xf32>) -> tensor<1xf32> {
  %c = te.compute "C" [1] sum [64] (%i, %k) : tensor<1xf32> {
    %a = te.read %A[%k] where [%n - %k >= 1] : tensor<?xf32>
    %b = te.read %B[%k] : tensor<64xf32>
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  }
  te.return %c : tensor<1xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [-1, 16]
  // expected-error@+1 {{a condition of tir.load is not a whole tile's, which has no pieces}}
  te.partition %ko tails [1]
}
