// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Tiles of one element have no tail.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 1]
  // expected-error@+1 {{partition of 'C.i.0': no tail depends on it}}
  te.partition %io
}
