// RUN: opt-tool %s -p 'te-apply-records{file="%S/inputs/unreadable.jsonl"},te-apply-records{file="%S/inputs/malformed.jsonl"},te-apply-records{file="%S/inputs/refused.jsonl"}' -o %t 2>&1 | filecheck %s
// RUN: filecheck %s --input-file %t --check-prefix MODULE

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

// CHECK: {{.*}}.mlir:5:3: warning: te-apply-records: the record of @f in {{.*}}unreadable.jsonl cannot be applied: its text is wrong: {{.*}}%k
// CHECK: warning: te-apply-records: the record of @f in {{.*}}malformed.jsonl cannot be applied: {{.*}}the decision 1 is none of 1 positions
// CHECK: warning: {{.*}}refused.jsonl:2: skipped, a record of format 2, this version reads 1
// CHECK: warning: {{.*}}refused.jsonl:3: skipped, the line is torn or is no JSON
// CHECK: warning: te-apply-records: the record of @f in {{.*}}refused.jsonl cannot be applied: schedule of @f, te.loops:
// MODULE-NOT: te.schedule
