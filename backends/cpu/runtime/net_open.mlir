// The functions of a net of open extents; net.mlir has the others, and draws a state.
//
// lamina.shapes, which is made for each net, fills {i64 sizes[], offsets of places[]} and, where there is room for them,
// the shapes of the outputs, from the shapes of the inputs; it returns the bytes of all places, or -1 for shapes that do
// not fit. Sizes are the first inputs of the program: they are read where lamina.shapes has put them, in the state.

builtin.module {

  llvm.mlir.global external constant @lamina.facts() : !llvm.array<14 x i64>
  llvm.mlir.global external constant @main.program() : i8
  llvm.mlir.global external constant @main.arguments() : i8
  llvm.func @lamina.shapes(!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i64
  llvm.func @lamina_run(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> i64
  llvm.func @lamina_net_bytes(i64) -> i64
  llvm.func @lamina.pool_at(i64) -> i64

  // The offset of the places in a state.
  llvm.func internal @places_at(%threads: i64) -> i64 attributes {no_unwind} {
    %more = llvm.mlir.constant(63 : i64) : i64
    %whole = llvm.mlir.constant(-64 : i64) : i64
    %before = llvm.call @lamina.pool_at(%threads) : (i64) -> i64
    %pool = llvm.call @lamina_net_bytes(%threads) : (i64) -> i64
    %end = llvm.add %before, %pool : i64
    %above = llvm.add %end, %more : i64
    %place = llvm.and %above, %whole : i64
    llvm.return %place : i64
  }

  // The shapes of the outputs, where there is room for them, and the bytes of a state for so many threads; without shapes
  // those of a state that can be started.
  llvm.func @lamina.sizes(%inputs: !llvm.ptr, %threads: i32, %outputs: !llvm.ptr, %bytes: !llvm.ptr) -> i32 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %zero32 = llvm.mlir.constant(0 : i32) : i32
    %no_shapes = llvm.mlir.constant(-11 : i32) : i32
    %odd_shape = llvm.mlir.constant(-5 : i32) : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %given = llvm.icmp "ne" %inputs, %null : !llvm.ptr
    llvm.cond_br %given, ^shapes, ^size(%zero, %no_shapes : i64, i32)
  ^shapes:
    %sizes.at = llvm.getelementptr %facts[80] : (!llvm.ptr) -> !llvm.ptr, i8
    %places.at = llvm.getelementptr %facts[88] : (!llvm.ptr) -> !llvm.ptr, i8
    %sizes = llvm.load %sizes.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %places = llvm.load %places.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %count = llvm.add %sizes, %places : i64
    %found = llvm.alloca %count x i64 {alignment = 16 : i64} : (i64) -> !llvm.ptr
    %working = llvm.call @lamina.shapes(%inputs, %found, %outputs) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i64
    %fits = llvm.icmp "sge" %working, %zero : i64
    llvm.cond_br %fits, ^size(%working, %zero32 : i64, i32), ^end(%odd_shape : i32)
  ^size(%places.bytes: i64, %result: i32):
    %no_bytes = llvm.icmp "eq" %bytes, %null : !llvm.ptr
    llvm.cond_br %no_bytes, ^end(%result : i32), ^put
  ^put:
    %wide = llvm.zext %threads : i32 to i64
    %before = llvm.call @places_at(%wide) : (i64) -> i64
    %all = llvm.add %before, %places.bytes : i64
    llvm.store %all, %bytes {alignment = 8 : i64} : i64, !llvm.ptr
    llvm.br ^end(%result : i32)
  ^end(%code: i32):
    llvm.return %code : i32
  }

  // Without shapes there is nothing to run.
  llvm.func @lamina.run(%state: !llvm.ptr, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 attributes {no_unwind} {
    %no_shapes = llvm.mlir.constant(-11 : i32) : i32
    llvm.return %no_shapes : i32
  }

  // One inference on tensors of these shapes: 0, or a code that `text` explains.
  llvm.func @lamina.run_shapes(%state: !llvm.ptr, %bytes: i64, %shapes: !llvm.ptr, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 attributes {no_unwind} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    %no_state = llvm.mlir.constant(-1 : i32) : i32
    %odd_shape = llvm.mlir.constant(-5 : i32) : i32
    %no_shapes = llvm.mlir.constant(-11 : i32) : i32
    %few_bytes = llvm.mlir.constant(-12 : i32) : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %facts = llvm.mlir.addressof @lamina.facts : !llvm.ptr
    %program = llvm.mlir.addressof @main.program : !llvm.ptr
    %arguments = llvm.mlir.addressof @main.arguments : !llvm.ptr
    %wanted = llvm.load %facts {alignment = 8 : i64} : !llvm.ptr -> i64
    %marker = llvm.load %state {alignment = 8 : i64} : !llvm.ptr -> i64
    %started = llvm.icmp "eq" %marker, %wanted : i64
    llvm.cond_br %started, ^given, ^refuse(%no_state : i32)
  ^refuse(%why: i32):
    llvm.return %why : i32
  ^given:
    %some = llvm.icmp "ne" %shapes, %null : !llvm.ptr
    llvm.cond_br %some, ^shapes, ^refuse(%no_shapes : i32)
  ^shapes:
    %found.at = llvm.getelementptr %facts[96] : (!llvm.ptr) -> !llvm.ptr, i8
    %found.offset = llvm.load %found.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %found = llvm.getelementptr %state[%found.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %working = llvm.call @lamina.shapes(%shapes, %found, %null) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i64
    %fits = llvm.icmp "sge" %working, %zero : i64
    llvm.cond_br %fits, ^memory, ^refuse(%odd_shape : i32)
  ^memory:
    %threads.at = llvm.getelementptr %state[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %threads = llvm.load %threads.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %before = llvm.call @places_at(%threads) : (i64) -> i64
    %needed = llvm.add %before, %working : i64
    %enough = llvm.icmp "ule" %needed, %bytes : i64
    llvm.cond_br %enough, ^begin, ^refuse(%few_bytes : i32)
  ^begin:
    %inputs.at = llvm.getelementptr %facts[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %outputs.at = llvm.getelementptr %facts[16] : (!llvm.ptr) -> !llvm.ptr, i8
    %params.at = llvm.getelementptr %facts[24] : (!llvm.ptr) -> !llvm.ptr, i8
    %entries.at = llvm.getelementptr %facts[48] : (!llvm.ptr) -> !llvm.ptr, i8
    %sizes.at = llvm.getelementptr %facts[80] : (!llvm.ptr) -> !llvm.ptr, i8
    %places.at = llvm.getelementptr %facts[88] : (!llvm.ptr) -> !llvm.ptr, i8
    %inputs = llvm.load %inputs.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %outputs = llvm.load %outputs.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %params = llvm.load %params.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %entries = llvm.load %entries.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %sizes = llvm.load %sizes.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %places = llvm.load %places.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %status = llvm.getelementptr %state[64] : (!llvm.ptr) -> !llvm.ptr, i8
    %bases = llvm.getelementptr %state[128] : (!llvm.ptr) -> !llvm.ptr, i8
    %memory = llvm.getelementptr %state[%before] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %pool.at = llvm.getelementptr %state[8] : (!llvm.ptr) -> !llvm.ptr, i8
    %pool = llvm.load %pool.at : !llvm.ptr -> !llvm.ptr
    llvm.store %zero, %status {alignment = 8 : i64} : i64, !llvm.ptr
    %tensors = llvm.sub %inputs, %sizes : i64
    %of_inputs = llvm.add %sizes, %two : i64
    %of_outputs = llvm.add %inputs, %two : i64
    %of_params = llvm.add %of_outputs, %outputs : i64
    %of_places = llvm.add %of_params, %params : i64
    llvm.br ^size(%zero : i64)
  ^size(%n: i64):
    %size.more = llvm.icmp "slt" %n, %sizes : i64
    llvm.cond_br %size.more, ^size.put, ^input(%zero : i64)
  ^size.put:
    %size = llvm.getelementptr %found[%n] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %size.row = llvm.add %n, %two : i64
    %size.base = llvm.getelementptr %bases[%size.row] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %size, %size.base : !llvm.ptr, !llvm.ptr
    %n.next = llvm.add %n, %one : i64
    llvm.br ^size(%n.next : i64)
  ^input(%i: i64):
    %input.more = llvm.icmp "slt" %i, %tensors : i64
    llvm.cond_br %input.more, ^input.put, ^output(%zero : i64)
  ^input.put:
    %input.at = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %input = llvm.load %input.at : !llvm.ptr -> !llvm.ptr
    %input.row = llvm.add %i, %of_inputs : i64
    %input.base = llvm.getelementptr %bases[%input.row] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %input, %input.base : !llvm.ptr, !llvm.ptr
    %i.next = llvm.add %i, %one : i64
    llvm.br ^input(%i.next : i64)
  ^output(%m: i64):
    %output.more = llvm.icmp "slt" %m, %outputs : i64
    llvm.cond_br %output.more, ^output.put, ^place(%zero : i64)
  ^output.put:
    %output.at = llvm.getelementptr %out[%m] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %output = llvm.load %output.at : !llvm.ptr -> !llvm.ptr
    %output.row = llvm.add %m, %of_outputs : i64
    %output.base = llvm.getelementptr %bases[%output.row] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %output, %output.base : !llvm.ptr, !llvm.ptr
    %m.next = llvm.add %m, %one : i64
    llvm.br ^output(%m.next : i64)
  ^place(%p: i64):
    %place.more = llvm.icmp "slt" %p, %places : i64
    llvm.cond_br %place.more, ^place.put, ^compute
  ^place.put:
    %offset.row = llvm.add %p, %sizes : i64
    %offset.at = llvm.getelementptr %found[%offset.row] : (!llvm.ptr, i64) -> !llvm.ptr, i64
    %offset = llvm.load %offset.at {alignment = 8 : i64} : !llvm.ptr -> i64
    %place = llvm.getelementptr %memory[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %place.row = llvm.add %p, %of_places : i64
    %place.base = llvm.getelementptr %bases[%place.row] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    llvm.store %place, %place.base : !llvm.ptr, !llvm.ptr
    %p.next = llvm.add %p, %one : i64
    llvm.br ^place(%p.next : i64)
  ^compute:
    %code = llvm.call @lamina_run(%program, %arguments, %zero, %entries, %bases, %pool) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr) -> i64
    %short = llvm.trunc %code : i64 to i32
    llvm.return %short : i32
  }
}
