// What a traced program calls in place of its kernels: the kernel, and a record of when and where it ran. Linux.
//
// A kernel is called with an array of pointers. In a traced program (`lamina/runtime/trace.py`) one more stands in
// front: the row's descriptor {ptr kernel, ptr trace, i64 row, ptr limit}. The trace is
//
//   0    i64  next      records that were asked for, also those for which there was no room
//   8    i64  capacity  records that there is room for
//   64   records of eight i64: row, thread, lo, hi, then nanoseconds: start and end by the monotonic clock, start and
//        end by the thread's own, which stands still while the system runs something else

builtin.module {

  llvm.func @clock_gettime(i32, !llvm.ptr) -> i32
  llvm.func @pthread_self() -> i64

  // Nanoseconds by a clock of the system.
  llvm.func internal @now(%clock: i32) -> i64 attributes {no_unwind} {
    %two = llvm.mlir.constant(2 : i64) : i64
    %second = llvm.mlir.constant(1000000000 : i64) : i64
    %time = llvm.alloca %two x i64 {alignment = 16 : i64} : (i64) -> !llvm.ptr
    %ignored = llvm.call @clock_gettime(%clock, %time) : (i32, !llvm.ptr) -> i32
    %nanoseconds.at = llvm.getelementptr %time[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %seconds = llvm.load %time {alignment = 8 : i64} : !llvm.ptr -> i64
    %nanoseconds = llvm.load %nanoseconds.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %whole = llvm.mul %seconds, %second : i64
    %all = llvm.add %whole, %nanoseconds : i64
    llvm.return %all : i64
  }

  // kernel(args + 1, lo, hi, number), and its record.
  llvm.func @lamina_traced(%args: !llvm.ptr, %lo: i64, %hi: i64, %number: i64) attributes {no_unwind} {
    %one = llvm.mlir.constant(1 : i64) : i64
    %monotonic = llvm.mlir.constant(1 : i32) : i32
    %own = llvm.mlir.constant(3 : i32) : i32
    %descriptor = llvm.load %args {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %trace.at = llvm.getelementptr %descriptor[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %row.at = llvm.getelementptr %descriptor[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %kernel = llvm.load %descriptor {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %trace = llvm.load %trace.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %row = llvm.load %row.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %behind = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %own.start = llvm.call @now(%own) : (i32) -> i64
    %start = llvm.call @now(%monotonic) : (i32) -> i64
    llvm.call %kernel(%behind, %lo, %hi, %number) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    %end = llvm.call @now(%monotonic) : (i32) -> i64
    %own.end = llvm.call @now(%own) : (i32) -> i64
    %slot = llvm.atomicrmw add %trace, %one monotonic {alignment = 8 : i64} : !llvm.ptr, i64
    %capacity.at = llvm.getelementptr %trace[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %capacity = llvm.load %capacity.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %room = llvm.icmp "slt" %slot, %capacity : i64
    llvm.cond_br %room, ^write, ^done
  ^write:
    %thread = llvm.call @pthread_self() : () -> i64
    %records = llvm.getelementptr %trace[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %record = llvm.getelementptr %records[%slot] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x i64>
    %thread.at = llvm.getelementptr %record[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %lo.at = llvm.getelementptr %record[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %hi.at = llvm.getelementptr %record[3] : (!llvm.ptr) -> !llvm.ptr, i64
    %start.at = llvm.getelementptr %record[4] : (!llvm.ptr) -> !llvm.ptr, i64
    %end.at = llvm.getelementptr %record[5] : (!llvm.ptr) -> !llvm.ptr, i64
    %own.start.at = llvm.getelementptr %record[6] : (!llvm.ptr) -> !llvm.ptr, i64
    %own.end.at = llvm.getelementptr %record[7] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %row, %record {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %thread, %thread.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %lo, %lo.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %hi, %hi.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %start, %start.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %end, %end.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %own.start, %own.start.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %own.end, %own.end.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.br ^done
  ^done:
    llvm.return
  }
  // limit(args + 1): what tells the extent of a kernel's parallel loop.
  llvm.func @lamina_traced_limit(%args: !llvm.ptr) -> i64 attributes {no_unwind} {
    %descriptor = llvm.load %args {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %limit.at = llvm.getelementptr %descriptor[24] : (!llvm.ptr) -> !llvm.ptr, i8
    %limit = llvm.load %limit.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %behind = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %extent = llvm.call %limit(%behind) : !llvm.ptr, (!llvm.ptr) -> i64
    llvm.return %extent : i64
  }
}
