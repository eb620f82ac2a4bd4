// RUN: not opt-tool %s -p canonicalise 2>&1 | filecheck %s --check-prefix=CHECK-PASS
// RUN: not opt-tool %s -p 'apply-pdl{pdl-fil=x}' 2>&1 | filecheck %s --check-prefix=CHECK-OPTION
// RUN: not opt-tool %s -p 'test-specialised-constant-folding{a' 2>&1 | filecheck %s --check-prefix=CHECK-OPEN
// RUN: not opt-tool %s -p 'cse,,cse' 2>&1 | filecheck %s --check-prefix=CHECK-COMMA
// RUN: not opt-tool %s -p 'scf-for-loop-unroll{factor=x}' 2>&1 | filecheck %s --check-prefix=CHECK-TYPE
// RUN: not opt-tool %s --print-ir-aftr-all 2>&1 | filecheck %s --check-prefix=CHECK-FLAG
// CHECK-PASS: error: unknown pass 'canonicalise'; did you mean 'canonicalize'
// CHECK-OPTION: error: pass 'apply-pdl' has no option 'pdl-fil'; did you mean 'pdl_file'?
// CHECK-OPEN: error: expected an option or '}', found 'the end'
// CHECK-COMMA: error: expected the name of a pass, found ',' at column 5
// CHECK-TYPE: error: pass 'scf-for-loop-unroll' has no option 'factor'
// CHECK-FLAG: error: unknown option '--print-ir-aftr-all'; did you mean '--print-ir-after-all'
