// RUN: not opt-tool %s -p te-apply-records 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'te-apply-records{file="%S/none.jsonl"}' 2>&1 | filecheck %s --check-prefix UNREAD

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256, registers = 16, threads = 1>} {
  te.func @f(%A: tensor<8x32xf32>) -> tensor<8x32xf32> {
    %b = te.compute "B" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %a = te.read %A[%i, %j] : tensor<8x32xf32>
      %n = arith.negf %a : f32
      te.yield %n : f32
    }
    %c = te.compute "C" [8, 32] (%i, %j) : tensor<8x32xf32> {
      %x = te.read %b[%i, %j] : tensor<8x32xf32>
      %s = arith.addf %x, %x : f32
      te.yield %s : f32
    }
    te.return %c : tensor<8x32xf32>
  }
}

// CHECK:  error: te-apply-records: which file?
// UNREAD: none.jsonl: error: cannot read: No such file or directory
