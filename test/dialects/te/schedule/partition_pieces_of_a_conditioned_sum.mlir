// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Of a sum of which a part at a time is computed, conditions say where the elements end: its pieces are as many terms.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<1xf32> {
  %c = te.compute "C" [1] sum [%n] (%i, %k) : tensor<1xf32> {
    %a = te.read %A[%k] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<1xf32>
}
te.schedule @f {
  %i, %k = te.loops "C" [2]
  %ko, %ki = te.split %k [-1, 16]
  %p0, %p1, %p2 = te.rfactor "C" at %ko axis 0 [3]
  %j, %jo = te.loops "C" [2]
  %q0, %q1, %q2 = te.compute_at "C.rf" at %jo [3]
  %q2o, %q2i = te.split %q2 [-1, 4]
  te.partition %q2o tails [1]
}

// CHECK:      tir.for %kio = 0 to 4 min [%ko * -4 + %k * -4 + %n floordiv 4] reduction "C.rf.k.1.0" {
// CHECK-NEXT:   tir.for %kii = 0 to 4 reduction "C.rf.k.1.1" {
// CHECK:      tir.for %kio = 0 to 3 min [%n mod 4, {{.*}}] reduction "C.rf.k.1.0.tail" {
// CHECK-NEXT:   tir.for %kii = 0 to 1 reduction "C.rf.k.1.1.tail" {
