// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// A tail that other loops decide as well does not become a number.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %im, %ii = te.split %i [-1, 2, 4]
  // expected-error@+1 {{partition of 'C.i.0': the tail 'C.i.2' is not a whole tile's, which has no pieces}}
  te.partition %io tails [4, 1]
}
