// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %C = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %C : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  // expected-error@+1 {{its extent is known only when the program runs, so the outermost factor has to be inferred (-1)}}
  %io, %ii = te.split %i [4, -1]
}
