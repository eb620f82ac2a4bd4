// RUN: not opt-tool %s -p canonicalise 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not opt-tool %s -p 'apply-pdl{pdl-fil=x}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not opt-tool %s -p 'test-specialised-constant-folding{a' 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not opt-tool %s -p 'cse,,cse' 2>&1 | filecheck %s --check-prefix=COMMA
// RUN: not opt-tool %s -p 'scf-for-loop-unroll{factor=x}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not opt-tool %s --print-ir-aftr-all 2>&1 | filecheck %s --check-prefix=FLAG
// PASS: error: unknown pass 'canonicalise'; did you mean 'canonicalize'
// OPTION: error: pass 'apply-pdl' has no option 'pdl-fil'; did you mean 'pdl_file'?
// OPEN: error: expected an option or '}', found 'the end'
// COMMA: error: expected the name of a pass, found ',' at column 5
// TYPE: error: pass 'scf-for-loop-unroll' has no option 'factor'
// FLAG: error: unknown option '--print-ir-aftr-all'; did you mean '--print-ir-after-all'
