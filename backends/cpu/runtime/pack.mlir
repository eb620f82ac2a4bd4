// Packs the weights of a net whose file has them as they were before: runs the program of that. The room is
//
//   0    i64  status[4] what the runner and kernels leave
//   64   ptr  bases[]   status, arena, packed weights, stored weights
//   then the arena, at a multiple of 64 bytes
//
// The facts of the packing are {i64 packed, stored, arena_at, entries}; its offsets are those of the packed weights in
// the caller's memory, then those of the stored ones in the data.

builtin.module {

  llvm.mlir.global external constant @lamina.pack_facts() : !llvm.array<4 x i64>
  llvm.mlir.global external constant @lamina.pack_offsets() : !llvm.array<1 x i64>
  llvm.mlir.global external constant @lamina.data() : i8
  llvm.mlir.global external constant @pack.main.program() : i8
  llvm.mlir.global external constant @pack.main.arguments() : i8
  llvm.func @lamina_run(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> i64

  // Fill memory with the packed weights, for `start`: 0, or a code.
  llvm.func @lamina.pack(%params: !llvm.ptr, %room: !llvm.ptr) -> i32 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    %low = llvm.mlir.constant(63 : i64) : i64
    %misaligned = llvm.mlir.constant(-10 : i32) : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %facts = llvm.mlir.addressof @lamina.pack_facts : !llvm.ptr
    %offsets = llvm.mlir.addressof @lamina.pack_offsets : !llvm.ptr
    %own = llvm.mlir.addressof @lamina.data : !llvm.ptr
    %program = llvm.mlir.addressof @pack.main.program : !llvm.ptr
    %arguments = llvm.mlir.addressof @pack.main.arguments : !llvm.ptr
    %params.address = llvm.ptrtoint %params : !llvm.ptr to i64
    %room.address = llvm.ptrtoint %room : !llvm.ptr to i64
    %either = llvm.or %params.address, %room.address : i64
    %odd = llvm.and %either, %low : i64
    %aligned = llvm.icmp "eq" %odd, %zero : i64
    llvm.cond_br %aligned, ^begin, ^refuse
  ^refuse:
    llvm.return %misaligned : i32
  ^begin:
    %stored.at = llvm.getelementptr %facts[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %arena.at = llvm.getelementptr %facts[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %entries.at = llvm.getelementptr %facts[24] : (!llvm.ptr) -> !llvm.ptr, i8
    %packed = llvm.load %facts {alignment = 8 : i64} : !llvm.ptr -> i64
    %stored = llvm.load %stored.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %arena.offset = llvm.load %arena.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %entries = llvm.load %entries.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %bases = llvm.getelementptr %room[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %arena = llvm.getelementptr %room[%arena.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %arena.base = llvm.getelementptr %bases[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    llvm.store %zero, %room {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.store %room, %bases : !llvm.ptr, !llvm.ptr
    llvm.store %arena, %arena.base : !llvm.ptr, !llvm.ptr
    %all = llvm.add %packed, %stored : i64
    llvm.br ^weight(%zero : i64)
  ^weight(%n: i64):
    %more = llvm.icmp "slt" %n, %all : i64
    llvm.cond_br %more, ^place, ^compute
  ^place:
    %is_packed = llvm.icmp "slt" %n, %packed : i64
    %from = llvm.select %is_packed, %params, %own : i1, !llvm.ptr
    %offset.at = llvm.getelementptr %offsets[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %offset = llvm.load %offset.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %value = llvm.getelementptr %from[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %position = llvm.add %two, %n : i64
    %base = llvm.getelementptr %bases[%position] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %value, %base : !llvm.ptr, !llvm.ptr
    %following = llvm.add %n, %one : i64
    llvm.br ^weight(%following : i64)
  ^compute:
    %code = llvm.call @lamina_run(%program, %arguments, %zero, %entries, %bases, %null) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> i64
    %short = llvm.trunc %code : i64 to i32
    llvm.return %short : i32
  }
}
