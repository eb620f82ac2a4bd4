// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Tiles are two rows of four here: a piece is a row or a part of one.

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
  // expected-error@+1 {{partition of 'C.i.0': a piece of 6 is no number of iterations around the tail 'C.i.2'}}
  te.partition %io tails [6, 1]
}
