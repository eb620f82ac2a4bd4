/* Runs an exported net on files of raw tensors.

     cc -O2 -I <lamina>/runtime/include run_net.c -o run_net
     ./run_net ./net.so net THREADS REPEATS INPUT... OUTPUT...

   Where the net leaves extents open the shape of an input stands before its file: 1x3x224x224=x.raw, =x.raw for a number.
   It prints the least and the median time of a run in microseconds, and the most memory that it had, in kilobytes. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lamina.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static long most_memory(void) {
  char line[128];
  long size = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "VmHWM:", 6)) size = atol(line + 6);
  if (file) fclose(file);
  return size;
}

/* A size as `aligned_alloc` takes it. */
static uint64_t whole(const lamina_net *net, uint64_t bytes) {
  return (bytes + net->alignment - 1) / net->alignment * net->alignment;
}

/* Read a shape, 2x7x64, of so many extents; what stands behind the `=`, or null. */
static const char *read_shape(const char *word, int64_t *shape, int32_t ndim) {
  for (int32_t d = 0; d < ndim; d++) {
    char *end = NULL;
    shape[d] = strtoll(word, &end, 10);
    if (end == word || *end != (d + 1 < ndim ? 'x' : '=')) return NULL;
    word = end + (d + 1 < ndim);
  }
  return *word == '=' ? word + 1 : NULL;
}

static uint64_t bytes_of(const lamina_port *port, const int64_t *shape) {
  uint64_t bytes = port->bits > 8 ? port->bits / 8 : 1;
  for (int32_t d = 0; d < port->ndim; d++) bytes *= (uint64_t)shape[d];
  return bytes;
}

static int fail(const char *what, const char *why) {
  fprintf(stderr, "error: %s: %s\n", what, why);
  return 1;
}

int main(int count, char **words) {
  if (count < 5) return fail(words[0], "LIBRARY NAME THREADS REPEATS INPUT... OUTPUT...");
  char symbol[256];
  snprintf(symbol, sizeof symbol, "lamina_%s", words[2]);
  void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(words[1], dlerror());
  const lamina_net *net = (const lamina_net *)dlsym(library, symbol);
  if (!net) return fail(words[1], dlerror());
  if (lamina_check(net)) return fail(words[1], "another version of the interface");
  const uint32_t ports = net->n_inputs + net->n_outputs;
  if ((uint32_t)count != 5 + ports) return fail(words[1], "another number of inputs and outputs");
  const uint32_t threads = (uint32_t)atoi(words[3]);
  const int repeats = atoi(words[4]);

  uint64_t bytes = 0;
  void **tensors = malloc((ports + 1) * sizeof *tensors);
  int64_t **shapes = malloc((ports + 1) * sizeof *shapes);
  double *times = malloc((size_t)(repeats + 1) * sizeof *times);
  if (!tensors || !shapes || !times) return fail(words[1], "no memory");
  for (uint32_t n = 0; n < ports; n++) {
    const lamina_port *port = n < net->n_inputs ? &net->inputs[n] : &net->outputs[n - net->n_inputs];
    shapes[n] = malloc((size_t)(port->ndim + 1) * sizeof **shapes);
    if (!shapes[n]) return fail(port->name, "no memory");
    for (int32_t d = 0; d < port->ndim; d++) {
      shapes[n][d] = port->shape[d];
      if (shapes[n][d] < 0 && shapes[n][d] != LAMINA_OPEN) return fail(port->name, "its extents are those of a call");
    }
    if (!lamina_opens(net) || n >= net->n_inputs) continue;
    words[5 + n] = (char *)read_shape(words[5 + n], shapes[n], port->ndim);
    if (!words[5 + n]) return fail(port->name, "a shape is expected before its file, as in 1x3=x.raw");
  }
  const int64_t *const *given = (const int64_t *const *)(lamina_opens(net) ? shapes : NULL);
  int32_t code = net->sizes(given, threads, shapes + net->n_inputs, &bytes);
  if (code) return fail(words[1], net->text(code));
  void *state = aligned_alloc(net->alignment, whole(net, bytes));
  if (!state) return fail(words[1], "no memory");
  for (uint32_t n = 0; n < ports; n++) {
    const lamina_port *port = n < net->n_inputs ? &net->inputs[n] : &net->outputs[n - net->n_inputs];
    const uint64_t size = bytes_of(port, shapes[n]);
    tensors[n] = aligned_alloc(64, (size + 64) / 64 * 64);
    if (!tensors[n]) return fail(port->name, "no memory");
    if (n >= net->n_inputs) continue;
    FILE *file = fopen(words[5 + n], "rb");
    if (!file || fread(tensors[n], 1, size, file) != size) return fail(words[5 + n], "cannot read it whole");
    fclose(file);
  }

  void *params = NULL;
  if (lamina_packs(net)) {
    params = aligned_alloc(net->alignment, whole(net, net->params_bytes));
    void *room = aligned_alloc(net->alignment, whole(net, net->room_bytes));
    if (!params || !room) return fail(words[1], "no memory");
    code = net->pack(params, room);
    free(room);
  }
  if (!code) code = net->start(state, params, threads, LAMINA_SPINS);
  for (int n = 0; n < repeats && !code; n++) {
    const double start = now();
    const void *const *inputs = (const void *const *)tensors;
    void **outputs = tensors + net->n_inputs;
    code = given ? net->run_shapes(state, bytes, given, inputs, outputs) : net->run(state, inputs, outputs);
    times[n] = now() - start;
  }
  if (code) return fail(words[1], net->text(code));
  net->stop(state);
  for (uint32_t n = net->n_inputs; n < ports; n++) {
    FILE *file = fopen(words[5 + n], "wb");
    const uint64_t size = bytes_of(&net->outputs[n - net->n_inputs], shapes[n]);
    if (!file || fwrite(tensors[n], 1, size, file) != size || fclose(file)) return fail(words[5 + n], "cannot write it");
  }
  qsort(times, (size_t)repeats, sizeof *times, compare);
  if (repeats > 0) printf("%.1f %.1f %ld\n", times[0], times[repeats / 2], most_memory());
  return 0;
}
