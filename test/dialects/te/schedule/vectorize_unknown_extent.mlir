// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  // expected-error@+1 {{vectorize of 'C.i': its extent is known only at run time; split it by a number first}}
  te.vectorize %i
}
