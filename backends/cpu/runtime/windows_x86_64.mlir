// What the run-time has to know of Windows on x86-64, in kernel32.dll. Threads sleep on a condition variable: words 240
// and 248 of the pool are a lock (SRWLOCK) and a CONDITION_VARIABLE, both ready when they are zero.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-pc-windows-gnu", cpu = "x86-64", features = "", vector_bits = 128, registers = 16, threads = 1>} {

  llvm.func @AcquireSRWLockExclusive(!llvm.ptr)
  llvm.func @ReleaseSRWLockExclusive(!llvm.ptr)
  llvm.func @SleepConditionVariableSRW(!llvm.ptr, !llvm.ptr, i32, i32) -> i32
  llvm.func @WakeAllConditionVariable(!llvm.ptr)
  llvm.func @CreateThread(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
  llvm.func @WaitForSingleObject(!llvm.ptr, i32) -> i32
  llvm.func @CloseHandle(!llvm.ptr) -> i32
  llvm.func @SwitchToThread() -> i32

  // One poll of a loop that waits.
  llvm.func internal @pause() attributes {no_unwind} {
    llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
    llvm.return
  }

  // Sleep while the number at an address, four bytes into the pool, is this one.
  llvm.func internal @futex_wait(%address: !llvm.ptr, %value: i32) attributes {no_unwind} {
    %forever = llvm.mlir.constant(-1 : i32) : i32
    %exclusive = llvm.mlir.constant(0 : i32) : i32
    %lock = llvm.getelementptr %address[236] : (!llvm.ptr) -> !llvm.ptr, i8
    %condition = llvm.getelementptr %address[244] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.call @AcquireSRWLockExclusive(%lock) : (!llvm.ptr) -> ()
    llvm.br ^look
  ^look:
    %now = llvm.load %address atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
    %same = llvm.icmp "eq" %now, %value : i32
    llvm.cond_br %same, ^sleep, ^done
  ^sleep:
    %ignored = llvm.call @SleepConditionVariableSRW(%condition, %lock, %forever, %exclusive) : (!llvm.ptr, !llvm.ptr, i32, i32) -> i32
    llvm.br ^look
  ^done:
    llvm.call @ReleaseSRWLockExclusive(%lock) : (!llvm.ptr) -> ()
    llvm.return
  }

  // Wake all who sleep at an address. The number was changed before: who holds the lock now has seen it, or sleeps.
  llvm.func internal @futex_wake(%address: !llvm.ptr) attributes {no_unwind} {
    %lock = llvm.getelementptr %address[236] : (!llvm.ptr) -> !llvm.ptr, i8
    %condition = llvm.getelementptr %address[244] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.call @AcquireSRWLockExclusive(%lock) : (!llvm.ptr) -> ()
    llvm.call @ReleaseSRWLockExclusive(%lock) : (!llvm.ptr) -> ()
    llvm.call @WakeAllConditionVariable(%condition) : (!llvm.ptr) -> ()
    llvm.return
  }

  // Attributes of threads say nothing: each has the stack that is asked for when it is started.
  llvm.func internal @pthread_attr_init(%attributes: !llvm.ptr) -> i32 attributes {no_unwind} {
    %fine = llvm.mlir.constant(0 : i32) : i32
    llvm.return %fine : i32
  }

  llvm.func internal @pthread_attr_destroy(%attributes: !llvm.ptr) -> i32 attributes {no_unwind} {
    %fine = llvm.mlir.constant(0 : i32) : i32
    llvm.return %fine : i32
  }

  llvm.func internal @set_stack(%attributes: !llvm.ptr) attributes {no_unwind} {
    llvm.return
  }

  // Start a thread and leave its handle at an address; 0, or 1 where there is none. A pointer that it gives is its code
  // to end with, of which nobody asks for more than the low half.
  llvm.func internal @pthread_create(%at: !llvm.ptr, %attributes: !llvm.ptr, %work: !llvm.ptr, %argument: !llvm.ptr) -> i32 attributes {no_unwind} {
    %null = llvm.mlir.zero : !llvm.ptr
    // So much is reserved of a stack, not taken (STACK_SIZE_PARAM_IS_A_RESERVATION).
    %stack = llvm.mlir.constant(8388608 : i64) : i64
    %reserved = llvm.mlir.constant(65536 : i32) : i32
    %handle = llvm.call @CreateThread(%null, %stack, %work, %argument, %reserved, %null) : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
    llvm.store %handle, %at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    %failed = llvm.icmp "eq" %handle, %null : !llvm.ptr
    %status = llvm.zext %failed : i1 to i32
    llvm.return %status : i32
  }

  // Wait for the end of the thread whose handle is at an address.
  llvm.func internal @join(%at: !llvm.ptr) attributes {no_unwind} {
    %forever = llvm.mlir.constant(-1 : i32) : i32
    %thread = llvm.load %at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %ended = llvm.call @WaitForSingleObject(%thread, %forever) : (!llvm.ptr, i32) -> i32
    %closed = llvm.call @CloseHandle(%thread) : (!llvm.ptr) -> i32
    llvm.return
  }

  // Leave the processor to others.
  llvm.func internal @sched_yield() -> i32 attributes {no_unwind} {
    %ignored = llvm.call @SwitchToThread() : () -> i32
    llvm.return %ignored : i32
  }
}
