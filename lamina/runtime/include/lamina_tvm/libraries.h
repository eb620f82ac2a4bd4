/* lamina_tvm/libraries.h: a net's library as a module, which has one function. */

#ifndef LAMINA_TVM_LIBRARIES_H
#define LAMINA_TVM_LIBRARIES_H

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <lamina_tvm/arrays.h>
#include <lamina_tvm/sha256.h>
#include <unistd.h>

#include <lamina.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- what a library's file says ------------------------------------------------------------------------------------ */

#define LAMINA_TVM_NAME_ROOM 256
#if UINTPTR_MAX > 0xffffffffu
typedef Elf64_Ehdr lamina_tvm_elf_header;
typedef Elf64_Shdr lamina_tvm_elf_section;
typedef Elf64_Sym lamina_tvm_elf_symbol;
#define LAMINA_TVM_ELF_CLASS ELFCLASS64
#else
typedef Elf32_Ehdr lamina_tvm_elf_header;
typedef Elf32_Shdr lamina_tvm_elf_section;
typedef Elf32_Sym lamina_tvm_elf_symbol;
#define LAMINA_TVM_ELF_CLASS ELFCLASS32
#endif

LAMINA_TVM int lamina_tvm_read_at(int file, uint64_t at, void *to, size_t size) {
  if (at > INT32_MAX || lseek(file, (off_t)at, SEEK_SET) < 0) return 0;
  for (size_t done = 0; done < size;) {
    const ssize_t part = read(file, (char *)to + done, size - done);
    if (part <= 0) return 0;
    done += (size_t)part;
  }
  return 1;
}

/* The contents of a section, with a zero behind them; null where it cannot be read. */
LAMINA_TVM char *lamina_tvm_contents(int file, const lamina_tvm_elf_section *section) {
  char *contents = section->sh_size < 1u << 24 ? (char *)malloc((size_t)section->sh_size + 1) : NULL;
  if (contents && !lamina_tvm_read_at(file, section->sh_offset, contents, (size_t)section->sh_size)) {
    free(contents);
    return NULL;
  }
  if (contents) contents[section->sh_size] = 0;
  return contents;
}

/* What a library's file says: the one symbol `lamina_<net>` that it exports, which is not what the file is called (it
   may have been renamed), and its notes. */
typedef struct {
  /* the number of such symbols, of which `symbol` is the first */
  int nets;
  char symbol[LAMINA_TVM_NAME_ROOM];
  /* JSON, of malloc; or null */
  char *description;
  /* SHA-256 of the first bytes, in which this note of 40 bytes and the build-id of 20 are zeros; at which offsets */
  uint8_t digest[32];
  uint64_t bytes, digest_at, id_at;
} lamina_tvm_file;

LAMINA_TVM void lamina_tvm_read_symbols(lamina_tvm_file *said, const char *symbols, size_t size, const char *texts,
                                        size_t room) {
  for (size_t at = 0; at + sizeof(lamina_tvm_elf_symbol) <= size; at += sizeof(lamina_tvm_elf_symbol)) {
    lamina_tvm_elf_symbol symbol;
    memcpy(&symbol, symbols + at, sizeof symbol);
    const char *text = symbol.st_name < room ? texts + symbol.st_name : "";
    if (symbol.st_shndx == SHN_UNDEF || strncmp(text, "lamina_", 7) || strlen(text) >= LAMINA_TVM_NAME_ROOM) continue;
    if (!said->nets++) strcpy(said->symbol, text);
  }
}

/* Notes of a section at `offset`. Each is three numbers, the owner and the content; kind 1 of the owner "Lamina" is the
   description, kind 2 the digest, kind 3 of "GNU" the build-id. */
