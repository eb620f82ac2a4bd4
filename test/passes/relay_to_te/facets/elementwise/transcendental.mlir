// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @acos(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.acos %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_acos(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %acos = te.compute "acos" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "acos"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.acos %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %acos : tensor<5x3xbf16>

func.func @acosh(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.acosh %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_acosh(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %acosh = te.compute "acosh" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "acosh"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.acosh %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %acosh : tensor<5x3xbf16>

func.func @asin(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.asin %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_asin(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %asin = te.compute "asin" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "asin"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.asin %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %asin : tensor<5x3xbf16>

func.func @asinh(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.asinh %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_asinh(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %asinh = te.compute "asinh" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "asinh"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.asinh %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %asinh : tensor<5x3xbf16>

func.func @atan(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.atan %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_atan(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %atan = te.compute "atan" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "atan"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.atan %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %atan : tensor<5x3xbf16>

func.func @atanh(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.atanh %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_atanh(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %atanh = te.compute "atanh" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "atanh"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.atanh %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %atanh : tensor<5x3xbf16>

func.func @cos(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.cos %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_cos(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %cos = te.compute "cos" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "cos"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.cos %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %cos : tensor<5x3xbf16>

func.func @cosh(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.cosh %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_cosh(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %cosh = te.compute "cosh" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "cosh"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.cosh %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %cosh : tensor<5x3xbf16>

func.func @erf(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.erf %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_erf(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %erf = te.compute "erf" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "erf"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.erf %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %erf : tensor<5x3xbf16>

func.func @exp(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.exp %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_exp(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %exp = te.compute "exp" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "exp"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.exp %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %exp : tensor<5x3xbf16>

func.func @log(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.log %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_log(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %log = te.compute "log" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "log"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.log %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %log : tensor<5x3xbf16>

func.func @log10(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.log10 %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_log10(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %log10 = te.compute "log10" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "log10"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.log10 %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %log10 : tensor<5x3xbf16>

func.func @log1p(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.log1p %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_log1p(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %log1p = te.compute "log1p" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "log1p"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.log1p %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %log1p : tensor<5x3xbf16>

func.func @log2(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.log2 %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_log2(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %log2 = te.compute "log2" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "log2"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.log2 %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %log2 : tensor<5x3xbf16>

func.func @rsqrt(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.rsqrt %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_rsqrt(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %rsqrt = te.compute "rsqrt" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "rsqrt"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.rsqrt %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %rsqrt : tensor<5x3xbf16>

func.func @sigmoid(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.sigmoid %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_sigmoid(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %sigmoid = te.compute "sigmoid" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "sigmoid"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = arith.negf %{{[0-9]+}} : bf16
// CHECK-NEXT: %{{[0-9]+}} = math.exp %{{[0-9]+}} : bf16
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 1.000000e+00 : bf16
// CHECK-NEXT: %{{[0-9]+}} = arith.addf %{{[0-9]+}}, %{{[0-9]+}} : bf16
// CHECK-NEXT: %{{[0-9]+}} = arith.divf %{{[0-9]+}}, %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sigmoid : tensor<5x3xbf16>

func.func @sin(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.sin %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_sin(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %sin = te.compute "sin" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "sin"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.sin %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sin : tensor<5x3xbf16>

func.func @sinh(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.sinh %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_sinh(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %sinh = te.compute "sinh" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "sinh"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.sinh %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sinh : tensor<5x3xbf16>

func.func @sqrt(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.sqrt %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_sqrt(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %sqrt = te.compute "sqrt" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "sqrt"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.sqrt %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %sqrt : tensor<5x3xbf16>

func.func @tan(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.tan %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_tan(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %tan = te.compute "tan" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "tan"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.tan %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %tan : tensor<5x3xbf16>

func.func @tanh(%0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
  %1 = relay.tanh %0 : tensor<5x3xbf16>
  func.return %1 : tensor<5x3xbf16>
}
// CHECK:      te.func @fused_tanh(%p0: tensor<5x3xbf16>) -> tensor<5x3xbf16> {
// CHECK-NEXT: %tanh = te.compute "tanh" [5, 3] (%i0, %i1) : tensor<5x3xbf16> attributes {tag = "tanh"} {
// CHECK-NEXT: %{{[0-9]+}} = te.read %p0[%i0, %i1] : tensor<5x3xbf16>
// CHECK-NEXT: %{{[0-9]+}} = math.tanh %{{[0-9]+}} : bf16
// CHECK-NEXT: te.yield %{{[0-9]+}} : bf16
// CHECK-NEXT: }
// CHECK-NEXT: te.return %tanh : tensor<5x3xbf16>
