// The thread pool. What it calls of POSIX systems without have functions of their own for (`windows_x86_64.mlir`).
//
// The pool is a block of memory that the caller owns:
//
//   0    i64  state     high half: number of the job; bit 31: job open; bits 0-30: workers inside the job
//   64   i64  next      the first iteration that nobody has taken
//   128  ptr  kernel    the job: kernel(args, lo, hi, thread) for slices of [0, extent)
//   136  ptr  args
//   144  i64  extent
//   152  i64  grain     the fewest iterations taken at a time
//   160  i64  team      1 where the job is a team's
//   192  i32  sleepers  workers that wait in the kernel
//   196  i32  stop      workers are to end
//   200  i64  workers   threads besides the caller
//   208  i64  spins     polls before a worker sleeps
//   216  ptr  numbers   a line of 64 bytes for each thread, the caller's first: the number of barriers it has come to
//   224  i64  size      the threads of a team, 0 until that is known
//   232  i64  members   the most workers in a team
//   240  16 bytes       where threads sleep, on systems where the number is not enough
//   256  i64  threads[] pthread_t of each worker
//
// A worker joins a job by adding one to `state` while the open bit is set, so the caller, who clears that bit when the
// iterations are gone, has only to wait for workers that did join: one that the system has not scheduled costs nothing.
// The job's number is what sleeping workers wait on (a futex at offset 4).
//
// A thread is known to a kernel by its number in the job: 0 is the caller, a worker has the count of those inside as it
// joined. One who leaves has seen that no iteration is left, so that of two workers with one number only one has work.
//
// A thread takes a quarter of its share of what is left, but no less than a grain: much while there is much, so that
// neighbouring iterations find each other's data, and little at the end, where all should come at once.
//
// A team is a job of another kind: kernel(args, n, size, n) by all of its threads at the same time, n from 0. The caller
// opens the job, waits a little for workers to join, closes it and says how many there are; those who came too late
// have no part in it. The threads meet at barriers: each leaves its number and waits until nobody's is less.

