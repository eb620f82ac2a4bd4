// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Each eight elements are the other way round: where a piece of four begins says nothing of which eight they are.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0 + 7)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i floordiv 8 * 8 + 7 - %i mod 8] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 8]
  // expected-error@+1 {{what tir.load is about lies otherwise in a piece than in a tile}}
  te.partition %io tails [4, 2, 1]
}
