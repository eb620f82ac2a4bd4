// What code for Windows on x86-64 calls before it takes a page of its stack or more, by an attribute of its functions:
// pages of a stack come one after the other, each when the one above it is touched first. The size stands in rax; all
// registers keep their values. The C libraries of Windows have such a function each, under different names.

builtin.module {

  llvm.func @lamina.probe() attributes {no_unwind, passthrough = ["naked", "noinline"]} {
    llvm.inline_asm has_side_effects asm_dialect = att "push %rcx\0Apush %rax\0Alea 24(%rsp), %rcx\0A1:\0Asub $$4096, %rax\0Ajbe 2f\0Asub $$4096, %rcx\0Aorq $$0, (%rcx)\0Ajmp 1b\0A2:\0Alea 24(%rsp), %rcx\0Asub (%rsp), %rcx\0Aorq $$0, (%rcx)\0Apop %rax\0Apop %rcx\0Aret", "~{memory},~{dirflag},~{fpsr},~{flags}" : () -> ()
    llvm.unreachable
  }
}