LAMINA_TVM void lamina_tvm_read_notes(lamina_tvm_file *said, const char *notes, size_t size, uint64_t offset) {
  uint32_t head[3];
  for (size_t at = 0; at + sizeof head <= size;) {
    memcpy(head, notes + at, sizeof head);
    const char *owner = notes + at + sizeof head;
    const size_t content = at + sizeof head + ((size_t)head[0] + 3) / 4 * 4;
    if (content > size || head[1] > size - content) return;
    const int is_ours = head[0] == 7 && !memcmp(owner, "Lamina", 7);
    if (is_ours && head[2] == 1 && !said->description) {
      said->description = (char *)malloc((size_t)head[1] + 1);
      if (!said->description) return;
      memcpy(said->description, notes + content, head[1]);
      said->description[head[1]] = 0;
    } else if (is_ours && head[2] == 2 && head[1] == 40) {
      memcpy(said->digest, notes + content, sizeof said->digest);
      memcpy(&said->bytes, notes + content + sizeof said->digest, sizeof said->bytes);
      said->digest_at = offset + content;
    } else if (head[0] == 4 && !memcmp(owner, "GNU", 4) && head[2] == 3 && head[1] == 20) {
      said->id_at = offset + content;
    }
    at = content + ((size_t)head[1] + 3) / 4 * 4;
  }
}

/* Fill the part of a place of the file that is in a block with zeros. */
LAMINA_TVM void lamina_tvm_zero(uint8_t *block, uint64_t block_at, size_t size, uint64_t at, uint64_t bytes) {
  for (uint64_t n = at > block_at ? at : block_at; n < at + bytes && n < block_at + size; n++) block[n - block_at] = 0;
}

/* Whether headers, tables and code are what was written. */
LAMINA_TVM int lamina_tvm_is_whole(int file, const lamina_tvm_file *said) {
  lamina_tvm_sha256 state = lamina_tvm_new_hash();
  uint8_t block[4096];
  if (!said->digest_at || !said->id_at) return 0;
  for (uint64_t at = 0; at < said->bytes;) {
    const size_t size = said->bytes - at < sizeof block ? (size_t)(said->bytes - at) : sizeof block;
    if (!lamina_tvm_read_at(file, at, block, size)) return 0;
    lamina_tvm_zero(block, at, size, said->digest_at, 40);
    lamina_tvm_zero(block, at, size, said->id_at, 20);
    lamina_tvm_hash(&state, block, size);
    at += size;
  }
  lamina_tvm_end_hash(&state);
  for (int n = 0; n < 32; n++)
    if ((uint8_t)(state.hash[n / 4] >> (24 - n % 4 * 8)) != said->digest[n]) return 0;
  return 1;
}

