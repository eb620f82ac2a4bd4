/* Runs the code of a net for macOS on Linux: an image of it, laid out and linked by the test, at the address that it is
   for. What the code calls of POSIX are slots behind it, by the order of their names.

     run_macho_code IMAGE BASE RECORD SLOTS THREADS INPUT OUTPUT */

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lamina.h"

static void *const functions[] = {
    (void *)pthread_attr_destroy,   (void *)pthread_attr_init,     (void *)pthread_attr_setstacksize,
    (void *)pthread_cond_broadcast, (void *)pthread_cond_destroy,  (void *)pthread_cond_init,
    (void *)pthread_cond_wait,      (void *)pthread_create,        (void *)pthread_join,
    (void *)pthread_mutex_destroy,  (void *)pthread_mutex_init,    (void *)pthread_mutex_lock,
    (void *)pthread_mutex_unlock,   (void *)sched_yield,
};

static void transfer(const char *name, void *data, size_t bytes, int write) {
  FILE *file = fopen(name, write ? "wb" : "rb");
  if (!file || (write ? fwrite(data, 1, bytes, file) : fread(data, 1, bytes, file)) != bytes || fclose(file)) exit(2);
}

int main(int count, char **words) {
  if (count != 8) return 3;
  void *base = (void *)strtoull(words[2], NULL, 16);
  const size_t room = 16 << 20;
  char *image = mmap(base, room, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (image != base) return 4;
  FILE *file = fopen(words[1], "rb");
  if (!file || !fread(image, 1, room, file) || fclose(file)) return 5;
  void **slots = (void **)strtoull(words[4], NULL, 16);
  for (size_t n = 0; n < sizeof functions / sizeof *functions; n++) slots[2 * n + 1] = functions[n];
  __builtin___clear_cache(image, image + room);
  const lamina_net *net = (const lamina_net *)strtoull(words[3], NULL, 16);
  const uint32_t threads = (uint32_t)atoi(words[5]);
  if (lamina_check(net) || net->n_inputs != 1 || net->n_outputs != 1) return 6;
  uint64_t bytes = 0;
  net->sizes(NULL, threads, NULL, &bytes);
  void *state = aligned_alloc(64, (bytes + 63) / 64 * 64);
  void *in = aligned_alloc(64, (net->inputs[0].bytes + 63) / 64 * 64);
  void *out = aligned_alloc(64, (net->outputs[0].bytes + 63) / 64 * 64);
  transfer(words[6], in, net->inputs[0].bytes, 0);
  for (int round = 0; round < 6; round++) {
    if (net->start(state, NULL, threads, round & 1 ? 2000 : 0)) return 7;
    for (int n = 0; n < 3; n++)
      if (net->run(state, (const void *const *)&in, &out)) return 8;
    net->stop(state);
  }
  transfer(words[7], out, net->outputs[0].bytes, 1);
  return 0;
}
