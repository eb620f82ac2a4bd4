/* Start-up of a Cortex-M, and what the example asks of whoever holds the debugger (semihosting, Arm IHI 0071). */

#include "board.h"

extern uint32_t stack_top[], data_from[], data_start[], data_end[], bss_start[], bss_end[];

void reset(void);
static void fault(void);

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top, reset, fault, fault, fault, fault, fault, fault,
};

static intptr_t ask(intptr_t operation, const void *block) {
  register intptr_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void end(int code) {
  const uintptr_t block[2] = {0x20026, (uintptr_t)code}; /* SYS_EXIT_EXTENDED, ADP_Stopped_ApplicationExit */
  for (;;) ask(0x20, block);
}

static void fault(void) {
  print("error: a fault of the processor\n");
  end(2);
}

void reset(void) {
  *(volatile uint32_t *)0xe000ed88 |= 0xf << 20; /* CPACR: the unit for floats and vectors is off at reset */
  __asm__ volatile("dsb\n isb" ::: "memory");
  for (uint32_t *to = data_start, *from = data_from; to < data_end;) *to++ = *from++;
  for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
  end(main());
}

/* The system timer counts down 24 bits at the rate of the processor. */
uint32_t ticks_left(void) {
  volatile uint32_t *timer = (uint32_t *)0xe000e010;
  if (!(timer[0] & 1)) timer[1] = 0xffffff, timer[2] = 0, timer[0] = 5;
  return timer[2];
}

void print(const char *text) { ask(0x04, text); }

void print_number(uint64_t number) {
  char digits[24], *at = digits + sizeof digits - 1;
  *at = 0;
  uint32_t rest = (uint32_t)number;
  do *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  print(at);
}

static uint32_t length(const char *text) {
  uint32_t n = 0;
  while (text[n]) n++;
  return n;
}

intptr_t open_file(const char *name, int writes) {
  const uintptr_t block[3] = {(uintptr_t)name, writes ? 5 : 1, length(name)}; /* "wb" or "rb" */
  return ask(0x01, block);
}

int read_file(intptr_t file, void *to, uint32_t bytes) {
  const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)to, bytes};
  return ask(0x06, block) == 0;
}

int write_file(intptr_t file, const void *from, uint32_t bytes) {
  const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)from, bytes};
  return ask(0x05, block) == 0;
}

void close_file(intptr_t file) { ask(0x02, &file); }

/* What a compiler calls for assignments of records and the like; a C library has faster ones. */

void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t n = 0; n < bytes; n++) ((volatile char *)to)[n] = ((const char *)from)[n];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  for (size_t n = 0; n < bytes; n++) ((volatile char *)to)[n] = (char)value;
  return to;
}
