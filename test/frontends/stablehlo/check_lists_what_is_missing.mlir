// RUN: not lamina check %S/inputs/missing.stablehlo.mlir | filecheck %s
// RUN: lamina check %S/inputs/newton.stablehlo.mlir | filecheck %s --check-prefix=ALL

// CHECK:      missing.stablehlo.mlir: 2 operators are not supported
// CHECK-NEXT:   stablehlo.fft x1: {{.*}}missing.stablehlo.mlir:3:10
// CHECK:        stablehlo.cholesky x2: {{.*}}missing.stablehlo.mlir:5:10{{.*}}, {{.*}}missing.stablehlo.mlir:6:10{{.*}} (it is LAPACK's work)
// ALL: all {{[0-9]+}} nodes are supported
