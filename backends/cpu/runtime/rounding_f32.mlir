// Rounding of f32 to whole numbers for processors that have no instruction for it: LLVM calls these by the names of
// the C library, which a net without a system does not ask for. Signs of zeros are kept, and NaN stays NaN.

builtin.module {

  // The bits of the fraction go, those behind the 23 of a number below 1.
  llvm.func @truncf(%x: f32) -> f32 attributes {no_unwind} {
    %width = llvm.mlir.constant(23 : i32) : i32
    %bias = llvm.mlir.constant(127 : i32) : i32
    %ones = llvm.mlir.constant(8388607 : i32) : i32
    %exponents = llvm.mlir.constant(255 : i32) : i32
    %sign = llvm.mlir.constant(-2147483648 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %minus = llvm.mlir.constant(-1 : i32) : i32
    %bits = llvm.bitcast %x : f32 to i32
    %shifted = llvm.lshr %bits, %width : i32
    %biased = llvm.and %shifted, %exponents : i32
    %exponent = llvm.sub %biased, %bias : i32
    %small = llvm.icmp "slt" %exponent, %zero : i32
    %whole = llvm.icmp "sge" %exponent, %width : i32
    %outside = llvm.or %small, %whole : i1
    %place = llvm.select %outside, %zero, %exponent : i1, i32
    %fraction = llvm.lshr %ones, %place : i32
    %kept = llvm.xor %fraction, %minus : i32
    %part = llvm.select %small, %sign, %kept : i1, i32
    %mask = llvm.select %whole, %minus, %part : i1, i32
    %rest = llvm.and %bits, %mask : i32
    %result = llvm.bitcast %rest : i32 to f32
    llvm.return %result : f32
  }

  llvm.func @floorf(%x: f32) -> f32 attributes {no_unwind} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %t = llvm.call @truncf(%x) : (f32) -> f32
    %above = llvm.fcmp "ogt" %t, %x : f32
    %less = llvm.fsub %t, %one : f32
    %result = llvm.select %above, %less, %t : i1, f32
    llvm.return %result : f32
  }

  llvm.func @ceilf(%x: f32) -> f32 attributes {no_unwind} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %t = llvm.call @truncf(%x) : (f32) -> f32
    %below = llvm.fcmp "olt" %t, %x : f32
    %more = llvm.fadd %t, %one : f32
    %result = llvm.select %below, %more, %t : i1, f32
    llvm.return %result : f32
  }

  // To the nearest, and from the middle away from zero.
  llvm.func @roundf(%x: f32) -> f32 attributes {no_unwind} {
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %half = llvm.mlir.constant(0.5 : f32) : f32
    %t = llvm.call @truncf(%x) : (f32) -> f32
    %rest = llvm.fsub %x, %t : f32
    %size = llvm.intr.fabs(%rest) : (f32) -> f32
    %far = llvm.fcmp "oge" %size, %half : f32
    %step = llvm.intr.copysign(%one, %x) : (f32, f32) -> f32
    %next = llvm.fadd %t, %step : f32
    %result = llvm.select %far, %next, %t : i1, f32
    llvm.return %result : f32
  }

  // To the nearest, and from the middle to the even one: adding 2**23 leaves no place for a fraction.
  llvm.func @roundevenf(%x: f32) -> f32 attributes {no_unwind} {
    %large = llvm.mlir.constant(8388608.0 : f32) : f32
    %size = llvm.intr.fabs(%x) : (f32) -> f32
    %fits = llvm.fcmp "olt" %size, %large : f32
    %sum = llvm.fadd %size, %large : f32
    %near = llvm.fsub %sum, %large : f32
    %signed = llvm.intr.copysign(%near, %x) : (f32, f32) -> f32
    %result = llvm.select %fits, %signed, %x : i1, f32
    llvm.return %result : f32
  }

  llvm.func @rintf(%x: f32) -> f32 attributes {no_unwind} {
    %result = llvm.call @roundevenf(%x) : (f32) -> f32
    llvm.return %result : f32
  }

  llvm.func @nearbyintf(%x: f32) -> f32 attributes {no_unwind} {
    %result = llvm.call @roundevenf(%x) : (f32) -> f32
    llvm.return %result : f32
  }
}
