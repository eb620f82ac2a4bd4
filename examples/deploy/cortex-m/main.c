/* Runs an exported net on a Cortex-M without a system, frame after frame of a file, and says what memory that took.

     lamina compile keywords.tflite -o keywords.a --target cortex-m4
     arm-none-eabi-gcc -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os -ffreestanding -nostdlib \
         -I <lamina>/runtime/include -DNET=lamina_keywords main.c board.c keywords.a -lgcc -T mps2.ld -o keywords.elf
     head -c 4900 /dev/urandom > in.raw
     qemu-system-arm -M mps2-an386 -nographic -semihosting-config enable=on,target=native -kernel keywords.elf

   For a Cortex-M7 give -mfpu=fpv5-sp-d16 and the machine mps2-an500, for a Cortex-M55 -mfpu=auto, -T mps3.ld and
   mps3-an547.

   It reads frames from in.raw, each with all inputs one behind the other, until the file ends, and writes all outputs
   of each to out.raw. -DKEPT=n says that the last n outputs of a frame are the last n inputs of the next one, which then
   come from the first frame alone. Memory is what the linker script leaves between variables and stack. */

#include "board.h"
#include "lamina.h"

#ifndef NET
#define NET lamina_keywords
#endif
#ifndef KEPT
#define KEPT 0
#endif
#define PAINT 0x5a5a5a5au

extern const lamina_net NET;
extern uint64_t room_start[], stack_limit[];
extern char code_bytes[], constant_bytes[], weight_bytes[]; /* sizes in the linker script */

static char *room;

static void *taken(uint64_t bytes, uint32_t alignment) {
  char *at = (char *)(((uintptr_t)room + alignment - 1) & ~(uintptr_t)(alignment - 1));
  if (bytes > (uint64_t)((char *)stack_limit - at)) {
    print("error: no memory\n");
    end(1);
  }
  room = at + bytes;
  return at;
}

static void say(const char *what, uint64_t bytes) {
  print(what);
  print(" ");
  print_number(bytes);
  print("\n");
}

/* The greatest element of the first output of 8 bits, or of 32 with a sign or in floats. */
static uint32_t class_of(const lamina_port *port, const void *tensor) {
  const uint32_t count = (uint32_t)port->bytes * 8 / port->bits;
  uint32_t best = 0;
  for (uint32_t n = 1; n < count; n++) {
    if (port->code == 2   ? ((const float *)tensor)[n] > ((const float *)tensor)[best]
        : port->bits > 8  ? ((const int32_t *)tensor)[n] > ((const int32_t *)tensor)[best]
        : port->code == 1 ? ((const uint8_t *)tensor)[n] > ((const uint8_t *)tensor)[best]
                          : ((const int8_t *)tensor)[n] > ((const int8_t *)tensor)[best])
      best = n;
  }
  return best;
}

/* The stack is painted up to here, a run leaves its own in it. */
static __attribute__((noinline)) uint32_t *paint(void) {
  uint32_t *here = (uint32_t *)__builtin_frame_address(0) - 16;
  for (volatile uint32_t *at = (uint32_t *)stack_limit; at < here; at++) *at = PAINT;
  return here;
}

static uint32_t painted_over(const uint32_t *top) {
  const uint32_t *at = (const uint32_t *)stack_limit;
  while (at < top && *at == PAINT) at++;
  return (uint32_t)((const char *)top - (const char *)at);
}

int main(void) {
  const lamina_net *net = &NET;
  uint64_t state_bytes = 0, tensor_bytes = 0;
  if (lamina_check(net)) end(1);
  room = (char *)room_start;
  net->sizes(NULL, 1, NULL, &state_bytes);
  void *state = taken(state_bytes, net->alignment);
  void **in = taken(net->n_inputs * sizeof *in, 8), **out = taken(net->n_outputs * sizeof *out, 8);
  for (uint32_t n = 0; n < net->n_inputs; n++) in[n] = taken(net->inputs[n].bytes, 16);
  for (uint32_t n = 0; n < net->n_outputs; n++) out[n] = taken(net->outputs[n].bytes, 16);
  for (uint32_t n = 0; n < net->n_inputs; n++) tensor_bytes += net->inputs[n].bytes;
  for (uint32_t n = 0; n < net->n_outputs; n++) tensor_bytes += net->outputs[n].bytes;

  const intptr_t source = open_file("in.raw", 0), target = open_file("out.raw", 1);
  if (source < 0 || target < 0) {
    print("error: cannot open in.raw or out.raw\n");
    return 1;
  }
  uint32_t stack = 0, frames = 0, ticks = 0;
  int32_t code = net->start(state, NULL, 1, 0);
  for (; !code; frames++) {
    const uint32_t given = net->n_inputs - (frames ? KEPT : 0);
    int more = 1;
    for (uint32_t n = 0; n < given && more; n++) more = read_file(source, in[n], (uint32_t)net->inputs[n].bytes);
    if (!more) break;
    const uint32_t *top = paint();
    const uint32_t start = ticks_left();
    code = net->run(state, (const void *const *)in, out);
    ticks = (start - ticks_left()) & 0xffffff;
    const uint32_t used = painted_over(top);
    stack = used > stack ? used : stack;
    for (uint32_t n = 0; n < net->n_outputs; n++) write_file(target, out[n], (uint32_t)net->outputs[n].bytes);
    for (uint32_t n = 1; n <= KEPT; n++) {
      void *kept = out[net->n_outputs - n];
      out[net->n_outputs - n] = in[net->n_inputs - n];
      in[net->n_inputs - n] = kept;
    }
  }
  close_file(target);
  if (code) {
    print("error: ");
    print(net->text(code));
    print("\n");
    return 1;
  }
  if (frames) say("class", class_of(&net->outputs[0], out[0]));
  say("frames", frames);
  say("ticks", ticks);
  say("code", (uintptr_t)code_bytes);
  say("constants", (uintptr_t)constant_bytes);
  say("weights", (uintptr_t)weight_bytes);
  say("state", state_bytes);
  say("stack", stack);
  say("tensors", tensor_bytes);
  return 0;
}
