// RUN: opt-tool %s --print-debuginfo --verify-roundtrip | filecheck %s
// Aliases of locations may be used before they are defined; of a range the beginning is kept.

// CHECK: func.func @f(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc("f.py":7:11))
func.func @f(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc(#loc3)) -> tensor<4xf32> {
  // CHECK-NEXT: arith.addf %x, %y : tensor<4xf32> loc(callsite("f.py":7:11 at "f.py":8:1))
  %0 = arith.addf %x, %y : tensor<4xf32> loc(#loc5)
  // CHECK-NEXT: func.return %0 : tensor<4xf32> loc(fused<"why">["a"("f.py":7:11), "f.py":8:1])
  return %0 : tensor<4xf32> loc(#loc6)
}
#loc3 = loc("f.py":7:11 to :32)
#loc4 = loc("f.py":8:1 to 9:32)
#loc5 = loc(callsite(#loc3 at #loc4))
#loc6 = loc(fused<"why">["a"(#loc3), #loc4])
