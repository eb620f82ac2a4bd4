// What the run-time has to know of WebAssembly: the target. There is one thread, and no system to call.

builtin.module attributes {lamina.target = #lamina.target<triple = "wasm32-unknown-unknown", cpu = "mvp", features = "+bulk-memory,+mutable-globals,+nontrapping-fptoint,+sign-ext,+simd128", vector_bits = 128, registers = 16, threads = 1>} {
}
