// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %b = te.compute "B" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %x = te.read %b[%i] : tensor<?xf32>
    te.yield %x : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  te.set_scope "B" "local"
  // expected-error@+1 {{set_scope of 'B': its extents are known only at run time, the number of registers is not}}
  te.set_scope "B" "register"
}
