// What the run-time has to know of thumbv7em without a system: the processor, and nothing else.

builtin.module attributes {lamina.target = #lamina.target<triple = "thumbv7em-unknown-none-eabihf", cpu = "cortex-m4", features = "+vfp4d16sp", vector_bits = 32, registers = 16, threads = 1>} {
}
