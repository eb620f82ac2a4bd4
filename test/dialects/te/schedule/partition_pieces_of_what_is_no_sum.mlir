// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Elements beyond the end are zeros here, which somebody reads: they are no part of a sum that could be left out.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?x4xf32> {
  %c = te.compute "C" [(%n + 3) floordiv 4, 4] (%i, %j) : tensor<?x4xf32> {
    %a = te.read %A[%i * 4 + %j] where [%n - %i * 4 - %j >= 1] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?x4xf32>
}
te.schedule @f {
  %i, %j = te.loops "C" [2]
  // expected-error@+1 {{a condition of}}
  te.partition %i tails [2, 1]
}
