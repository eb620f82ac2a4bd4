// The functions of a net whose extents are all known; net.mlir has the others, and draws a state.

builtin.module {

  llvm.mlir.global external constant @lamina.facts() : !llvm.array<14 x i64>
  llvm.mlir.global external constant @lamina.outputs() : !llvm.array<1 x ptr>
  llvm.mlir.global external constant @lamina.ranks() : !llvm.array<1 x i64>
  llvm.mlir.global external constant @main.program() : i8
  llvm.mlir.global external constant @main.arguments() : i8
  llvm.func @lamina_run(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> i64
  llvm.func @lamina_net_bytes(i64) -> i64
  llvm.func @lamina.pool_at(i64) -> i64

  // The shapes of the outputs, where there is room for them, and the bytes of a state for so many threads.
  llvm.func @lamina.sizes(%inputs: !llvm.ptr, %threads: i32, %outputs: !llvm.ptr, %bytes: !llvm.ptr) -> i32 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %zero32 = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i64) : i64
    %null = llvm.mlir.zero : !llvm.ptr
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %shapes = llvm.mlir.addressof @lamina.outputs : !llvm.ptr
    %ranks = llvm.mlir.addressof @lamina.ranks : !llvm.ptr
    %count.at = llvm.getelementptr %facts[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %count = llvm.load %count.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %no_shapes = llvm.icmp "eq" %outputs, %null : !llvm.ptr
    llvm.cond_br %no_shapes, ^state, ^output(%zero : i64)
  ^output(%n: i64):
    %more = llvm.icmp "slt" %n, %count : i64
    llvm.cond_br %more, ^shape, ^state
  ^shape:
    %to.at = llvm.getelementptr %outputs[%n] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %from.at = llvm.getelementptr %shapes[%n] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %rank.at = llvm.getelementptr %ranks[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %to = llvm.load %to.at : !llvm.ptr -> !llvm.ptr
    %from = llvm.load %from.at : !llvm.ptr -> !llvm.ptr
    %rank = llvm.load %rank.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %following = llvm.add %n, %one : i64
    llvm.br ^extent(%zero : i64)
  ^extent(%d: i64):
    %inside = llvm.icmp "slt" %d, %rank : i64
    llvm.cond_br %inside, ^copy, ^output(%following : i64)
  ^copy:
    %extent.at = llvm.getelementptr %from[%d] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %place = llvm.getelementptr %to[%d] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %extent = llvm.load %extent.at {alignment = 8 : i64} : !llvm.ptr -> i64
    llvm.store %extent, %place {alignment = 8 : i64} : i64, !llvm.ptr
    %d.next = llvm.add %d, %one : i64
    llvm.br ^extent(%d.next : i64)
  ^state:
    %no_bytes = llvm.icmp "eq" %bytes, %null : !llvm.ptr
    llvm.cond_br %no_bytes, ^done, ^size
  ^size:
    %wide = llvm.zext %threads : i32 to i64
    %before = llvm.call @lamina.pool_at(%wide) : (i64) -> i64
    %pool = llvm.call @lamina_net_bytes(%wide) : (i64) -> i64
    %all = llvm.add %before, %pool : i64
    llvm.store %all, %bytes {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.br ^done
  ^done:
    llvm.return %zero32 : i32
  }

  // One inference: 0, or a code that `text` explains.
  llvm.func @lamina.run(%state: !llvm.ptr, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    %no_state = llvm.mlir.constant(-1 : i32) : i32
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %program = llvm.mlir.addressof @main.program : !llvm.ptr
    %arguments = llvm.mlir.addressof @main.arguments : !llvm.ptr
    %inputs.at = llvm.getelementptr %facts[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %outputs.at = llvm.getelementptr %facts[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %entries.at = llvm.getelementptr %facts[48] : (!llvm.ptr) -> !llvm.ptr, i8
    %wanted = llvm.load %facts {alignment = 8 : i64} : !llvm.ptr -> i64
    %inputs = llvm.load %inputs.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %outputs = llvm.load %outputs.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %entries = llvm.load %entries.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %marker = llvm.load %state {alignment = 8 : i64} : !llvm.ptr -> i64
    %started = llvm.icmp "eq" %marker, %wanted : i64
    llvm.cond_br %started, ^begin, ^refuse
  ^refuse:
    llvm.return %no_state : i32
  ^begin:
    %status = llvm.getelementptr %state[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %bases = llvm.getelementptr %state[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %pool.at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %pool = llvm.load %pool.at : !llvm.ptr -> !llvm.ptr
    llvm.store %zero, %status {alignment = 8 : i64} : i64, !llvm.ptr
    %input.bases = llvm.getelementptr %bases[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %behind = llvm.add %inputs, %two : i64
    %output.bases = llvm.getelementptr %bases[%behind] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.br ^input(%zero : i64)
  ^input(%n: i64):
    %more = llvm.icmp "slt" %n, %inputs : i64
    llvm.cond_br %more, ^take, ^output(%zero : i64)
  ^take:
    %given.at = llvm.getelementptr %in[%n] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %given = llvm.load %given.at : !llvm.ptr -> !llvm.ptr
    %base = llvm.getelementptr %input.bases[%n] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %given, %base : !llvm.ptr, !llvm.ptr
    %n.next = llvm.add %n, %one : i64
    llvm.br ^input(%n.next : i64)
  ^output(%m: i64):
    %others = llvm.icmp "slt" %m, %outputs : i64
    llvm.cond_br %others, ^put, ^compute
  ^put:
    %result.at = llvm.getelementptr %out[%m] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %result = llvm.load %result.at : !llvm.ptr -> !llvm.ptr
    %result.base = llvm.getelementptr %output.bases[%m] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %result, %result.base : !llvm.ptr, !llvm.ptr
    %m.next = llvm.add %m, %one : i64
    llvm.br ^output(%m.next : i64)
  ^compute:
    %code = llvm.call @lamina_run(%program, %arguments, %zero, %entries, %bases, %pool) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> i64
    %short = llvm.trunc %code : i64 to i32
    llvm.return %short : i32
  }
}
