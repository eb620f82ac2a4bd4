// Rounding of f64 to whole numbers for processors that have no instruction for it: LLVM calls these by the names of
// the C library, which a net without a system does not ask for. Signs of zeros are kept, and NaN stays NaN.

builtin.module {

  // The bits of the fraction go, those behind the 52 of a number below 1.
  llvm.func @trunc(%x: f64) -> f64 attributes {no_unwind} {
    %width = llvm.mlir.constant(52 : i64) : i64
    %bias = llvm.mlir.constant(1023 : i64) : i64
    %ones = llvm.mlir.constant(4503599627370495 : i64) : i64
    %exponents = llvm.mlir.constant(2047 : i64) : i64
    %sign = llvm.mlir.constant(-9223372036854775808 : i64) : i64
    %zero = llvm.mlir.constant(0 : i64) : i64
    %minus = llvm.mlir.constant(-1 : i64) : i64
    %bits = llvm.bitcast %x : f64 to i64
    %shifted = llvm.lshr %bits, %width : i64
    %biased = llvm.and %shifted, %exponents : i64
    %exponent = llvm.sub %biased, %bias : i64
    %small = llvm.icmp "slt" %exponent, %zero : i64
    %whole = llvm.icmp "sge" %exponent, %width : i64
    %outside = llvm.or %small, %whole : i1
    %place = llvm.select %outside, %zero, %exponent : i1, i64
    %fraction = llvm.lshr %ones, %place : i64
    %kept = llvm.xor %fraction, %minus : i64
    %part = llvm.select %small, %sign, %kept : i1, i64
    %mask = llvm.select %whole, %minus, %part : i1, i64
    %rest = llvm.and %bits, %mask : i64
    %result = llvm.bitcast %rest : i64 to f64
    llvm.return %result : f64
  }

  llvm.func @floor(%x: f64) -> f64 attributes {no_unwind} {
    %one = llvm.mlir.constant(1.0 : f64) : f64
    %t = llvm.call @trunc(%x) : (f64) -> f64
    %above = llvm.fcmp "ogt" %t, %x : f64
    %less = llvm.fsub %t, %one : f64
    %result = llvm.select %above, %less, %t : i1, f64
    llvm.return %result : f64
  }

  llvm.func @ceil(%x: f64) -> f64 attributes {no_unwind} {
    %one = llvm.mlir.constant(1.0 : f64) : f64
    %t = llvm.call @trunc(%x) : (f64) -> f64
    %below = llvm.fcmp "olt" %t, %x : f64
    %more = llvm.fadd %t, %one : f64
    %result = llvm.select %below, %more, %t : i1, f64
    llvm.return %result : f64
  }

  // To the nearest, and from the middle away from zero.
  llvm.func @round(%x: f64) -> f64 attributes {no_unwind} {
    %one = llvm.mlir.constant(1.0 : f64) : f64
    %half = llvm.mlir.constant(0.5 : f64) : f64
    %t = llvm.call @trunc(%x) : (f64) -> f64
    %rest = llvm.fsub %x, %t : f64
    %size = llvm.intr.fabs(%rest) : (f64) -> f64
    %far = llvm.fcmp "oge" %size, %half : f64
    %step = llvm.intr.copysign(%one, %x) : (f64, f64) -> f64
    %next = llvm.fadd %t, %step : f64
    %result = llvm.select %far, %next, %t : i1, f64
    llvm.return %result : f64
  }

  // To the nearest, and from the middle to the even one: adding 2**52 leaves no place for a fraction.
  llvm.func @roundeven(%x: f64) -> f64 attributes {no_unwind} {
    %large = llvm.mlir.constant(4503599627370496.0 : f64) : f64
    %size = llvm.intr.fabs(%x) : (f64) -> f64
    %fits = llvm.fcmp "olt" %size, %large : f64
    %sum = llvm.fadd %size, %large : f64
    %near = llvm.fsub %sum, %large : f64
    %signed = llvm.intr.copysign(%near, %x) : (f64, f64) -> f64
    %result = llvm.select %fits, %signed, %x : i1, f64
    llvm.return %result : f64
  }

  llvm.func @rint(%x: f64) -> f64 attributes {no_unwind} {
    %result = llvm.call @roundeven(%x) : (f64) -> f64
    llvm.return %result : f64
  }

  llvm.func @nearbyint(%x: f64) -> f64 attributes {no_unwind} {
    %result = llvm.call @roundeven(%x) : (f64) -> f64
    llvm.return %result : f64
  }
}
