// What the run-time has to know of macOS on Apple's processors. Threads sleep on a condition variable of POSIX's, since
// there is no public call that waits for a number: word 240 of the pool is the address of a line with a pthread_mutex_t
// and, 64 bytes on, a pthread_cond_t, which stand behind the threads' lines.

builtin.module attributes {lamina.target = #lamina.target<triple = "aarch64-apple-macosx11.0.0", cpu = "apple-m1", features = "+fp-armv8,+neon", vector_bits = 128, registers = 32, threads = 1>} {

  llvm.func @pthread_join(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @pthread_attr_setstacksize(!llvm.ptr, i64) -> i32
  llvm.func @pthread_mutex_init(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @pthread_mutex_destroy(!llvm.ptr) -> i32
  llvm.func @pthread_mutex_lock(!llvm.ptr) -> i32
  llvm.func @pthread_mutex_unlock(!llvm.ptr) -> i32
  llvm.func @pthread_cond_init(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @pthread_cond_destroy(!llvm.ptr) -> i32
  llvm.func @pthread_cond_wait(!llvm.ptr, !llvm.ptr) -> i32
  llvm.func @pthread_cond_broadcast(!llvm.ptr) -> i32

  // One poll of a loop that waits.
  llvm.func internal @pause() attributes {no_unwind} {
    %yield = llvm.mlir.constant(1 : i32) : i32
    llvm.call_intrinsic "llvm.aarch64.hint"(%yield) : (i32) -> ()
    llvm.return
  }

  // Bytes of a pool for a lock and a condition variable.
  llvm.func internal @sleep_bytes() -> i64 attributes {no_unwind} {
    %bytes = llvm.mlir.constant(128 : i64) : i64
    llvm.return %bytes : i64
  }

  // Make a lock and a condition variable of memory, for a pool; nothing where there are such.
  llvm.func internal @sleep_begin(%pool: !llvm.ptr, %memory: !llvm.ptr) attributes {no_unwind} {
    %null = llvm.mlir.zero : !llvm.ptr
    %lock.at = llvm.getelementptr %pool[240] : (!llvm.ptr) -> !llvm.ptr, i8
    %condition = llvm.getelementptr %memory[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %locked = llvm.call @pthread_mutex_init(%memory, %null) : (!llvm.ptr, !llvm.ptr) -> i32
    %ready = llvm.call @pthread_cond_init(%condition, %null) : (!llvm.ptr, !llvm.ptr) -> i32
    llvm.store %memory, %lock.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    llvm.return
  }

  // End them; no thread is left.
  llvm.func internal @sleep_end(%pool: !llvm.ptr) attributes {no_unwind} {
    %lock.at = llvm.getelementptr %pool[240] : (!llvm.ptr) -> !llvm.ptr, i8
    %lock = llvm.load %lock.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %condition = llvm.getelementptr %lock[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %over = llvm.call @pthread_cond_destroy(%condition) : (!llvm.ptr) -> i32
    %unlocked = llvm.call @pthread_mutex_destroy(%lock) : (!llvm.ptr) -> i32
    llvm.return
  }

  // Sleep while the number at an address, four bytes into the pool, is this one.
  llvm.func internal @futex_wait(%address: !llvm.ptr, %value: i32) attributes {no_unwind} {
    %lock.at = llvm.getelementptr %address[236] : (!llvm.ptr) -> !llvm.ptr, i8
    %lock = llvm.load %lock.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %condition = llvm.getelementptr %lock[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %locked = llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
    llvm.br ^look
  ^look:
    %now = llvm.load %address atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
    %same = llvm.icmp "eq" %now, %value : i32
    llvm.cond_br %same, ^sleep, ^done
  ^sleep:
    %ignored = llvm.call @pthread_cond_wait(%condition, %lock) : (!llvm.ptr, !llvm.ptr) -> i32
    llvm.br ^look
  ^done:
    %unlocked = llvm.call @pthread_mutex_unlock(%lock) : (!llvm.ptr) -> i32
    llvm.return
  }

  // Wake all who sleep at an address. The number was changed before: who holds the lock now has seen it, or sleeps.
  llvm.func internal @futex_wake(%address: !llvm.ptr) attributes {no_unwind} {
    %lock.at = llvm.getelementptr %address[236] : (!llvm.ptr) -> !llvm.ptr, i8
    %lock = llvm.load %lock.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %condition = llvm.getelementptr %lock[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %locked = llvm.call @pthread_mutex_lock(%lock) : (!llvm.ptr) -> i32
    %unlocked = llvm.call @pthread_mutex_unlock(%lock) : (!llvm.ptr) -> i32
    %woken = llvm.call @pthread_cond_broadcast(%condition) : (!llvm.ptr) -> i32
    llvm.return
  }

  // Let threads of these attributes have 8 MB of stack, which by default have 512 KB.
  llvm.func internal @set_stack(%attributes: !llvm.ptr) attributes {no_unwind} {
    %bytes = llvm.mlir.constant(8388608 : i64) : i64
    %ignored = llvm.call @pthread_attr_setstacksize(%attributes, %bytes) : (!llvm.ptr, i64) -> i32
    llvm.return
  }

  // Wait for the end of the thread whose pthread_t is at an address.
  llvm.func internal @join(%at: !llvm.ptr) attributes {no_unwind} {
    %null = llvm.mlir.zero : !llvm.ptr
    %thread = llvm.load %at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %ignored = llvm.call @pthread_join(%thread, %null) : (!llvm.ptr, !llvm.ptr) -> i32
    llvm.return
  }
}
