// The runner of program tables.
//
// A program is a constant array of {ptr kernel, i64 extent, i64 grain, i64 first_arg, i64 n_args, ptr limit}, its
// arguments an array of {i64 base, i64 byte_offset}: argument i of an entry is bases[base] + byte_offset. Where `limit`
// is not null it tells the extent, from the arguments. bases[0] is the status
// block {i64 code, i64 entry, ptr numbers, ptr meet}: a kernel that fails stores a code there, and the runner stops and
// returns it; the other two are for the threads of a team. An entry whose grain is negative is run by a team of at most
// `extent` threads, and -grain is how many polls the caller waits for workers.

builtin.module {

  llvm.func @lamina_parallel(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr)
  llvm.func @lamina_team(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr)
  llvm.func @lamina_meet(!llvm.ptr, i64, i64, i64)

  // Run entries [lo, hi) of a program; 0, or the code of the first kernel that failed.
  llvm.func @lamina_run(%program: !llvm.ptr, %table: !llvm.ptr, %lo: i64, %hi: i64, %bases: !llvm.ptr, %pool: !llvm.ptr) -> i64 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %status = llvm.load %bases {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %failed_entry = llvm.getelementptr %status[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %numbers.at = llvm.getelementptr %status[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %meet.at = llvm.getelementptr %numbers.at[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %meet = llvm.mlir.addressof @lamina_meet : !llvm.ptr
    %null = llvm.mlir.zero : !llvm.ptr
    llvm.store %meet, %meet.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    %pooled = llvm.icmp "ne" %pool, %null : !llvm.ptr
    llvm.cond_br %pooled, ^prepare, ^next(%lo : i64)
  ^prepare:
    %of_pool = llvm.getelementptr %pool[216] : (!llvm.ptr) -> !llvm.ptr, i8
    %numbers = llvm.load %of_pool {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    llvm.store %numbers, %numbers.at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    llvm.br ^next(%lo : i64)
  ^next(%i: i64):
    %more = llvm.icmp "slt" %i, %hi : i64
    llvm.cond_br %more, ^entry, ^end(%zero : i64)
  ^entry:
    %kernel.at = llvm.getelementptr %program[%i, 0] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(ptr, i64, i64, i64, i64, ptr)>
    %extent.at = llvm.getelementptr %program[%i, 1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(ptr, i64, i64, i64, i64, ptr)>
    %grain.at = llvm.getelementptr %program[%i, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(ptr, i64, i64, i64, i64, ptr)>
    %first.at = llvm.getelementptr %program[%i, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(ptr, i64, i64, i64, i64, ptr)>
    %count.at = llvm.getelementptr %program[%i, 4] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(ptr, i64, i64, i64, i64, ptr)>
    %kernel = llvm.load %kernel.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %extent = llvm.load %extent.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %grain = llvm.load %grain.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %first = llvm.load %first.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %count = llvm.load %count.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %stack = llvm.intr.stacksave : !llvm.ptr
    %args = llvm.alloca %count x !llvm.ptr {alignment = 16 : i64} : (i64) -> !llvm.ptr
    llvm.br ^argument(%zero : i64)
  ^argument(%j: i64):
    %another = llvm.icmp "slt" %j, %count : i64
    llvm.cond_br %another, ^bind, ^call
  ^bind:
    %row = llvm.add %first, %j : i64
    %base.at = llvm.getelementptr %table[%row, 0] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i64, i64)>
    %offset.at = llvm.getelementptr %table[%row, 1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i64, i64)>
    %base = llvm.load %base.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %offset = llvm.load %offset.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %buffer.at = llvm.getelementptr %bases[%base] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %buffer = llvm.load %buffer.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %value = llvm.getelementptr %buffer[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %slot = llvm.getelementptr %args[%j] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %value, %slot {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
    %following = llvm.add %j, %one : i64
    llvm.br ^argument(%following : i64)
  ^call:
    %limit.at = llvm.getelementptr %program[%i, 5] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(ptr, i64, i64, i64, i64, ptr)>
    %limit = llvm.load %limit.at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
    %open = llvm.icmp "ne" %limit, %null : !llvm.ptr
    llvm.cond_br %open, ^ask, ^run(%extent : i64)
  ^ask:
    %told = llvm.call %limit(%args) : !llvm.ptr, (!llvm.ptr) -> i64
    llvm.br ^run(%told : i64)
  ^run(%all: i64):
    %team = llvm.icmp "slt" %grain, %zero : i64
    llvm.cond_br %team, ^together, ^apart
  ^together:
    %patience = llvm.sub %zero, %grain : i64
    llvm.call @lamina_team(%kernel, %args, %all, %patience, %pool) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> ()
    llvm.br ^over
  ^apart:
    llvm.call @lamina_parallel(%kernel, %args, %all, %grain, %pool) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> ()
    llvm.br ^over
  ^over:
    llvm.intr.stackrestore %stack : !llvm.ptr
    %code = llvm.load %status {alignment = 8 : i64} : !llvm.ptr -> i64
    %fine = llvm.icmp "eq" %code, %zero : i64
    %i.next = llvm.add %i, %one : i64
    llvm.cond_br %fine, ^next(%i.next : i64), ^failed
  ^failed:
    llvm.store %i, %failed_entry {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.br ^end(%code : i64)
  ^end(%result: i64):
    llvm.return %result : i64
  }
}
