// The thread pool of a net's state: in the caller's memory, laid out as pool.mlir draws it.

builtin.module {

  llvm.func @lamina_pool_start(!llvm.ptr, i64) -> i64
  llvm.func @lamina_pool_stop(!llvm.ptr)

  // What a system needs beside the number that threads sleep on: bytes of memory, made ready and ended with the pool.
  // Linux and Windows need none; a system that does has its own functions of these names.
  llvm.func internal @sleep_bytes() -> i64 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    llvm.return %zero : i64
  }
  llvm.func internal @sleep_begin(%pool: !llvm.ptr, %memory: !llvm.ptr) attributes {no_unwind} {
    llvm.return
  }
  llvm.func internal @sleep_end(%pool: !llvm.ptr) attributes {no_unwind} {
    llvm.return
  }

  // Bytes of the list of threads, in whole lines of 64.
  llvm.func internal @list_bytes(%workers: i64) -> i64 attributes {no_unwind} {
    %eight = llvm.mlir.constant(8 : i64) : i64
    %more = llvm.mlir.constant(63 : i64) : i64
    %whole = llvm.mlir.constant(-64 : i64) : i64
    %list = llvm.mul %workers, %eight : i64
    %rounded = llvm.add %list, %more : i64
    %bytes = llvm.and %rounded, %whole : i64
    llvm.return %bytes : i64
  }

  // Bytes of a pool for so many threads, the caller's among them: header, list, a line for each thread, what
  // the system needs.
  llvm.func @lamina_net_bytes(%threads: i64) -> i64 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %header = llvm.mlir.constant(256 : i64) : i64
    %line = llvm.mlir.constant(64 : i64) : i64
    %alone = llvm.icmp "ule" %threads, %one : i64
    llvm.cond_br %alone, ^none, ^some
  ^none:
    llvm.return %zero : i64
  ^some:
    %workers = llvm.sub %threads, %one : i64
    %list = llvm.call @list_bytes(%workers) : (i64) -> i64
    %lines = llvm.mul %threads, %line : i64
    %first = llvm.add %header, %list : i64
    %pool = llvm.add %first, %lines : i64
    %sleep = llvm.call @sleep_bytes() : () -> i64
    %all = llvm.add %pool, %sleep : i64
    llvm.return %all : i64
  }

  // Start a pool; null with one thread, or where none could be started.
  llvm.func @lamina_net_pool(%pool: !llvm.ptr, %threads: i64, %spins: i64) -> !llvm.ptr attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %eight = llvm.mlir.constant(8 : i64) : i64
    %header = llvm.mlir.constant(256 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %alone = llvm.icmp "ule" %threads, %one : i64
    llvm.cond_br %alone, ^none, ^clear(%zero : i64)
  ^none:
    llvm.return %null : !llvm.ptr
  ^clear(%at: i64):
    %word = llvm.getelementptr %pool[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.store %zero, %word {alignment = 8 : i64} : i64, !llvm.ptr
    %following = llvm.add %at, %eight : i64
    %more = llvm.icmp "slt" %following, %header : i64
    llvm.cond_br %more, ^clear(%following : i64), ^fill
  ^fill:
    %workers = llvm.sub %threads, %one : i64
    %list = llvm.call @list_bytes(%workers) : (i64) -> i64
    %offset = llvm.add %header, %list : i64
    %numbers = llvm.getelementptr %pool[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %spins.at = llvm.getelementptr %pool[208] : (!llvm.ptr) -> !llvm.ptr, i8
    %numbers.at = llvm.getelementptr %pool[216] : (!llvm.ptr) -> !llvm.ptr, i8
    %members.at = llvm.getelementptr %pool[232] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %spins, %spins.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %numbers, %numbers.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    // Threads of a team wait for each other: where more are idle than run, as without polls, there are no teams.
    %polls = llvm.icmp "ne" %spins, %zero : i64
    %members = llvm.select %polls, %workers, %zero : i1, i64
    llvm.store %members, %members.at {alignment = 8 : i64} : i64, !llvm.ptr
    %behind = llvm.getelementptr %numbers[%threads] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x i64>
    llvm.call @sleep_begin(%pool, %behind) : (!llvm.ptr, !llvm.ptr) -> ()
    %started = llvm.call @lamina_pool_start(%pool, %workers) : (!llvm.ptr, i64) -> i64
    %some = llvm.icmp "sgt" %started, %zero : i64
    llvm.cond_br %some, ^begun, ^alone
  ^begun:
    llvm.return %pool : !llvm.ptr
  ^alone:
    llvm.call @sleep_end(%pool) : (!llvm.ptr) -> ()
    llvm.return %null : !llvm.ptr
  }

  llvm.func @lamina_net_stop(%pool: !llvm.ptr) attributes {no_unwind} {
    llvm.call @lamina_pool_stop(%pool) : (!llvm.ptr) -> ()
    llvm.call @sleep_end(%pool) : (!llvm.ptr) -> ()
    llvm.return
  }
}
