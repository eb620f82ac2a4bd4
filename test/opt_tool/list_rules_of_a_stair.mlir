// RUN: opt-tool --list-rules relay-to-te | filecheck %s
// RUN: opt-tool --list-rules te-to-tir | filecheck %s --check-prefix=TE
// RUN: opt-tool --list-rules tir-to-llvm | filecheck %s --check-prefix=TIR
// RUN: opt-tool --list-rules nvptx-tir-to-llvm | filecheck %s --check-prefix=DEVICE
// RUN: opt-tool --list-rules relay-to-te --load %S/inputs/cubes.py | filecheck %s --check-prefix=LOADED
// A stair has one rule for each op of a place: its file and line, and what it does. Facets and primitives are rules.

// CHECK:      in @main outside of a primitive function:
// CHECK:        relay.call {{ *}}relay_to_te.py:{{[0-9]+}}  te.call of the te.func that the primitive function becomes
// CHECK:      in a primitive function:
// CHECK:        relay.abs {{ *}}unary.py:{{[0-9]+}} {{ *}}te_element: y = |x|
// CHECK:        relay.nn.conv2d {{ *}}conv.py:{{[0-9]+}} {{ *}}te_compute: 2-D convolution
// CHECK:        relay.qnn.requantize {{ *}}quantization.py:{{[0-9]+}} {{ *}}decompose:

// TE:         in @main:
// TE-NEXT:      func.return  calls.py:{{[0-9]+}}
// TE-NEXT:      te.call      calls.py:{{[0-9]+}}
// TE-NEXT:      te.param     calls.py:{{[0-9]+}}
// TE:         in a te.compute:
// TE:           arith.addf {{ *}}rules.py:{{[0-9]+}} {{ *}}The same op, on the values of the body.
// TE:           te.read {{ *}}elements.py:{{[0-9]+}} {{ *}}tir.load from the tensor's place
// TE:         in a te.schedule:
// TE:           te.split {{ *}}split.py:{{[0-9]+}} {{ *}}One loop as several
// TE:         in a te.func:
// TE-NEXT:      te.compute  computes.py:{{[0-9]+}}
// TE-NEXT:      te.extern   externs.py:{{[0-9]+}}
// TE-NEXT:      te.return   te_to_tir.py:{{[0-9]+}}
// TE-NEXT:      te.scan     scans.py:{{[0-9]+}}
// TE:         in a module:
// TE:           te.func {{ *}}te_to_tir.py:{{[0-9]+}}

// TIR:        in @main:
// TIR:          tir.call {{ *}}program.py:{{[0-9]+}}  A row for each phase of the kernel
// TIR:        in a kernel:
// TIR-NEXT:     arith.addf {{ *}}arithmetic.py:{{[0-9]+}} {{ *}}llvm.fadd
// TIR:          math.erf {{ *}}arithmetic.py:{{[0-9]+}} {{ *}}The C library's function, lane by lane.
// TIR:          tir.for {{ *}}loop_kinds.py:{{[0-9]+}} {{ *}}A block that branches to itself
// TIR:        in a module:
// TIR:          tir.func {{ *}}tir_to_llvm.py:{{[0-9]+}}

// DEVICE:     in a kernel of the device:
// DEVICE-NEXT:  arith.addf {{ *}}arithmetic.py:{{[0-9]+}} {{ *}}llvm.fadd
// DEVICE:       tir.barrier {{ *}}machine.py:{{[0-9]+}} {{ *}}The intrinsic of its scope.
// DEVICE:       tir.for {{ *}}lower.py:{{[0-9]+}} {{ *}}A loop of threads is its body

// LOADED:     cubes.
