// RUN: lamina compile --print-pipeline --target c | filecheck %s
// Those of the CPU, but for vectors, what is written out, multiply-adds and threads; the tir level is the last.

// CHECK:     cpu-schedule,te-to-tir,tir-lower-blocks
// CHECK-NOT: tir-vectorize-loop
// CHECK:     tir-expand-math,tir-merge-selects,tir-rescale-integers,tir-plan-memory{{$}}
