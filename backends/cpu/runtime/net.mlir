// The functions of a net behind lamina.h, beside those of net_fixed.mlir or net_open.mlir. All memory is the caller's; a
// state is
//
//   0    i64  marker    facts[0] of the net that it was started for
//   8    ptr  pool      null with one thread
//   16   i64  threads   those that it was started for
//   64   i64  status[4] what the runner and kernels leave
//   128  ptr  bases[]   status, arena, sizes, inputs, outputs, parameters, places
//   then what follows from the shapes of a call, the arena, the memory of each thread, the pool and the places, each at
//   a multiple of 64 bytes
//
// The facts of a net are {i64 marker, inputs, outputs, parameters, arena_at, pool_at, entries, codes, texts, packs,
// sizes, places, found_at, thread_memory}: its program has so many entries, `codes` of the texts are for codes below zero, the last of
// them for -1; `packs` is not 0 where weights are packed as the net is loaded. Offset -1 - n of a parameter is offset n
// of these. A net of open extents has sizes, which are its program's first inputs, and places in memory that they tell.

builtin.module {

  llvm.mlir.global external constant @lamina.facts() : !llvm.array<14 x i64>
  llvm.mlir.global external constant @lamina.offsets() : !llvm.array<1 x i64>
  llvm.mlir.global external constant @lamina.texts() : !llvm.array<1 x ptr>
  llvm.mlir.global external constant @lamina.data() : i8
  llvm.func @lamina_net_pool(!llvm.ptr, i64, i64) -> !llvm.ptr
  llvm.func @lamina_net_stop(!llvm.ptr)

  // The offset of the pool in a state for so many threads.
  llvm.func @lamina.pool_at(%threads: i64) -> i64 attributes {no_unwind} {
    %one = llvm.mlir.constant(1 : i64) : i64
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %first.at = llvm.getelementptr %facts[40] : (!llvm.ptr) -> !llvm.ptr, i8
    %memory.at = llvm.getelementptr %facts[104] : (!llvm.ptr) -> !llvm.ptr, i8
    %first = llvm.load %first.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %memory = llvm.load %memory.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %count = llvm.intr.umax(%threads, %one) : (i64, i64) -> i64
    %memories = llvm.mul %count, %memory : i64
    %offset = llvm.add %first, %memories : i64
    llvm.return %offset : i64
  }

  // Make a state of memory that is aligned and large enough; `params` null stands for those of the library.
  llvm.func @lamina.start(%state: !llvm.ptr, %params: !llvm.ptr, %threads: i32, %spins: i64) -> i32 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %zero32 = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    %low = llvm.mlir.constant(63 : i64) : i64
    %flip = llvm.mlir.constant(-1 : i64) : i64
    %misaligned = llvm.mlir.constant(-2 : i32) : i32
    %none = llvm.mlir.constant(-9 : i32) : i32
    %odd_params = llvm.mlir.constant(-10 : i32) : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %own = llvm.mlir.addressof @lamina.data : !llvm.ptr
    %offsets = llvm.mlir.addressof @lamina.offsets : !llvm.ptr
    %address = llvm.ptrtoint %state : !llvm.ptr to i64
    %odd = llvm.and %address, %low : i64
    %aligned = llvm.icmp "eq" %odd, %zero : i64
    %packs.at = llvm.getelementptr %facts[72] : (!llvm.ptr) -> !llvm.ptr, i8
    %packs = llvm.load %packs.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %as_used = llvm.icmp "eq" %packs, %zero : i64
    %given = llvm.icmp "ne" %params, %null : !llvm.ptr
    llvm.cond_br %aligned, ^weights, ^refuse(%misaligned : i32)
  ^refuse(%why: i32):
    llvm.return %why : i32
  ^weights:
    %has_weights = llvm.or %as_used, %given : i1
    llvm.cond_br %has_weights, ^places, ^refuse(%none : i32)
  ^places:
    %params.address = llvm.ptrtoint %params : !llvm.ptr to i64
    %params.odd = llvm.and %params.address, %low : i64
    %params.aligned = llvm.icmp "eq" %params.odd, %zero : i64
    %fine = llvm.or %as_used, %params.aligned : i1
    llvm.cond_br %fine, ^begin, ^refuse(%odd_params : i32)
  ^begin:
    %inputs.at = llvm.getelementptr %facts[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %outputs.at = llvm.getelementptr %facts[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %count.at = llvm.getelementptr %facts[24] : (!llvm.ptr) -> !llvm.ptr, i8
    %arena.at = llvm.getelementptr %facts[32] : (!llvm.ptr) -> !llvm.ptr, i8
    %marker = llvm.load %facts {alignment = 8 : i64} : !llvm.ptr -> i64
    %inputs = llvm.load %inputs.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %outputs = llvm.load %outputs.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %count = llvm.load %count.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %arena.offset = llvm.load %arena.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %wanted = llvm.zext %threads : i32 to i64
    %pool.offset = llvm.call @lamina.pool_at(%wanted) : (i64) -> i64
    %status = llvm.getelementptr %state[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %bases = llvm.getelementptr %state[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %arena = llvm.getelementptr %state[%arena.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %block = llvm.getelementptr %state[%pool.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %arena.base = llvm.getelementptr %bases[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    llvm.store %status, %bases : !llvm.ptr, !llvm.ptr
    llvm.store %arena, %arena.base : !llvm.ptr, !llvm.ptr
    %others = llvm.and %as_used, %given : i1
    %data = llvm.select %others, %params, %own : i1, !llvm.ptr
    %ports = llvm.add %inputs, %outputs : i64
    %first = llvm.add %ports, %two : i64
    llvm.br ^param(%zero : i64)
  ^param(%n: i64):
    %more = llvm.icmp "slt" %n, %count : i64
    llvm.cond_br %more, ^place, ^threads
  ^place:
    %offset.at = llvm.getelementptr %offsets[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %said = llvm.load %offset.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %is_packed = llvm.icmp "slt" %said, %zero : i64
    %flipped = llvm.xor %said, %flip : i64
    %offset = llvm.select %is_packed, %flipped, %said : i1, i64
    %from = llvm.select %is_packed, %params, %data : i1, !llvm.ptr
    %value = llvm.getelementptr %from[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %position = llvm.add %first, %n : i64
    %base = llvm.getelementptr %bases[%position] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %value, %base : !llvm.ptr, !llvm.ptr
    %following = llvm.add %n, %one : i64
    llvm.br ^param(%following : i64)
  ^threads:
    %pool = llvm.call @lamina_net_pool(%block, %wanted, %spins) : (!llvm.ptr, i64, i64) -> !llvm.ptr
    %pool.place = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %pool, %pool.place : !llvm.ptr, !llvm.ptr
    %threads.place = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i8
    llvm.store %wanted, %threads.place {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %marker, %state {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.return %zero32 : i32
  }

  // End the threads of a state; its memory is the caller's again.
  llvm.func @lamina.stop(%state: !llvm.ptr) attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %wanted = llvm.load %facts {alignment = 8 : i64} : !llvm.ptr -> i64
    %marker = llvm.load %state {alignment = 8 : i64} : !llvm.ptr -> i64
    %started = llvm.icmp "eq" %marker, %wanted : i64
    llvm.cond_br %started, ^end, ^done
  ^end:
    %pool.at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %pool = llvm.load %pool.at : !llvm.ptr -> !llvm.ptr
    llvm.store %zero, %state {alignment = 8 : i64} : i64, !llvm.ptr
    %some = llvm.icmp "ne" %pool, %null : !llvm.ptr
    llvm.cond_br %some, ^threads, ^done
  ^threads:
    llvm.call @lamina_net_stop(%pool) : (!llvm.ptr) -> ()
    llvm.br ^done
  ^done:
    llvm.return
  }

  // What a code says.
  llvm.func @lamina.text(%code: i32) -> !llvm.ptr attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %texts = llvm.mlir.addressof @lamina.texts : !llvm.ptr
    %codes.at = llvm.getelementptr %facts[56] : (!llvm.ptr) -> !llvm.ptr, i8
    %count.at = llvm.getelementptr %facts[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %codes = llvm.load %codes.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %count = llvm.load %count.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %wide = llvm.sext %code : i32 to i64
    %n = llvm.add %wide, %codes : i64
    // The first says that there is no such code; below zero is large without a sign.
    %known = llvm.icmp "ult" %n, %count : i64
    %place = llvm.select %known, %n, %zero : i1, i64
    %text.at = llvm.getelementptr %texts[%place] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %text = llvm.load %text.at : !llvm.ptr -> !llvm.ptr
    llvm.return %text : !llvm.ptr
  }
}
