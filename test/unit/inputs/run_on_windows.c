/* Runs a net on Windows, on files of raw tensors, by functions of kernel32.dll alone.

     runner.exe LIBRARY SYMBOL THREADS INPUT... OUTPUT...
     runner.exe THREADS INPUT... OUTPUT...               compiled with -DNET=lamina_net, where the net is in the program

   It is started 20 times with threads that sleep at once and with ones that poll, and run five times each. */

#include <stddef.h>
#include "lamina.h"

char *GetCommandLineA(void);
void ExitProcess(uint32_t status);
void *LoadLibraryA(const char *name);
void *GetProcAddress(void *library, const char *name);
void *VirtualAlloc(void *place, size_t bytes, uint32_t how, uint32_t access);
void *CreateFileA(const char *name, uint32_t access, uint32_t share, void *security, uint32_t how, uint32_t flags,
                  void *like);
int ReadFile(void *file, void *data, uint32_t bytes, uint32_t *done, void *overlapped);
int WriteFile(void *file, const void *data, uint32_t bytes, uint32_t *done, void *overlapped);
int CloseHandle(void *handle);

#ifdef NET
extern const lamina_net NET;
#endif

static char *words[16];
static void *tensors[8];

static int same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

static void *memory(uint64_t bytes) {
  return VirtualAlloc(NULL, bytes, 0x3000, 4); /* committed and reserved, read and written */
}

static void transfer(const char *name, void *data, uint64_t bytes, int write) {
  uint32_t done = 0;
  void *file = CreateFileA(name, write ? 0x40000000u : 0x80000000u, 0, NULL, write ? 2 : 3, 0, NULL);
  if (file == (void *)(intptr_t)-1) ExitProcess(2);
  const int fine = (write ? WriteFile(file, data, (uint32_t)bytes, &done, NULL)
                          : ReadFile(file, data, (uint32_t)bytes, &done, NULL));
  if (!fine || done != bytes) ExitProcess(3);
  CloseHandle(file);
}

void begin(void) {
  uint32_t count = 0, next = 1;
  for (char *at = GetCommandLineA(); *at && count < 16; count++) {
    words[count] = at;
    while (*at && *at != ' ') at++;
    while (*at == ' ') *at++ = 0;
  }
#ifdef NET
  const lamina_net *net = &NET;
#else
  void *library = LoadLibraryA(words[next++]);
  if (!library) ExitProcess(4);
  const lamina_net *net = (const lamina_net *)GetProcAddress(library, words[next++]);
  if (!net) ExitProcess(5);
#endif
  if (lamina_check(net) || !same(net->target, "x86_64-pc-windows-gnu x86-64-v3")) ExitProcess(6);
  const uint32_t threads = (uint32_t)(words[next++][0] - '0'), ports = net->n_inputs + net->n_outputs;
  if (next + ports != count) ExitProcess(7);
  uint64_t bytes = 0;
  net->sizes(NULL, threads, NULL, &bytes);
  void *state = memory(bytes);
  for (uint32_t n = 0; n < ports; n++) {
    const lamina_port *port = n < net->n_inputs ? &net->inputs[n] : &net->outputs[n - net->n_inputs];
    tensors[n] = memory(port->bytes);
    if (n < net->n_inputs) transfer(words[next + n], tensors[n], port->bytes, 0);
  }
  for (int round = 0; round < 20; round++) {
    if (net->start(state, NULL, threads, round & 1 ? LAMINA_SPINS : 0)) ExitProcess(8);
    for (int n = 0; n < 5; n++)
      if (net->run(state, (const void *const *)tensors, tensors + net->n_inputs)) ExitProcess(9);
    net->stop(state);
  }
  for (uint32_t n = net->n_inputs; n < ports; n++)
    transfer(words[next + n], tensors[n], net->outputs[n - net->n_inputs].bytes, 1);
  ExitProcess(0);
}
