// In place of the thread pool where there is one thread: needs nothing of any system.

builtin.module {

  // kernel(args, lo, hi, thread) over all of [0, extent).
  llvm.func @lamina_parallel(%kernel: !llvm.ptr, %args: !llvm.ptr, %extent: i64, %grain: i64, %pool: !llvm.ptr) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    llvm.call %kernel(%args, %zero, %extent, %zero) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    llvm.return
  }

  // A team of one.
  llvm.func @lamina_team(%kernel: !llvm.ptr, %args: !llvm.ptr, %extent: i64, %patience: i64, %pool: !llvm.ptr) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    llvm.call %kernel(%args, %zero, %one, %zero) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    llvm.return
  }

  // Nobody to wait for.
  llvm.func @lamina_meet(%numbers: !llvm.ptr, %me: i64, %size: i64, %turn: i64) attributes {no_unwind} {
    llvm.return
  }

  // No pool, whatever is asked for.
  llvm.func @lamina_net_pool(%pool: !llvm.ptr, %threads: i64, %spins: i64) -> !llvm.ptr attributes {no_unwind} {
    %null = llvm.mlir.zero : !llvm.ptr
    llvm.return %null : !llvm.ptr
  }

  // It would take no memory.
  llvm.func @lamina_net_bytes(%threads: i64) -> i64 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    llvm.return %zero : i64
  }

  llvm.func @lamina_net_stop(%pool: !llvm.ptr) attributes {no_unwind} {
    llvm.return
  }
}
