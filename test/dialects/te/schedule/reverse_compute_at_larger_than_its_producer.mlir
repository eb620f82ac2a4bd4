// RUN: opt-tool %s -p te-to-tir --verify-diagnostics
// Two elements of C lie beyond B; no iteration of B's loop would compute them.

te.func @f(%A: tensor<6xf32>) -> tensor<8xf32> {
  %b = te.compute "B" [6] (%i) : tensor<6xf32> {
    %a = te.read %A[%i] : tensor<6xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [8] (%i) : tensor<8xf32> {
    %x = te.read %b[%i] where [%i * -1 + 5 >= 0] : tensor<6xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<8xf32>
}
te.schedule @f {
  %i = te.loops "B" [1]
  // expected-error@+1 {{reverse_compute_at of 'C': it has elements that read nothing of B (dimension 0)}}
  %t = te.reverse_compute_at "C" at %i [1]
}
