// Conversions to and from 16-bit floats for processors that have no instruction for them. LLVM calls these by
// compiler-rt's names, and a process that no C compiler linked does not have them. Rounding is to nearest, ties to even.

builtin.module {

  llvm.func @__truncsfbf2(%x: f32) -> bf16 attributes {no_unwind} {
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %half = llvm.mlir.constant(32767 : i32) : i32
    %quiet = llvm.mlir.constant(64 : i32) : i32
    %bits = llvm.bitcast %x : f32 to i32
    %high = llvm.lshr %bits, %c16 : i32
    %odd = llvm.and %high, %c1 : i32
    %up = llvm.add %bits, %half : i32
    %even = llvm.add %up, %odd : i32
    %rounded = llvm.lshr %even, %c16 : i32
    %nan = llvm.fcmp "uno" %x, %x : f32
    %nan.bits = llvm.or %high, %quiet : i32
    %chosen = llvm.select %nan, %nan.bits, %rounded : i1, i32
    %short = llvm.trunc %chosen : i32 to i16
    %result = llvm.bitcast %short : i16 to bf16
    llvm.return %result : bf16
  }

  llvm.func @__extendhfsf2(%x: f16) -> f32 attributes {no_unwind} {
    %c13 = llvm.mlir.constant(13 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %sign.mask = llvm.mlir.constant(32768 : i32) : i32
    %rest.mask = llvm.mlir.constant(32767 : i32) : i32
    %exponent.mask = llvm.mlir.constant(260046848 : i32) : i32   // 0x7c00 << 13
    %bias = llvm.mlir.constant(939524096 : i32) : i32            // (127 - 15) << 23
    %one = llvm.mlir.constant(8388608 : i32) : i32               // 1 << 23
    %magic = llvm.mlir.constant(947912704 : i32) : i32           // 113 << 23
    %infinity = llvm.mlir.constant(2139095040 : i32) : i32
    %quiet = llvm.mlir.constant(4194304 : i32) : i32
    %short = llvm.bitcast %x : f16 to i16
    %bits = llvm.zext %short : i16 to i32
    %sign.low = llvm.and %bits, %sign.mask : i32
    %sign = llvm.shl %sign.low, %c16 : i32
    %rest = llvm.and %bits, %rest.mask : i32
    %wide = llvm.shl %rest, %c13 : i32
    %exponent = llvm.and %wide, %exponent.mask : i32
    %normal = llvm.add %wide, %bias : i32
    // infinity and NaN: the largest exponent of f32; NaN quiet
    %special = llvm.add %normal, %bias : i32
    %is.special = llvm.icmp "eq" %exponent, %exponent.mask : i32
    %quieted = llvm.or %special, %quiet : i32
    %is.nan = llvm.icmp "ugt" %special, %infinity : i32
    %special.bits = llvm.select %is.nan, %quieted, %special : i1, i32
    // subnormal: the float unit normalizes (1 + m) - 1
    %biased = llvm.add %normal, %one : i32
    %biased.float = llvm.bitcast %biased : i32 to f32
    %magic.float = llvm.bitcast %magic : i32 to f32
    %subnormal = llvm.fsub %biased.float, %magic.float : f32
    %subnormal.bits = llvm.bitcast %subnormal : f32 to i32
    %is.subnormal = llvm.icmp "eq" %exponent, %zero : i32
    %small = llvm.select %is.subnormal, %subnormal.bits, %normal : i1, i32
    %chosen = llvm.select %is.special, %special.bits, %small : i1, i32
    %signed = llvm.or %chosen, %sign : i32
    %result = llvm.bitcast %signed : i32 to f32
    llvm.return %result : f32
  }

  llvm.func @__truncsfhf2(%x: f32) -> f16 attributes {no_unwind} {
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c13 = llvm.mlir.constant(13 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %sign.mask = llvm.mlir.constant(-2147483648 : i32) : i32
    %rest.mask = llvm.mlir.constant(2147483647 : i32) : i32
    %too.large = llvm.mlir.constant(1199570944 : i32) : i32      // (127 + 16) << 23
    %infinity = llvm.mlir.constant(2139095040 : i32) : i32
    %first.normal = llvm.mlir.constant(947912704 : i32) : i32    // 113 << 23
    %magic = llvm.mlir.constant(1056964608 : i32) : i32          // (127 - 15 + 23 - 10 + 1) << 23
    %rebias = llvm.mlir.constant(-939520001 : i32) : i32         // ((15 - 127) << 23) + 0xfff
    %half.infinity = llvm.mlir.constant(31744 : i32) : i32
    %half.nan = llvm.mlir.constant(32256 : i32) : i32
    %payload.mask = llvm.mlir.constant(511 : i32) : i32
    %bits = llvm.bitcast %x : f32 to i32
    %sign = llvm.and %bits, %sign.mask : i32
    %rest = llvm.and %bits, %rest.mask : i32
    // infinity, NaN and what rounds to infinity
    %is.nan = llvm.icmp "ugt" %rest, %infinity : i32
    %payload.high = llvm.lshr %rest, %c13 : i32
    %payload = llvm.and %payload.high, %payload.mask : i32
    %nan = llvm.or %payload, %half.nan : i32
    %large = llvm.select %is.nan, %nan, %half.infinity : i1, i32
    %is.large = llvm.icmp "uge" %rest, %too.large : i32
    // subnormal: the float unit rounds at the right bit
    %rest.float = llvm.bitcast %rest : i32 to f32
    %magic.float = llvm.bitcast %magic : i32 to f32
    %shifted = llvm.fadd %rest.float, %magic.float : f32
    %shifted.bits = llvm.bitcast %shifted : f32 to i32
    %subnormal = llvm.sub %shifted.bits, %magic : i32
    %is.subnormal = llvm.icmp "ult" %rest, %first.normal : i32
    // normal
    %odd = llvm.and %payload.high, %c1 : i32
    %up = llvm.add %rest, %rebias : i32
    %even = llvm.add %up, %odd : i32
    %normal = llvm.lshr %even, %c13 : i32
    %small = llvm.select %is.subnormal, %subnormal, %normal : i1, i32
    %chosen = llvm.select %is.large, %large, %small : i1, i32
    %sign.low = llvm.lshr %sign, %c16 : i32
    %signed = llvm.or %chosen, %sign.low : i32
    %short = llvm.trunc %signed : i32 to i16
    %result = llvm.bitcast %short : i16 to f16
    llvm.return %result : f16
  }

  // f64 to f32 with the last bit set where digits were lost, so that a second rounding sees that they were there.
  llvm.func internal @to_odd(%x: f64) -> f32 attributes {no_unwind} {
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %minus = llvm.mlir.constant(-1 : i32) : i32
    %near = llvm.fptrunc %x : f64 to f32
    %back = llvm.fpext %near : f32 to f64
    %bits = llvm.bitcast %near : f32 to i32
    %last = llvm.and %bits, %c1 : i32
    %is.even = llvm.icmp "eq" %last, %zero : i32
    %lost = llvm.fcmp "one" %back, %x : f64
    %size = llvm.intr.fabs(%x) : (f64) -> f64
    %back.size = llvm.intr.fabs(%back) : (f64) -> f64
    %below = llvm.fcmp "olt" %back.size, %size : f64
    %step = llvm.select %below, %c1, %minus : i1, i32
    %other = llvm.add %bits, %step : i32
    %change = llvm.and %is.even, %lost : i1
    %chosen = llvm.select %change, %other, %bits : i1, i32
    %result = llvm.bitcast %chosen : i32 to f32
    llvm.return %result : f32
  }

  llvm.func @__truncdfhf2(%x: f64) -> f16 attributes {no_unwind} {
    %odd = llvm.call @to_odd(%x) : (f64) -> f32
    %result = llvm.call @__truncsfhf2(%odd) : (f32) -> f16
    llvm.return %result : f16
  }

  llvm.func @__truncdfbf2(%x: f64) -> bf16 attributes {no_unwind} {
    %odd = llvm.call @to_odd(%x) : (f64) -> f32
    %result = llvm.call @__truncsfbf2(%odd) : (f32) -> bf16
    llvm.return %result : bf16
  }
}
