/* Runs an exported net on files of raw tensors.

     cc -O2 -I <lamina>/runtime/include run_net.c -o run_net
     ./run_net ./net.so net THREADS REPEATS INPUT... OUTPUT...

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
  net->sizes(NULL, threads, NULL, &bytes);
  void *state = aligned_alloc(net->alignment, whole(net, bytes));
  void **tensors = malloc((ports + 1) * sizeof *tensors);
  double *times = malloc((size_t)(repeats + 1) * sizeof *times);
  if (!state || !tensors || !times) return fail(words[1], "no memory");
  for (uint32_t n = 0; n < ports; n++) {
    const lamina_port *port = n < net->n_inputs ? &net->inputs[n] : &net->outputs[n - net->n_inputs];
    for (int32_t d = 0; d < port->ndim; d++)
      if (port->shape[d] < 0) return fail(port->name, "its extents are those of a call");
    tensors[n] = aligned_alloc(64, (port->bytes + 64) / 64 * 64);
    if (!tensors[n]) return fail(port->name, "no memory");
    if (n >= net->n_inputs) continue;
    FILE *file = fopen(words[5 + n], "rb");
    if (!file || fread(tensors[n], 1, port->bytes, file) != port->bytes) return fail(words[5 + n], "cannot read it whole");
    fclose(file);
  }

  int32_t code = 0;
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
    code = net->run(state, (const void *const *)tensors, tensors + net->n_inputs);
    times[n] = now() - start;
  }
  if (code) return fail(words[1], net->text(code));
  net->stop(state);
  for (uint32_t n = net->n_inputs; n < ports; n++) {
    FILE *file = fopen(words[5 + n], "wb");
    const uint64_t size = net->outputs[n - net->n_inputs].bytes;
    if (!file || fwrite(tensors[n], 1, size, file) != size || fclose(file)) return fail(words[5 + n], "cannot write it");
  }
  qsort(times, (size_t)repeats, sizeof *times, compare);
  if (repeats > 0) printf("%.1f %.1f %ld\n", times[0], times[repeats / 2], most_memory());
  return 0;
}
