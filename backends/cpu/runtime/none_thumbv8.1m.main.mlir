// What the run-time has to know of thumbv8.1m.main without a system: the processor, and nothing else.

builtin.module attributes {lamina.target = #lamina.target<triple = "thumbv8.1m.main-unknown-none-eabihf", cpu = "cortex-m55", features = "+mve.fp", vector_bits = 128, registers = 8, threads = 1>} {
}