LAMINA_TVM void lamina_tvm_read_file(int file, lamina_tvm_file *said) {
  lamina_tvm_elf_header header;
  lamina_tvm_elf_section table, names;
  memset(said, 0, sizeof *said);
  if (!lamina_tvm_read_at(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
      header.e_ident[EI_CLASS] != LAMINA_TVM_ELF_CLASS || header.e_shentsize != sizeof table)
    return;
  for (unsigned n = 0; n < header.e_shnum; n++) {
    if (!lamina_tvm_read_at(file, header.e_shoff + (uint64_t)n * sizeof table, &table, sizeof table)) return;
    if (table.sh_type != SHT_NOTE && (table.sh_type != SHT_DYNSYM || table.sh_link >= header.e_shnum)) continue;
    char *contents = lamina_tvm_contents(file, &table), *texts = NULL;
    if (contents && table.sh_type == SHT_NOTE)
      lamina_tvm_read_notes(said, contents, (size_t)table.sh_size, table.sh_offset);
    if (contents && table.sh_type == SHT_DYNSYM &&
        lamina_tvm_read_at(file, header.e_shoff + (uint64_t)table.sh_link * sizeof names, &names, sizeof names))
      texts = lamina_tvm_contents(file, &names);
    if (texts) lamina_tvm_read_symbols(said, contents, (size_t)table.sh_size, texts, (size_t)names.sh_size);
    free(texts);
    free(contents);
  }
}

LAMINA_TVM const lamina_port *lamina_tvm_port(const lamina_net *net, uint32_t n) {
  return n < net->n_inputs ? &net->inputs[n] : &net->outputs[n - net->n_inputs];
}

/* -- states -------------------------------------------------------------------------------------------------------- */

/* The memory of one call at a time. */
typedef struct lamina_tvm_state {
  struct lamina_tvm_state *next;
  void *memory;
  /* for each port the first element of its tensor, the tensor's bytes, and room for a number that stands for one */
  void **pointers;
  uint64_t *bytes;
  int64_t *numbers;
} lamina_tvm_state;

/* The threads of a call: those that the net was compiled for, or what TVM_NUM_THREADS or OMP_NUM_THREADS says, if
   fewer. */
LAMINA_TVM uint32_t lamina_tvm_threads(const lamina_net *net) {
  const char *said = getenv("TVM_NUM_THREADS");
  if (!said) said = getenv("OMP_NUM_THREADS");
  const long number = said ? strtol(said, NULL, 10) : 0;
  return number > 0 && number < (long)net->threads ? (uint32_t)number : net->threads;
}

/* `params` are weights that were packed as the library was loaded, null where it has them. */
LAMINA_TVM int lamina_tvm_start(const lamina_net *net, const void *params, lamina_tvm_state **out) {
  const uint32_t threads = lamina_tvm_threads(net), ports = net->n_inputs + net->n_outputs;
  const size_t alignment = net->alignment, head = sizeof(lamina_tvm_state) + ports * (sizeof(void *) + 16) + 8;
  uint64_t bytes = 0;
  if (lamina_opens(net))
    return lamina_tvm_fail("net '%s': it has open extents: `run_shapes` of lamina.h runs it", net->name);
  net->sizes(NULL, threads, NULL, &bytes);
  char *memory = (char *)malloc(head + alignment + (size_t)bytes);
  if (!memory) return lamina_tvm_fail("no memory for the net '%s': it works in %zu bytes", net->name, (size_t)bytes);
  lamina_tvm_state *state = (lamina_tvm_state *)(void *)memory;
  state->next = NULL;
  state->numbers = (int64_t *)(void *)(memory + (sizeof *state + 7) / 8 * 8);
  state->bytes = (uint64_t *)(state->numbers + ports);
  state->pointers = (void **)(void *)(state->bytes + ports);
  for (uint32_t n = 0; n < ports; n++) state->bytes[n] = lamina_tvm_port(net, n)->bytes;
  state->memory = memory + head + (-((uintptr_t)memory + head) & (alignment - 1));
  /* A thread that polls keeps the processor from one that has work. */
  const int64_t spins = (long)threads <= sysconf(_SC_NPROCESSORS_ONLN) ? LAMINA_SPINS : 0;
  const int32_t code = net->start(state->memory, params, threads, spins);
  if (code) {
    free(memory);
    return lamina_tvm_fail("net '%s': %s", net->name, net->text(code));
  }
  *out = state;
  return 0;
}

LAMINA_TVM void lamina_tvm_stop(const lamina_net *net, lamina_tvm_state *state) {
  if (!state) return;
  net->stop(state->memory);
  free(state);
}

/* Run on the first elements of all tensors. */
LAMINA_TVM int lamina_tvm_run(const lamina_net *net, const lamina_tvm_state *state) {
  const uint32_t ports = net->n_inputs + net->n_outputs;
  for (uint32_t n = net->n_inputs; n < ports; n++) {
    const char *first = (const char *)state->pointers[n], *last = first + state->bytes[n];
    for (uint32_t m = 0; m < n; m++) {
      const char *other = (const char *)state->pointers[m];
      if (first < other + state->bytes[m] && other < last)
        return lamina_tvm_fail("net '%s': output '%s' shares memory with '%s'", net->name,
                               lamina_tvm_port(net, n)->name, lamina_tvm_port(net, m)->name);
    }
  }
  const int32_t code = net->run(state->memory, (const void *const *)state->pointers, state->pointers + net->n_inputs);
  return code ? lamina_tvm_fail("net '%s': %s", net->name, net->text(code)) : 0;
}

/* -- tensors ------------------------------------------------------------------------------------------------------- */

#define LAMINA_TVM_TYPE_ROOM 256

/* A type and a shape as text, float32[1, 3] for instance. */
LAMINA_TVM const char *lamina_tvm_describe(char *room, DLDataType dtype, int ndim, const int64_t *shape) {
  static const char *const kinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  const char *kind = dtype.code < sizeof kinds / sizeof *kinds ? kinds[dtype.code] : "type";
  int at = dtype.code == kDLBool ? snprintf(room, 8, "bool") : snprintf(room, 32, "%s%d", kind, dtype.bits);
  for (int d = 0; d < ndim && at < LAMINA_TVM_TYPE_ROOM - 32; d++)
    at += snprintf(room + at, 32, "%s%lld", d ? ", " : "[", (long long)shape[d]);
  snprintf(room + at, 32, ndim ? "]" : "[]");
  return room;
}

LAMINA_TVM DLDataType lamina_tvm_dtype(const lamina_port *port) {
  DLDataType dtype;
  dtype.code = port->code;
  dtype.bits = port->bits;
  dtype.lanes = port->lanes;
  return dtype;
}

/* Whether a tensor fits a port; an alignment only where it is not copied. */
LAMINA_TVM int lamina_tvm_fits(const lamina_net *net, uint32_t n, const DLTensor *tensor, int copied) {
  const lamina_port *port = lamina_tvm_port(net, n);
  const int32_t code = lamina_check_dl(port, tensor);
  if (!code || (copied && code == LAMINA_UNALIGNED)) return 0;
  char wanted[LAMINA_TVM_TYPE_ROOM], given[LAMINA_TVM_TYPE_ROOM];
  return lamina_tvm_fail("%s '%s' of the net '%s': %s (%s, not %s)", n < net->n_inputs ? "input" : "output", port->name,
                         net->name, net->text(code),
                         lamina_tvm_describe(wanted, lamina_tvm_dtype(port), port->ndim, port->shape),
                         lamina_tvm_describe(given, tensor->dtype, tensor->ndim, tensor->shape));
}

/* Put a number into memory as an element of a port. */
LAMINA_TVM int lamina_tvm_put_number(const lamina_port *port, const TVMValue *value, int code, void *to) {
  const int is_float = code == kTVMArgFloat;
  const double number = is_float ? value->v_float64 : (double)value->v_int64;
  if (port->code == kDLFloat && port->bits == 64) {
    memcpy(to, &number, 8);
  } else if (port->code == kDLFloat && port->bits == 32) {
    const float single = (float)number;
    memcpy(to, &single, 4);
  } else if (!is_float && (port->code == kDLInt || port->code == kDLUInt || port->code == kDLBool)) {
    const int64_t whole = value->v_int64, top = port->bits < 64 ? (int64_t)1 << (port->bits - 1) : INT64_MAX;
    const int fits = port->bits == 64        ? whole >= 0 || port->code == kDLInt
                     : port->code == kDLInt  ? whole >= -top && whole < top
                     : port->code == kDLBool ? whole == 0 || whole == 1
                                             : whole >= 0 && whole < 2 * top;
    if (!fits) return -1;
    const int8_t i8 = (int8_t)whole;
    const int16_t i16 = (int16_t)whole;
    const int32_t i32 = (int32_t)whole;
    memcpy(to,
           port->bits == 8    ? (const void *)&i8
           : port->bits == 16 ? (const void *)&i16
           : port->bits == 32 ? (const void *)&i32
                              : (const void *)&whole,
           port->bits / 8u);
  } else {
    return -1;
  }
  return 0;
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

typedef struct {
  /* comes first: a handle of a library is one of its module */
  lamina_tvm_module module;
  const lamina_net *net;
  /* of dlopen; null for a net that is linked into the program */
  void *code;
  /* JSON, of malloc; null for a net that is linked into the program */
  char *description;
  pthread_mutex_t lock;
  /* states that no call uses */
  lamina_tvm_state *free;
  /* weights that were packed as it was loaded, and the memory of malloc that they are in; or null */
  const void *params;
  void *packed;
} lamina_tvm_library;

/* Give an argument to a port. */
LAMINA_TVM int lamina_tvm_bind(const lamina_net *net, lamina_tvm_state *state, uint32_t n, const TVMValue *args,
                               const int *codes, int place) {
  const lamina_port *port = lamina_tvm_port(net, n);
  if (port->ndim == 0 && n < net->n_inputs && (codes[place] == kTVMArgInt || codes[place] == kTVMArgFloat)) {
    if (lamina_tvm_put_number(port, &args[place], codes[place], &state->numbers[n])) {
      char type[LAMINA_TVM_TYPE_ROOM];
      return lamina_tvm_fail("input '%s' of the net '%s': the number is none of type %s", port->name, net->name,
                             lamina_tvm_describe(type, lamina_tvm_dtype(port), 0, NULL));
    }
    state->pointers[n] = &state->numbers[n];
    return 0;
  }
  const DLTensor *tensor = lamina_tvm_tensor(net->name, place, args, codes);
  if (!tensor || lamina_tvm_fits(net, n, tensor, 0)) return -1;
  state->pointers[n] = lamina_tvm_first(tensor);
  state->bytes[n] = (uint64_t)lamina_tvm_bytes(tensor->ndim, tensor->shape, tensor->dtype);
  return 0;
}

/* The number of inputs, from the first on, that are sizes: extents of other ports. */
LAMINA_TVM uint32_t lamina_tvm_sizes(const lamina_net *net) {
  int64_t sizes = 0;
  for (uint32_t n = 0; n < net->n_inputs + net->n_outputs; n++) {
    const lamina_port *port = lamina_tvm_port(net, n);
    for (int d = 0; d < port->ndim; d++)
      if (port->shape[d] != LAMINA_OPEN && -port->shape[d] > sizes) sizes = -port->shape[d];
  }
  return (uint32_t)sizes;
}

/* Give the arguments to the ports. Sizes are the first inputs: those that are not given are read from the tensors, and
   all are compared with them. */
LAMINA_TVM int lamina_tvm_bind_all(const lamina_net *net, lamina_tvm_state *state, const TVMValue *args,
                                   const int *codes, int count) {
  const uint32_t ports = net->n_inputs + net->n_outputs, sizes = lamina_tvm_sizes(net);
  const int first = (uint32_t)count == ports - sizes ? (int)sizes : 0;
  if (count != (int)ports - first)
    return lamina_tvm_fail("net '%s': is called on a device, or on %u inputs and %u outputs, not on %d arguments",
                           net->name, net->n_inputs - sizes, net->n_outputs, count);
  for (uint32_t n = (uint32_t)first; n < ports; n++)
    if (lamina_tvm_bind(net, state, n, args, codes, (int)n - first)) return -1;
  for (uint32_t n = 0; n < sizes && first; n++) {
    state->numbers[n] = -1;
    state->pointers[n] = &state->numbers[n];
  }
  for (uint32_t n = sizes; n < ports && sizes; n++) {
    const lamina_port *port = lamina_tvm_port(net, n);
    for (int d = 0; d < port->ndim; d++) {
      if (port->shape[d] >= 0) continue;
      int64_t *size = (int64_t *)state->pointers[-1 - port->shape[d]];
      const int64_t extent = ((const DLTensor *)args[(int)n - first].v_handle)->shape[d];
      if (*size < 0 && first) *size = extent;
      if (*size != extent)
        return lamina_tvm_fail("net '%s': '%s' has %lld in dimension %d, but %s = %lld", net->name, port->name,
                               (long long)extent, d, net->inputs[-1 - port->shape[d]].name, (long long)*size);
    }
  }
  for (uint32_t n = 0; n < sizes && first; n++)
    if (state->numbers[n] < 0)
      return lamina_tvm_fail("net '%s': no tensor tells %s: give it before them", net->name, net->inputs[n].name);
  return 0;
}

LAMINA_TVM int lamina_tvm_new_executor(lamina_tvm_library *library, TVMModuleHandle *out);

/* The function of a library: of devices, or of tensors. Calls at the same time have a state each. */
LAMINA_TVM int lamina_tvm_call_net(TVMValue *args, int *codes, int count, TVMRetValueHandle ret, void *resource) {
  lamina_tvm_library *library = (lamina_tvm_library *)resource;
  const lamina_net *net = library->net;
  int devices = 0;
  while (devices < count && codes[devices] == kDLDevice) devices++;
  if (count && devices == count) {
    for (int n = 0; n < count; n++)
      if (lamina_tvm_check_device(args[n].v_device.device_type, args[n].v_device.device_id)) return -1;
    TVMModuleHandle executor = NULL;
    if (lamina_tvm_new_executor(library, &executor)) return -1;
    return lamina_tvm_give(ret, executor, kTVMModuleHandle);
  }
  pthread_mutex_lock(&library->lock);
  lamina_tvm_state *state = library->free;
  if (state) library->free = state->next;
  pthread_mutex_unlock(&library->lock);
  if (!state && lamina_tvm_start(net, library->params, &state)) return -1;
  const int code = lamina_tvm_bind_all(net, state, args, codes, count) || lamina_tvm_run(net, state) ? -1 : 0;
  pthread_mutex_lock(&library->lock);
  state->next = library->free;
  library->free = state;
  pthread_mutex_unlock(&library->lock);
  return code;
}

/* Whether a library's program is called so: "default", what `relay.build` was told, or what the net is called. */
LAMINA_TVM int lamina_tvm_is_called(const lamina_tvm_library *library, const char *name) {
  static const char begin[] = "\"tvm.name\":\"";
  const char *said = library->description ? strstr(library->description, begin) : NULL;
  if (!strcmp(name, "default") || !strcmp(name, library->net->name)) return 1;
  return said && !strncmp(said + sizeof begin - 1, name, strlen(name)) && said[sizeof begin - 1 + strlen(name)] == '"';
}

LAMINA_TVM int lamina_tvm_find_in_library(lamina_tvm_module *module, const char *name, TVMFunctionHandle *out) {
  if (!lamina_tvm_is_called((lamina_tvm_library *)(void *)module, name)) return 0;
  return lamina_tvm_method(module, lamina_tvm_call_net, out);
}

LAMINA_TVM void lamina_tvm_end_library(lamina_tvm_module *module) {
  lamina_tvm_library *library = (lamina_tvm_library *)(void *)module;
  while (library->free) {
    lamina_tvm_state *state = library->free;
    library->free = state->next;
    lamina_tvm_stop(library->net, state);
  }
  if (library->code) dlclose(library->code);
  free(library->description);
  free(library->packed);
  pthread_mutex_destroy(&library->lock);
  free(library);
}

/* The module of a net, which takes over the code and the description. */
/* Pack the weights of a net that does so as it is loaded. */
LAMINA_TVM int lamina_tvm_pack(lamina_tvm_library *library) {
  const lamina_net *net = library->net;
  const size_t alignment = net->alignment, size = (size_t)net->params_bytes;
  char *memory = (char *)malloc(size + alignment), *room = (char *)malloc((size_t)net->room_bytes + alignment);
  int32_t code = 0;
  if (memory && room) {
    char *first = memory + (-(uintptr_t)memory & (alignment - 1));
    code = net->pack(first, room + (-(uintptr_t)room & (alignment - 1)));
    library->packed = memory;
    library->params = first;
  } else {
    lamina_tvm_fail("no memory for the net '%s': its weights are of %zu bytes", net->name, size);
    free(memory);
  }
  free(room);
  if (code) lamina_tvm_fail("net '%s': %s", net->name, net->text(code));
  return code || !library->packed ? -1 : 0;
}

LAMINA_TVM int lamina_tvm_new_library(const lamina_net *net, void *code, char *description, TVMModuleHandle *out) {
  if (lamina_check(net))
    return lamina_tvm_fail("net '%s': the library has version %u of the interface, lamina.h has %u: export it anew",
                           net->name, net->abi, LAMINA_VERSION);
  lamina_tvm_library *library = (lamina_tvm_library *)calloc(1, sizeof *library);
  if (!library) return lamina_tvm_fail("no memory for a module");
  library->module.references = 1;
  library->module.type_key = "GraphExecutorFactory";
  library->module.find = lamina_tvm_find_in_library;
  library->module.end = lamina_tvm_end_library;
  library->net = net;
  library->code = code;
  library->description = description;
  if (lamina_packs(net) && lamina_tvm_pack(library)) {
    free(library->packed);
    free(library);
    return -1;
  }
  pthread_mutex_init(&library->lock, NULL);
  *out = &library->module;
  return 0;
}

/* Load the library in an open file. The loader gives what it has loaded by a path before as long as that is loaded,
   whatever the file there is by now. So the path goes by the open file, which was looked at, and is another text each
   time: steps to the same folder spell a number. Without /proc, and for the text of an error, it is the file's name. */
LAMINA_TVM void *lamina_tvm_load_code(const char *file_name, int file) {
  static unsigned loads = 0;
  char path[160] = "/proc/self/fd";
  unsigned number = __atomic_add_fetch(&loads, 1, __ATOMIC_RELAXED);
  for (; number; number >>= 1) strcat(path, number & 1 ? "/." : "/");
  sprintf(path + strlen(path), "/%d", file);
  void *code = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (code) return code;
  /* A name without a folder would be looked for where the system's libraries are. */
  char *name = (char *)malloc(strlen(file_name) + 3);
  if (!name) return NULL;
  sprintf(name, "%s%s", strchr(file_name, '/') ? "" : "./", file_name);
  code = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  free(name);
  return code;
}

LAMINA_TVM int lamina_tvm_open(const char *file_name, int file, lamina_tvm_file *said, TVMModuleHandle *out) {
  lamina_tvm_read_file(file, said);
  if (said->nets != 1)
    return lamina_tvm_fail("%s: is no library that Lamina has exported: it has %d symbols lamina_<net>, not one",
                           file_name, said->nets);
  if (!lamina_tvm_is_whole(file, said))
    return lamina_tvm_fail("%s: is damaged: it is not what was written: copy it anew", file_name);
  void *code = lamina_tvm_load_code(file_name, file);
  if (!code) return lamina_tvm_fail("%s: cannot be loaded: %s", file_name, dlerror());
  const lamina_net *net = (const lamina_net *)dlsym(code, said->symbol);
  if (!net) lamina_tvm_fail("%s: %s", file_name, dlerror());
  if (!net || lamina_tvm_new_library(net, code, said->description, out)) {
    dlclose(code);
    return -1;
  }
  return 0;
}

LAMINA_TVM int TVMModLoadFromFile(const char *file_name, const char *format, TVMModuleHandle *out) {
  lamina_tvm_file said;
  *out = NULL;
  if (format && *format && strcmp(format, "so"))
    return lamina_tvm_fail("%s: libraries are loaded, of the format \"so\", not \"%s\"", file_name, format);
  const int file = open(file_name, O_RDONLY);
  if (file < 0) return lamina_tvm_fail("%s: cannot be read", file_name);
  const int code = lamina_tvm_open(file_name, file, &said, out);
  if (code) free(said.description);
  close(file);
  return code;
}

#ifdef __cplusplus
}
#endif

#endif /* LAMINA_TVM_LIBRARIES_H */
