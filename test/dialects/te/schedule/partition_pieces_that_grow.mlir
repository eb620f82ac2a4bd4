// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// The last pieces are single elements: else some would be left.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 8]
  // expected-error@+1 {{partition of 'C.i.0': the pieces [1, 2] of what is left of a tile of 8 become smaller, down to 1}}
  te.partition %io tails [1, 2]
}