builtin.module {

  llvm.func @pthread_create(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  llvm.func @pthread_attr_init(!llvm.ptr) -> i32
  llvm.func @pthread_attr_destroy(!llvm.ptr) -> i32
  llvm.func @sched_yield() -> i32
  llvm.func @pause()
  llvm.func @set_stack(!llvm.ptr)
  llvm.func @join(!llvm.ptr)
  llvm.func @futex_wait(!llvm.ptr, i32)
  llvm.func @futex_wake(!llvm.ptr)

  // Take slices of the job until none is left, as the thread of this number.
  llvm.func internal @take(%pool: !llvm.ptr, %thread: i64) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    %workers.at = llvm.getelementptr %pool[200] : (!llvm.ptr) -> !llvm.ptr, i8
    %next = llvm.getelementptr %pool[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %kernel.at = llvm.getelementptr %pool[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %args.at = llvm.getelementptr %pool[136] : (!llvm.ptr) -> !llvm.ptr, i8
    %extent.at = llvm.getelementptr %pool[144] : (!llvm.ptr) -> !llvm.ptr, i8
    %grain.at = llvm.getelementptr %pool[152] : (!llvm.ptr) -> !llvm.ptr, i8
    %kernel = llvm.load %kernel.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %args = llvm.load %args.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %extent = llvm.load %extent.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %grain = llvm.load %grain.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %workers = llvm.load %workers.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %threads = llvm.add %workers, %one : i64
    %shares = llvm.shl %threads, %two : i64
    %first = llvm.load %next atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
    llvm.br ^take(%first : i64)
  ^take(%lo: i64):
    %left = llvm.sub %extent, %lo : i64
    %some = llvm.icmp "sgt" %left, %zero : i64
    llvm.cond_br %some, ^claim, ^done
  ^claim:
    %share = llvm.sdiv %left, %shares : i64
    %size = llvm.intr.smax(%share, %grain) : (i64, i64) -> i64
    %end = llvm.add %lo, %size : i64
    %hi = llvm.intr.smin(%end, %extent) : (i64, i64) -> i64
    %pair = llvm.cmpxchg %next, %lo, %hi monotonic monotonic {alignment = 8 : i64} : !llvm.ptr, i64
    %current = llvm.extractvalue %pair[0] : !llvm.struct<(i64, i1)>
    %mine = llvm.extractvalue %pair[1] : !llvm.struct<(i64, i1)>
    llvm.cond_br %mine, ^run, ^take(%current : i64)
  ^run:
    llvm.call %kernel(%args, %lo, %hi, %thread) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    %following = llvm.load %next atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
    llvm.br ^take(%following : i64)
  ^done:
    llvm.return
  }

  // One poll of a thread that waits for another: once in `patience + 1` times, a power of two, it leaves the processor to
  // others. On a busy machine that may be for milliseconds.
  llvm.func internal @poll(%polls: i64, %patience: i64) -> i64 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %more = llvm.add %polls, %one : i64
    llvm.call @pause() : () -> ()
    %phase = llvm.and %more, %patience : i64
    %patient = llvm.icmp "ne" %phase, %zero : i64
    llvm.cond_br %patient, ^done, ^yield
  ^yield:
    %ignored = llvm.call @sched_yield() : () -> i32
    llvm.br ^done
  ^done:
    llvm.return %more : i64
  }

  // A barrier, the `turn`-th of this team: leave the turn and wait for all others to be there.
  llvm.func @lamina_meet(%numbers: !llvm.ptr, %me: i64, %size: i64, %turn: i64) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %patience = llvm.mlir.constant(1023 : i64) : i64
    %alone = llvm.icmp "sle" %size, %one : i64
    llvm.cond_br %alone, ^done, ^arrive
  ^arrive:
    %mine = llvm.getelementptr %numbers[%me] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x i64>
    llvm.store %turn, %mine atomic release {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.br ^thread(%zero : i64)
  ^thread(%n: i64):
    %another = llvm.icmp "slt" %n, %size : i64
    llvm.cond_br %another, ^wait(%zero : i64), ^done
  ^wait(%polls: i64):
    %theirs = llvm.getelementptr %numbers[%n] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x i64>
    %number = llvm.load %theirs atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
    %there = llvm.icmp "sge" %number, %turn : i64
    %following = llvm.add %n, %one : i64
    llvm.cond_br %there, ^thread(%following : i64), ^poll
  ^poll:
    %more = llvm.call @poll(%polls, %patience) : (i64, i64) -> i64
    llvm.br ^wait(%more : i64)
  ^done:
    llvm.return
  }

  // A worker's part in a team, if it is among its threads.
  llvm.func internal @take_part(%pool: !llvm.ptr, %n: i64) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %patience = llvm.mlir.constant(1023 : i64) : i64
    %size.at = llvm.getelementptr %pool[224] : (!llvm.ptr) -> !llvm.ptr, i8
    %kernel.at = llvm.getelementptr %pool[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %args.at = llvm.getelementptr %pool[136] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.br ^wait(%zero : i64)
  ^wait(%polls: i64):
    %size = llvm.load %size.at atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
    %known = llvm.icmp "ne" %size, %zero : i64
    llvm.cond_br %known, ^begin, ^poll
  ^poll:
    %more = llvm.call @poll(%polls, %patience) : (i64, i64) -> i64
    llvm.br ^wait(%more : i64)
  ^begin:
    %mine = llvm.icmp "slt" %n, %size : i64
    llvm.cond_br %mine, ^run, ^done
  ^run:
    %kernel = llvm.load %kernel.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %args = llvm.load %args.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    llvm.call %kernel(%args, %n, %size, %n) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    llvm.br ^done
  ^done:
    llvm.return
  }

  // A thread: wait for the next job, join it if it is still open, work, leave.
  llvm.func internal @work(%pool: !llvm.ptr) -> !llvm.ptr attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %one32 = llvm.mlir.constant(1 : i32) : i32
    %zero32 = llvm.mlir.constant(0 : i32) : i32
    %shift = llvm.mlir.constant(32 : i64) : i64
    %open = llvm.mlir.constant(2147483648 : i64) : i64
    %often = llvm.mlir.constant(31 : i64) : i64
    %members.mask = llvm.mlir.constant(2147483647 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %number.at = llvm.getelementptr %pool[4] : (!llvm.ptr) -> !llvm.ptr, i8
    %sleepers = llvm.getelementptr %pool[192] : (!llvm.ptr) -> !llvm.ptr, i8
    %stop.at = llvm.getelementptr %pool[196] : (!llvm.ptr) -> !llvm.ptr, i8
    %spins.at = llvm.getelementptr %pool[208] : (!llvm.ptr) -> !llvm.ptr, i8
    %spins = llvm.load %spins.at {alignment = 8 : i64} : !llvm.ptr -> i64
    llvm.br ^wait(%zero, %one : i64, i64)

  // `served` is the number of the last job this worker knows.
  ^wait(%served: i64, %polls: i64):
    %state = llvm.load %pool atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
    %number = llvm.lshr %state, %shift : i64
    %new = llvm.icmp "ne" %number, %served : i64
    llvm.cond_br %new, ^awake(%state, %number : i64, i64), ^idle
  ^idle:
    %tired = llvm.icmp "sge" %polls, %spins : i64
    %more = llvm.add %polls, %one : i64
    llvm.cond_br %tired, ^sleep, ^spin
  ^spin:
    llvm.call @pause() : () -> ()
    %phase = llvm.and %more, %often : i64
    %polite = llvm.icmp "eq" %phase, %zero : i64
    llvm.cond_br %polite, ^yield, ^wait(%served, %more : i64, i64)
  ^yield:
    // A worker that has woken up may stand on the processor of the one who woke it, and keep it from its work.
    %yielded = llvm.call @sched_yield() : () -> i32
    llvm.br ^wait(%served, %more : i64, i64)
  ^sleep:
    %served32 = llvm.trunc %served : i64 to i32
    %before = llvm.atomicrmw add %sleepers, %one32 seq_cst {alignment = 4 : i64} : !llvm.ptr, i32
    llvm.call @futex_wait(%number.at, %served32) : (!llvm.ptr, i32) -> ()
    %after = llvm.atomicrmw sub %sleepers, %one32 seq_cst {alignment = 4 : i64} : !llvm.ptr, i32
    llvm.br ^wait(%served, %zero : i64, i64)

  ^awake(%seen: i64, %job: i64):
    %stop = llvm.load %stop.at atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
    %ending = llvm.icmp "ne" %stop, %zero32 : i32
    llvm.cond_br %ending, ^end, ^check
  ^check:
    %bit = llvm.and %seen, %open : i64
    %is_open = llvm.icmp "ne" %bit, %zero : i64
    llvm.cond_br %is_open, ^join, ^wait(%job, %zero : i64, i64)
  ^join:
    %entered = llvm.add %seen, %one : i64
    %pair = llvm.cmpxchg %pool, %seen, %entered acq_rel acquire {alignment = 8 : i64} : !llvm.ptr, i64
    %current = llvm.extractvalue %pair[0] : !llvm.struct<(i64, i1)>
    %joined = llvm.extractvalue %pair[1] : !llvm.struct<(i64, i1)>
    %current.number = llvm.lshr %current, %shift : i64
    llvm.cond_br %joined, ^inside, ^awake(%current, %current.number : i64, i64)
  ^inside:
    %team.at = llvm.getelementptr %pool[160] : (!llvm.ptr) -> !llvm.ptr, i8
    %team = llvm.load %team.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %of_team = llvm.icmp "ne" %team, %zero : i64
    %thread = llvm.and %entered, %members.mask : i64
    llvm.cond_br %of_team, ^together, ^slices
  ^together:
    llvm.call @take_part(%pool, %thread) : (!llvm.ptr, i64) -> ()
    llvm.br ^leave
  ^slices:
    llvm.call @take(%pool, %thread) : (!llvm.ptr, i64) -> ()
    llvm.br ^leave
  ^leave:
    %left = llvm.atomicrmw sub %pool, %one release {alignment = 8 : i64} : !llvm.ptr, i64
    llvm.br ^wait(%job, %zero : i64, i64)
  ^end:
    llvm.return %null : !llvm.ptr
  }

  // Wake every worker that sleeps on the job's number.
  llvm.func internal @wake(%pool: !llvm.ptr) attributes {no_unwind} {
    %zero32 = llvm.mlir.constant(0 : i32) : i32
    %number.at = llvm.getelementptr %pool[4] : (!llvm.ptr) -> !llvm.ptr, i8
    %sleepers.at = llvm.getelementptr %pool[192] : (!llvm.ptr) -> !llvm.ptr, i8
    %sleepers = llvm.load %sleepers.at atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
    %asleep = llvm.icmp "ne" %sleepers, %zero32 : i32
    llvm.cond_br %asleep, ^call, ^done
  ^call:
    llvm.call @futex_wake(%number.at) : (!llvm.ptr) -> ()
    llvm.br ^done
  ^done:
    llvm.return
  }

  // The number of the next job in the high half, with the given low half.
  llvm.func internal @publish(%pool: !llvm.ptr, %low: i64) attributes {no_unwind} {
    %one = llvm.mlir.constant(1 : i64) : i64
    %shift = llvm.mlir.constant(32 : i64) : i64
    %state = llvm.load %pool atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
    %number = llvm.lshr %state, %shift : i64
    %next = llvm.add %number, %one : i64
    %high = llvm.shl %next, %shift : i64
    %new = llvm.or %high, %low : i64
    %old = llvm.atomicrmw xchg %pool, %new seq_cst {alignment = 8 : i64} : !llvm.ptr, i64
    llvm.call @wake(%pool) : (!llvm.ptr) -> ()
    llvm.return
  }

  // kernel(args, lo, hi, thread) over slices of [0, extent), by the pool where there is one and more than one slice.
  llvm.func @lamina_parallel(%kernel: !llvm.ptr, %args: !llvm.ptr, %extent: i64, %grain: i64, %pool: !llvm.ptr) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %open = llvm.mlir.constant(2147483648 : i64) : i64
    %closed = llvm.mlir.constant(-2147483649 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %no_pool = llvm.icmp "eq" %pool, %null : !llvm.ptr
    %one_slice = llvm.icmp "sle" %extent, %grain : i64
    %serial = llvm.or %no_pool, %one_slice : i1
    llvm.cond_br %serial, ^alone, ^shared
  ^alone:
    llvm.call %kernel(%args, %zero, %extent, %zero) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    llvm.return
  ^shared:
    %next = llvm.getelementptr %pool[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %kernel.at = llvm.getelementptr %pool[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %args.at = llvm.getelementptr %pool[136] : (!llvm.ptr) -> !llvm.ptr, i8
    %extent.at = llvm.getelementptr %pool[144] : (!llvm.ptr) -> !llvm.ptr, i8
    %grain.at = llvm.getelementptr %pool[152] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %kernel, %kernel.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    llvm.store %args, %args.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    llvm.store %extent, %extent.at {alignment = 8 : i64} : i64, !llvm.ptr
    %team.at = llvm.getelementptr %pool[160] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %zero, %team.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %grain, %grain.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %zero, %next {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.call @publish(%pool, %open) : (!llvm.ptr, i64) -> ()
    llvm.call @take(%pool, %zero) : (!llvm.ptr, i64) -> ()
    %last = llvm.atomicrmw _and %pool, %closed acq_rel {alignment = 8 : i64} : !llvm.ptr, i64
    llvm.call @wait_for_all(%pool) : (!llvm.ptr) -> ()
    llvm.return
  }

  // Wait until no worker is inside the job.
  llvm.func internal @wait_for_all(%pool: !llvm.ptr) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %patience = llvm.mlir.constant(255 : i64) : i64
    %inside_mask = llvm.mlir.constant(2147483647 : i64) : i64
    llvm.br ^leave(%zero : i64)
  ^leave(%polls: i64):
    %state = llvm.load %pool atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
    %inside = llvm.and %state, %inside_mask : i64
    %empty = llvm.icmp "eq" %inside, %zero : i64
    llvm.cond_br %empty, ^done, ^poll
  ^poll:
    %more = llvm.call @poll(%polls, %patience) : (i64, i64) -> i64
    llvm.br ^leave(%more : i64)
  ^done:
    llvm.return
  }

  // kernel(args, n, size, n) on at most `extent` threads at once: the caller and those workers that come within some polls.
  llvm.func @lamina_team(%kernel: !llvm.ptr, %args: !llvm.ptr, %extent: i64, %patience: i64, %pool: !llvm.ptr) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %open = llvm.mlir.constant(2147483648 : i64) : i64
    %closed = llvm.mlir.constant(-2147483649 : i64) : i64
    %inside_mask = llvm.mlir.constant(2147483647 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %no_pool = llvm.icmp "eq" %pool, %null : !llvm.ptr
    llvm.cond_br %no_pool, ^alone, ^count
  ^alone:
    llvm.call %kernel(%args, %zero, %one, %zero) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    llvm.return
  ^count:
    %members.at = llvm.getelementptr %pool[232] : (!llvm.ptr) -> !llvm.ptr, i8
    %members = llvm.load %members.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %others = llvm.sub %extent, %one : i64
    %wanted = llvm.intr.smin(%members, %others) : (i64, i64) -> i64
    %some = llvm.icmp "sgt" %wanted, %zero : i64
    llvm.cond_br %some, ^invite, ^alone
  ^invite:
    %numbers.at = llvm.getelementptr %pool[216] : (!llvm.ptr) -> !llvm.ptr, i8
    %size.at = llvm.getelementptr %pool[224] : (!llvm.ptr) -> !llvm.ptr, i8
    %kernel.at = llvm.getelementptr %pool[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %args.at = llvm.getelementptr %pool[136] : (!llvm.ptr) -> !llvm.ptr, i8
    %team.at = llvm.getelementptr %pool[160] : (!llvm.ptr) -> !llvm.ptr, i8
    %numbers = llvm.load %numbers.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    llvm.store %kernel, %kernel.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    llvm.store %args, %args.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    llvm.store %one, %team.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %zero, %size.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.br ^clear(%zero : i64)
  ^clear(%n: i64):
    %number.at = llvm.getelementptr %numbers[%n] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<8 x i64>
    llvm.store %zero, %number.at {alignment = 8 : i64} : i64, !llvm.ptr
    %n.next = llvm.add %n, %one : i64
    %cleared = llvm.icmp "sgt" %n.next, %wanted : i64
    llvm.cond_br %cleared, ^publish, ^clear(%n.next : i64)
  ^publish:
    llvm.call @publish(%pool, %open) : (!llvm.ptr, i64) -> ()
    llvm.br ^gather(%zero : i64)
  ^gather(%polls: i64):
    %state = llvm.load %pool atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
    %inside = llvm.and %state, %inside_mask : i64
    %missing = llvm.icmp "slt" %inside, %wanted : i64
    %patient = llvm.icmp "slt" %polls, %patience : i64
    %waiting = llvm.and %missing, %patient : i1
    llvm.cond_br %waiting, ^poll, ^begin
  ^poll:
    %more = llvm.add %polls, %one : i64
    llvm.call @pause() : () -> ()
    llvm.br ^gather(%more : i64)
  ^begin:
    %last = llvm.atomicrmw _and %pool, %closed acq_rel {alignment = 8 : i64} : !llvm.ptr, i64
    %came = llvm.and %last, %inside_mask : i64
    %taken = llvm.intr.smin(%came, %wanted) : (i64, i64) -> i64
    %size = llvm.add %taken, %one : i64
    llvm.store %size, %size.at atomic release {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.call %kernel(%args, %zero, %size, %zero) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
    llvm.call @wait_for_all(%pool) : (!llvm.ptr) -> ()
    llvm.return
  }

  // Start `workers` threads; gives how many did start. Kernels have buffers of up to 256 KB on the stack: musl's threads
  // have 128 KB of it unless they are told, glibc's what the limit of the process says.
  llvm.func @lamina_pool_start(%pool: !llvm.ptr, %workers: i64) -> i64 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %zero32 = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i64) : i64
    %work = llvm.mlir.addressof @work : !llvm.ptr
    %count.at = llvm.getelementptr %pool[200] : (!llvm.ptr) -> !llvm.ptr, i8
    %threads = llvm.getelementptr %pool[256] : (!llvm.ptr) -> !llvm.ptr, i8
    // A pthread_attr_t has 36 to 64 bytes.
    %words = llvm.mlir.constant(16 : i64) : i64
    %attributes = llvm.alloca %words x i64 {alignment = 16 : i64} : (i64) -> !llvm.ptr
    %made = llvm.call @pthread_attr_init(%attributes) : (!llvm.ptr) -> i32
    llvm.call @set_stack(%attributes) : (!llvm.ptr) -> ()
    llvm.br ^next(%zero : i64)
  ^next(%i: i64):
    llvm.store %i, %count.at {alignment = 8 : i64} : i64, !llvm.ptr
    %more = llvm.icmp "slt" %i, %workers : i64
    llvm.cond_br %more, ^start, ^done
  ^start:
    %thread = llvm.getelementptr %threads[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %status = llvm.call @pthread_create(%thread, %attributes, %work, %pool) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
    %ok = llvm.icmp "eq" %status, %zero32 : i32
    %following = llvm.add %i, %one : i64
    llvm.cond_br %ok, ^next(%following : i64), ^done
  ^done:
    %ended = llvm.call @pthread_attr_destroy(%attributes) : (!llvm.ptr) -> i32
    llvm.return %i : i64
  }

  // End the workers and wait for them.
  llvm.func @lamina_pool_stop(%pool: !llvm.ptr) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %one32 = llvm.mlir.constant(1 : i32) : i32
    %stop.at = llvm.getelementptr %pool[196] : (!llvm.ptr) -> !llvm.ptr, i8
    %count.at = llvm.getelementptr %pool[200] : (!llvm.ptr) -> !llvm.ptr, i8
    %threads = llvm.getelementptr %pool[256] : (!llvm.ptr) -> !llvm.ptr, i8
    %count = llvm.load %count.at {alignment = 8 : i64} : !llvm.ptr -> i64
    llvm.store %one32, %stop.at atomic release {alignment = 4 : i64} : i32, !llvm.ptr
    llvm.call @publish(%pool, %zero) : (!llvm.ptr, i64) -> ()
    llvm.br ^next(%zero : i64)
  ^next(%i: i64):
    %more = llvm.icmp "slt" %i, %count : i64
    llvm.cond_br %more, ^join, ^done
  ^join:
    %thread.at = llvm.getelementptr %threads[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    llvm.call @join(%thread.at) : (!llvm.ptr) -> ()
    %following = llvm.add %i, %one : i64
    llvm.br ^next(%following : i64)
  ^done:
    llvm.store %zero, %count.at {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.return
  }
}
